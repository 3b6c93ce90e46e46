//! Memory blocks and linear memory access descriptors (funmem.txt §3).
//!
//! In Mem they annotate the arrays of Flat. Addresses are polynomials over the `i64` variables of the
//! program, so that passes can test whether arrays overlap.

use crate::atom::{Atom, Variable};

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

/// An address or an extent: a polynomial over the `i64` variables of the program. Arithmetic wraps, as the
/// program's does.
pub type Polynomial = nova_symbolic::Wrapping<Variable>;

/// Returns an `i64` atom as a polynomial, or `None` for constants of other types.
pub fn polynomial_of(atom: Atom) -> Option<Polynomial> {
    match atom {
        Atom::Variable(variable) => Some(Polynomial::variable(variable)),
        Atom::Constant(nova_core::ScalarValue::I64(value)) => Some(Polynomial::constant(value)),
        Atom::Constant(_) => None,
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
        let extents: Option<Vec<_>> = shape.iter().map(|a| polynomial_of(*a)).collect();
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
