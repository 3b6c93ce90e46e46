//! Alias tests of LMADs: whether two arrays in a block overlap, and how all arrays of one block are
//! moved into a slice of another.

use nova_flat::ir::{Atom, Program, Variable};
use nova_flat::memory::{Lmad, Memory, Polynomial};

/// An affine map from the addresses of one block to those of another: address `a` becomes `offset +
/// scale·a`.
#[derive(Clone, Debug)]
pub struct Rebasing {
    offset: Polynomial,
    scale: Polynomial,
}

impl Rebasing {
    /// Returns the map that takes an array at `from`, which must be row-major, to `to`. Returns `None`
    /// if no map of this form does.
    pub fn between(from: &Lmad, to: &Lmad) -> Option<Rebasing> {
        let (_, scale) = to.dimensions.last()?;
        if !from.is_row_major() {
            return None;
        }
        let start = from.offset.times(scale).times(&Polynomial::constant(-1));
        let rebasing = Rebasing {
            offset: to.offset.plus(&start),
            scale: scale.clone(),
        };
        (rebasing.lmad(from) == *to).then_some(rebasing)
    }

    /// Returns a wrong map, off by `offset` and stretched by `scale`. Only [`crate::mistakes`] uses it.
    pub fn amiss(mut self, offset: i64, scale: i64) -> Rebasing {
        self.offset = self.offset.plus(&Polynomial::constant(offset));
        self.scale = self.scale.times(&Polynomial::constant(scale));
        self
    }

    /// True if elements that are adjacent stay adjacent.
    pub fn keeps_order(&self) -> bool {
        self.scale.as_constant() == Some(1)
    }

    /// Returns the LMAD of an array after the move.
    pub fn lmad(&self, lmad: &Lmad) -> Lmad {
        let dimension = |(extent, stride): &(Polynomial, Polynomial)| {
            (extent.clone(), stride.times(&self.scale))
        };
        Lmad {
            offset: self.offset.plus(&lmad.offset.times(&self.scale)),
            dimensions: lmad.dimensions.iter().map(dimension).collect(),
        }
    }

    /// Returns the memory of an array after the move into `block`.
    pub fn memory(&self, memory: &Memory, block: Variable) -> Memory {
        Memory {
            block,
            lmad: self.lmad(&memory.lmad),
        }
    }

    /// Calls `visit` on the variables that the offset and the scale name. The new addresses name them
    /// besides the variables of the old addresses.
    pub fn variables(&self, visit: &mut dyn FnMut(Variable)) {
        let polynomials = [&self.offset, &self.scale];
        let variables = polynomials.into_iter().flat_map(|p| p.variables());
        variables.for_each(|v| visit(*v));
    }
}

/// True if two arrays in a block surely have no element in common. `is_extent` tells the variables that
/// cannot be negative.
pub fn are_disjoint(left: &Lmad, right: &Lmad, is_extent: &dyn Fn(Variable) -> bool) -> bool {
    let is_empty = |lmad: &Lmad| lmad.dimensions.iter().any(|d| d.0.as_constant() == Some(0));
    is_empty(left)
        || is_empty(right)
        || are_interleaved(left, right)
        || ends_before(left, right, is_extent)
        || ends_before(right, left, is_extent)
}

/// True if an array surely lies within another one that is row-major.
pub fn is_inside(inner: &Lmad, outer: &Lmad, is_extent: &dyn Fn(Variable) -> bool) -> bool {
    if inner == outer {
        return true;
    }
    let end = |lmad: &Lmad| last(lmad).plus(&Polynomial::constant(1));
    let strides = inner.dimensions.iter().map(|d| &d.1);
    strides.into_iter().all(|s| is_natural(s, is_extent))
        && is_natural(&inner.offset.minus(&outer.offset), is_extent)
        && is_natural(&end(outer).minus(&end(inner)), is_extent)
}

/// True if a polynomial is surely not negative.
fn is_natural(polynomial: &Polynomial, is_extent: &dyn Fn(Variable) -> bool) -> bool {
    polynomial.is_natural(|variable| is_extent(*variable))
}

/// Returns the last address of an array whose strides are positive.
fn last(lmad: &Lmad) -> Polynomial {
    let one = Polynomial::constant(1);
    let reach = |(extent, stride): &(Polynomial, Polynomial)| extent.minus(&one).times(stride);
    let dimensions = lmad.dimensions.iter().map(reach);
    dimensions.fold(lmad.offset.clone(), |sum, reach| sum.plus(&reach))
}

/// True if the addresses of the two arrays differ modulo a common divisor of all strides, as those of
/// the components of an array of tuples do.
fn are_interleaved(left: &Lmad, right: &Lmad) -> bool {
    let strides = left
        .dimensions
        .iter()
        .chain(&right.dimensions)
        .map(|d| &d.1);
    let coefficients = strides.flat_map(|stride| stride.products().map(|(_, c)| c));
    let divisor = coefficients.fold(0u64, |g, c| greatest_common_divisor(g, c.unsigned_abs()));
    let distance = left.offset.minus(&right.offset);
    match distance.as_constant() {
        Some(distance) => divisor > 1 && distance.unsigned_abs() % divisor != 0,
        None => false,
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        b => greatest_common_divisor(b, a % b),
    }
}

/// True if the last address of `left` precedes the first of `right`. Strides must be positive.
fn ends_before(left: &Lmad, right: &Lmad, is_extent: &dyn Fn(Variable) -> bool) -> bool {
    let strides = left
        .dimensions
        .iter()
        .chain(&right.dimensions)
        .map(|d| &d.1);
    let gap = right
        .offset
        .minus(&last(left))
        .minus(&Polynomial::constant(1));
    strides.into_iter().all(|s| is_natural(s, is_extent)) && is_natural(&gap, is_extent)
}

/// Tells, by variable, whether it is an extent of some array.
pub fn extents(program: &Program) -> Vec<bool> {
    let mut extents = vec![false; program.variables.len()];
    for info in &program.variables {
        for atom in info.ty.shape() {
            if let Atom::Variable(variable) = atom {
                extents[variable.index()] = true;
            }
        }
    }
    extents
}
