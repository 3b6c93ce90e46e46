//! `split`, `as_vector` and `as_scalar` (dpia.txt §6.2): a vector as rows or as `vec#n` of one length,
//! without moving elements, and back.
//!
//! The elements of a `vec#n` are components, as those of a tuple. Component k of `as_vector n X` is
//! every n-th element of `X` from k on. These are n views of one array. Their starts and steps show
//! that their elements are adjacent, so a target with vector types makes one load of them.

use super::argument::Argument;
use crate::build::build;
use crate::builder::Builder;
use crate::error::{LowerError, Result};
use crate::scalars::{bound_from, index_as};
use crate::values::{self, Vector};
use nova_core::{ErrorKind, Scalar, ScalarOperation, ScalarValue, Type};
use nova_flat::ir::{Atom, Body, Expression};

/// True if a size and a length are constants of which the first does not divide the second.
fn never_fits(size: Atom, length: Atom) -> bool {
    match (size, length) {
        (Atom::Constant(ScalarValue::I64(size)), Atom::Constant(ScalarValue::I64(length))) => {
            size <= 0 || length % size != 0
        }
        (Atom::Constant(_) | Atom::Variable(_), _) => false,
    }
}

pub(super) fn split(b: &mut Builder, [size, x]: &[Argument; 2]) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    let (size, scalar) = size.scalar()?;
    let size = bound_from(b, size, scalar);
    let positive = b.compare(ScalarOperation::Greater, size, Atom::index(0));
    b.check(positive, ErrorKind::Split, vec![size, x.length]);
    let count = rows_of(b, size, x.length)?;
    let (extents, lifted) = match never_fits(size, x.length) {
        // The checks fail, so the rows are never used, and there are none.
        true => {
            let zero = Atom::index(0);
            let lifted = values::slice(b, &x.element, &x.lifted, zero, Atom::index(1), zero)?;
            (vec![zero, zero], lifted)
        }
        false => (vec![count, size], x.lifted),
    };
    let lifted = values::reshape(b, &x.element, &lifted, &extents)?;
    Ok(values::with_extents(extents, lifted))
}

/// Returns the number of rows of `size` elements in `length`, checked to be divisible by `size`.
/// `size` is not 0.
fn rows_of(b: &mut Builder, size: Atom, length: Atom) -> Result<Atom> {
    if size == Atom::index(0) {
        // It was checked before, and the check failed.
        return Ok(Atom::index(0));
    }
    let count = b.divide(length, size);
    let rest = b.scalar(ScalarOperation::Remainder, Scalar::I64, vec![length, size]);
    let divides = b.compare(ScalarOperation::Equal, rest, Atom::index(0));
    b.check(divides, ErrorKind::Split, vec![size, length]);
    Ok(count)
}

pub(super) fn as_vector(b: &mut Builder, [x]: &[Argument; 1], lanes: u32) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    let size = Atom::index(i64::from(lanes));
    let count = rows_of(b, size, x.length)?;
    let mut atoms = vec![count];
    for lane in 0..lanes {
        let start = Atom::index(i64::from(lane));
        atoms.extend(values::slice(b, &x.element, &x.lifted, start, size, count)?);
    }
    Ok(atoms)
}

/// Lowers `as_scalar`: a matrix with a row for each `vec#n`, as a vector.
pub(super) fn as_scalar(b: &mut Builder, [x]: &[Argument; 1]) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    let Some((lanes, scalar)) = x.element.as_lanes() else {
        return Err(LowerError::new("an as_scalar of what is no vec#n"));
    };
    let size = Atom::index(i64::from(lanes));
    let element = Type::Scalar(scalar);
    let extents = [x.length, size];
    let matrix = build(b, &extents, &element, |b, index| {
        Ok(vec![lane(b, &x, index[0], index[1])?])
    })?;
    let length = b.multiply(x.length, size);
    let lifted = values::reshape(b, &element, &matrix, &[length])?;
    Ok(values::with_extents(vec![length], lifted))
}

/// Returns the element of a lane of the `vec#n` at an index.
fn lane(b: &mut Builder, x: &Vector, at: Atom, lane: Atom) -> Result<Atom> {
    let (_, scalar) = b.array(x.lifted[0])?;
    let scrutinee = index_as(b, lane, Scalar::I32);
    let mut cases: Vec<Body> = Vec::new();
    for array in &x.lifted {
        cases.push(b.body(|b| Ok(vec![b.index(*array, &[at])?]))?);
    }
    let switch = Expression::Switch { scrutinee, cases };
    Ok(b.bind_scalar("lane", scalar, switch))
}
