//! `reverse`, `rotate`, `concat`, `replicate`, `unzip` and indexing.

use super::argument::Argument;
use super::selection::gather_tops;
use crate::builder::Builder;
use crate::error::{LowerError, Result};
use crate::join;
use crate::limits::NEAR_ROTATION;
use crate::scalars::{check_count, check_index, check_longest, index_from, unsigned_from};
use crate::values::{self, Part, lifted_width, take};

use nova_core::{Scalar, ScalarOperation, Type};
use nova_flat::ir::Atom;

pub(super) fn index(b: &mut Builder, [x, index]: &[Argument; 2]) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    let (index, scalar) = index.scalar()?;
    let index = check_index(b, index, scalar, x.length);
    x.at(b, &[index])
}

/// Lowers `node_at`, whose index needs no check.
pub(super) fn node_at(b: &mut Builder, [nodes, number]: &[Argument; 2]) -> Result<Vec<Atom>> {
    let nodes = nodes.vector()?;
    let (number, scalar) = number.scalar()?;
    let index = index_from(b, number, scalar);
    nodes.at(b, &[index])
}

pub(super) fn array_index(b: &mut Builder, args: &[Argument]) -> Result<Vec<Atom>> {
    let (array, indices) = args
        .split_first()
        .ok_or_else(|| LowerError::new("an index without an array"))?;
    let array = array.array()?;
    let mut position = Vec::with_capacity(indices.len());
    for (argument, extent) in indices.iter().zip(&array.extents) {
        let (index, scalar) = argument.scalar()?;
        position.push(check_index(b, index, scalar, *extent));
    }
    values::element(b, &array.element, &array.lifted, &position)
}

pub(super) fn reverse(b: &mut Builder, [x]: &[Argument; 1]) -> Result<Vec<Atom>> {
    let x = x.vector()?;
    let last = b.subtract(x.length, Atom::index(1));
    let lifted = values::slice(b, &x.element, &x.lifted, last, Atom::index(-1), x.length)?;
    Ok(values::with_extents(vec![x.length], lifted))
}

pub(super) fn concat(b: &mut Builder, [x, y]: &[Argument; 2]) -> Result<Vec<Atom>> {
    let (x, y) = (x.vector()?, y.vector()?);
    let length = b.add(x.length, y.length);
    let element = x.element.clone();
    let parts = [x, y].map(|v| Part {
        length: v.length,
        lifted: v.lifted,
    });
    Ok(values::with_extents(
        vec![length],
        join::concat(b, &element, &parts, length)?,
    ))
}

pub(super) fn replicate(b: &mut Builder, [count, value]: &[Argument; 2]) -> Result<Vec<Atom>> {
    let (count, scalar) = count.scalar()?;
    let length = check_count(b, count, scalar);
    let length = check_longest(b, length, scalar);
    Ok(values::with_extents(
        vec![length],
        join::repeat(b, &value.ty, &value.atoms, length)?,
    ))
}

/// Lowers `rotate`: element i of the result is element (i + k) mod n, with k reduced to 0..n first.
/// Most elements are those at i + k where k is a small constant, so that loops are split at the others.
pub(super) fn rotate(b: &mut Builder, [count, x]: &[Argument; 2]) -> Result<Vec<Atom>> {
    let (count, scalar) = count.scalar()?;
    let x = x.vector()?;
    let n = x.length;
    let divisor = b.maximum(n, Atom::index(1));
    let near = near_distance(count);
    let distance = remainder(b, count, scalar, divisor)?;
    let lifted = gather_tops(b, &x.element, &x.lifted, n, |b, i| {
        let Some(near) = near else {
            return wrapped(b, i, distance, n);
        };
        let moved = b.add(i, Atom::index(near));
        let (operation, end) = match near < 0 {
            true => (ScalarOperation::GreaterEqual, Atom::index(0)),
            false => (ScalarOperation::Less, n),
        };
        let inside = b.compare(operation, moved, end);
        b.select(
            Scalar::I64,
            inside,
            |_| Ok(moved),
            |b| wrapped(b, i, distance, n),
        )
    })?;
    Ok(values::with_extents(vec![x.length], lifted))
}

/// Returns the count of a rotation, if it is a small constant.
fn near_distance(count: Atom) -> Option<i64> {
    let Atom::Constant(value) = count else {
        return None;
    };
    let count = i64::try_from(value.as_integer()?).ok()?;
    (count.unsigned_abs() <= NEAR_ROTATION).then_some(count)
}

/// Returns (i + distance) mod n for an i and a distance in 0..n.
fn wrapped(b: &mut Builder, i: Atom, distance: Atom, n: Atom) -> Result<Atom> {
    let moved = b.add(i, distance);
    let beyond = b.compare(ScalarOperation::GreaterEqual, moved, n);
    b.select(
        Scalar::I64,
        beyond,
        |b| Ok(b.subtract(moved, n)),
        |_| Ok(moved),
    )
}

/// Returns `count` modulo a positive divisor, in 0..divisor.
fn remainder(b: &mut Builder, count: Atom, scalar: Scalar, divisor: Atom) -> Result<Atom> {
    if scalar == Scalar::U64 {
        let divisor = unsigned_from(b, divisor);
        let operands = vec![count, divisor];
        let rest = b.scalar(ScalarOperation::Remainder, scalar, operands);
        return Ok(index_from(b, rest, scalar));
    }
    let count = index_from(b, count, scalar);
    if let (Some(count), Some(divisor)) = (count.as_i64(), divisor.as_i64()) {
        return Ok(Atom::index(count.rem_euclid(divisor)));
    }
    let operands = vec![count, divisor];
    let rest = b.scalar(ScalarOperation::Remainder, Scalar::I64, operands);
    if !scalar.is_signed() {
        return Ok(rest);
    }
    let negative = b.compare(ScalarOperation::Less, rest, Atom::index(0));
    b.select(
        Scalar::I64,
        negative,
        |b| Ok(b.add(rest, divisor)),
        |_| Ok(rest),
    )
}

pub(super) fn unzip(b: &mut Builder, [z]: &[Argument; 1]) -> Result<Vec<Atom>> {
    let z = z.vector()?;
    let Type::Tuple(types) = &z.element else {
        return Err(LowerError::new("an unzip of elements that are no tuples"));
    };
    let mut lifted = z.lifted.iter();
    let mut atoms = Vec::new();
    for ty in types.iter() {
        let width = lifted_width(b, ty);
        atoms.push(z.length);
        atoms.extend(take(&mut lifted, width)?);
    }
    Ok(atoms)
}
