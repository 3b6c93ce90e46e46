//! Memory blocks and linear memory access descriptors (funmem.txt §3).
//!
//! In Mem they annotate the arrays of Flat. Addresses are polynomials over the `i64` variables of the
//! program, so that passes can test whether arrays overlap.

use crate::atom::{Atom, Variable};
use std::collections::BTreeMap;

/// The memory of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The block. An `Allocate` binds it, or it is bound together with the array itself. The latter
    /// holds for constructs that pass on an array made elsewhere: a parameter, a result of a
    /// conditional, loop, call, node or collect.
    pub block: Variable,
    /// The addresses of the elements in the block.
    pub lmad: Lmad,
}

/// A linear memory access descriptor. Element (i0, i1, …) lies at `offset + Σ ik·stridek`, counted in
/// elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lmad {
    /// The address of element (0, 0, …).
    pub offset: Polynomial,
    /// Extent and stride of each dimension, outermost first.
    pub dimensions: Vec<(Polynomial, Polynomial)>,
}

/// A polynomial with `i64` coefficients over `i64` variables. It maps products of variables (sorted,
/// with repetition) to their non-zero coefficients. Arithmetic wraps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Polynomial {
    /// The terms; the empty product is the constant.
    pub terms: BTreeMap<Vec<Variable>, i64>,
}

impl Polynomial {
    /// Returns a constant.
    pub fn constant(value: i64) -> Self {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(Vec::new(), value);
        }
        Polynomial { terms }
    }

    /// Returns a variable.
    pub fn variable(variable: Variable) -> Self {
        Polynomial {
            terms: BTreeMap::from([(vec![variable], 1)]),
        }
    }

    /// Returns an `i64` atom as a polynomial, or `None` for constants of other types.
    pub fn atom(atom: Atom) -> Option<Self> {
        match atom {
            Atom::Variable(variable) => Some(Self::variable(variable)),
            Atom::Constant(nova_core::ScalarValue::I64(value)) => Some(Self::constant(value)),
            Atom::Constant(_) => None,
        }
    }

    /// Returns the sum.
    pub fn plus(&self, other: &Polynomial) -> Polynomial {
        let mut sum = self.clone();
        for (product, coefficient) in &other.terms {
            sum.add_term(product.clone(), *coefficient);
        }
        sum
    }

    /// Returns the product.
    pub fn times(&self, other: &Polynomial) -> Polynomial {
        let mut result = Polynomial::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut product = [left.as_slice(), right.as_slice()].concat();
                product.sort();
                result.add_term(product, a.wrapping_mul(*b));
            }
        }
        result
    }

    /// Returns its value if it is a constant.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    fn add_term(&mut self, product: Vec<Variable>, coefficient: i64) {
        let value = self
            .terms
            .get(&product)
            .copied()
            .unwrap_or(0)
            .wrapping_add(coefficient);
        if value == 0 {
            self.terms.remove(&product);
        } else {
            self.terms.insert(product, value);
        }
    }
}

impl Lmad {
    /// Returns the row-major LMAD from `offset` with these extents.
    pub fn row_major(offset: Polynomial, extents: &[Polynomial]) -> Self {
        let mut stride = Polynomial::constant(1);
        let mut dimensions = Vec::with_capacity(extents.len());
        for extent in extents.iter().rev() {
            dimensions.push((extent.clone(), stride.clone()));
            stride = stride.times(extent);
        }
        dimensions.reverse();
        Lmad { offset, dimensions }
    }

    /// Returns the row-major LMAD from the start of a block for the extents of an array type. Returns
    /// `None` if an extent is no `i64`.
    pub fn of_shape(shape: &[Atom]) -> Option<Self> {
        let extents: Option<Vec<_>> = shape.iter().map(|a| Polynomial::atom(*a)).collect();
        Some(Self::row_major(Polynomial::default(), &extents?))
    }

    /// True if its elements are adjacent in row-major order.
    pub fn is_row_major(&self) -> bool {
        let extents: Vec<Polynomial> = self.dimensions.iter().map(|d| d.0.clone()).collect();
        *self == Lmad::row_major(self.offset.clone(), &extents)
    }

    /// Returns the address of an element.
    pub fn address(&self, indices: &[Polynomial]) -> Polynomial {
        self.dimensions
            .iter()
            .zip(indices)
            .fold(self.offset.clone(), |sum, ((_, stride), index)| {
                sum.plus(&stride.times(index))
            })
    }
}
