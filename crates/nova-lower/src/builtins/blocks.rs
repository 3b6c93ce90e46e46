//! `update`, `update_slice` and slices of arrays: reads and replaces parts of arrays.
//!
//! Tops are replaced. The levels below new rows are appended to those of the old ones.

use super::argument::Argument;
use super::permute::{Merge, merge_levels};
use super::progressions::{block_start, sliced};
use crate::builder::{Builder, atoms, operation};
use crate::error::{LowerError, Result};
use crate::join;
use crate::rows;
use crate::scalars::check_index;
use crate::values::{self, Array, has_rows};
use nova_core::{Scalar, ScalarOperation, ScalarValue, Type};
use nova_flat::ir::{Atom, Expression, Output, Positions, Type as FlatType, Variable, View};

/// Lowers `array_slice`.
pub(super) fn array_slice(b: &mut Builder, args: &[Argument]) -> Result<Vec<Atom>> {
    let (array, bounds) = args
        .split_last()
        .ok_or_else(|| LowerError::new("a slice of nothing"))?;
    let x = array.array()?;
    let rank = x.extents.len();
    if bounds.len() != 3 * rank {
        return Err(LowerError::new("a slice with other bounds"));
    }
    let mut dimensions = Vec::with_capacity(rank);
    for (d, extent) in x.extents.iter().enumerate() {
        let bounds = [&bounds[d], &bounds[d + rank], &bounds[d + 2 * rank]];
        dimensions.push(sliced(b, bounds, *extent)?);
    }
    let extents: Vec<Atom> = dimensions.iter().map(|dimension| dimension.count).collect();
    let lifted = values::view(b, &x.element, &x.lifted, &extents, |_| {
        Ok(View::Slice(dimensions.clone()))
    })?;
    Ok(values::with_extents(extents, lifted))
}

/// Lowers `update` and `array_update`, of an array, an index for each dimension, and an element.
pub(super) fn update(b: &mut Builder, args: &[Argument]) -> Result<Vec<Atom>> {
    let [array, indices @ .., value] = args else {
        return Err(LowerError::new("an update of nothing"));
    };
    let x = array.array()?;
    let mut position = Vec::with_capacity(indices.len());
    for (argument, extent) in indices.iter().zip(&x.extents) {
        let (index, scalar) = argument.scalar()?;
        position.push(check_index(b, index, scalar, *extent));
    }
    let lifted = match (&x.element, &position[..]) {
        (Type::Vector(_), [index]) => replace_row(b, &x, *index, value)?,
        _ => replace(b, &x, &position, value)?,
    };
    Ok(Array { lifted, ..x }.atoms())
}

/// Returns the components with the element at an index replaced. The data of its rows follow those
/// of the other rows.
fn replace(b: &mut Builder, x: &Array, position: &[Atom], value: &Argument) -> Result<Vec<Atom>> {
    let single = join::literal(b, &x.element, std::slice::from_ref(&value.atoms))?;
    let merge = merge_into(b, x, &single)?;
    let mut tops = Vec::with_capacity(merge.tops.len());
    for (old, source, shift) in &merge.tops {
        let new = b.index(*source, &[Atom::index(0)])?;
        let value = shift.map_or(new, |shift| b.add(new, shift));
        let old = shaped(b, *old, &x.extents)?;
        let (array, scalar) = b.array(old)?;
        let expression = Expression::Update {
            array,
            indices: position.to_vec(),
            value,
        };
        tops.push(b.bind_array("t", scalar, x.extents.clone(), expression));
    }
    merge.with_tops(&tops)
}

/// As [`replace`], for a vector of rows. If the old row has the same length and overlaps
/// no other row, its elements are replaced in place.
fn replace_row(b: &mut Builder, x: &Array, index: Atom, value: &Argument) -> Result<Vec<Atom>> {
    let (Type::Vector(inner), [starts, ends, total, below @ ..], [length]) =
        (&x.element, &x.lifted[..], &x.extents[..])
    else {
        return Err(LowerError::new("a vector of rows was expected"));
    };
    let row = value.array()?;
    let (begin, end) = (b.index(*starts, &[index])?, b.index(*ends, &[index])?);
    let size = b.subtract(end, begin);
    let count = b.product(&row.extents);
    let as_long = b.compare(ScalarOperation::Equal, size, count);
    let fits = b.select(
        Scalar::Bool,
        as_long,
        |b| is_alone(b, (*starts, *ends), (begin, end), *length),
        |_| Ok(Atom::Constant(ScalarValue::Bool(false))),
    )?;
    let then = b.body(|b| {
        let data = Array {
            extents: vec![*total],
            element: (**inner).clone(),
            lifted: below.to_vec(),
        };
        let replaced = store(b, &data, &row, vec![begin])?;
        Ok([*starts, *ends, *total]
            .into_iter()
            .chain(replaced)
            .collect())
    })?;
    let otherwise = b.body(|b| replace(b, x, &[index], value))?;
    let tops = [starts, ends].map(|_| b.array_variable("rows", Scalar::I64, vec![*length]));
    let mut pattern = tops.to_vec();
    pattern.extend(b.fresh(&x.element));
    let lifted = atoms(&pattern);
    let choice = Expression::If {
        condition: fits,
        then,
        otherwise,
    };
    b.emit(pattern, choice);
    Ok(lifted)
}

/// Returns the condition that only one row overlaps the range from `begin` to `end`, which is that
/// of a row.
fn is_alone(
    b: &mut Builder,
    (starts, ends): (Atom, Atom),
    (begin, end): (Atom, Atom),
    length: Atom,
) -> Result<Atom> {
    if b.is_dense(starts) {
        return Ok(Atom::Constant(ScalarValue::Bool(true)));
    }
    let shared = rows::add_up(b, "shared", length, |b, other| {
        let (start, stop) = (b.index(starts, &[other])?, b.index(ends, &[other])?);
        let first = b.maximum(start, begin);
        let last = b.minimum(stop, end);
        let shares = b.compare(ScalarOperation::Less, first, last);
        b.select(
            Scalar::I64,
            shares,
            |_| Ok(Atom::index(1)),
            |_| Ok(Atom::index(0)),
        )
    })?;
    // The row itself is one of them.
    Ok(b.compare(ScalarOperation::LessEqual, shared, Atom::index(1)))
}

/// Lowers `update_slice` and `array_update_slice`, of an array, the start of the block in each
/// dimension, and the block.
pub(super) fn update_slice(b: &mut Builder, args: &[Argument]) -> Result<Vec<Atom>> {
    let [array, begins @ .., block] = args else {
        return Err(LowerError::new("an update of nothing"));
    };
    let (x, block) = (array.array()?, block.array()?);
    let mut starts = Vec::with_capacity(begins.len());
    for ((begin, count), extent) in begins.iter().zip(&block.extents).zip(&x.extents) {
        starts.push(block_start(b, begin, *count, *extent)?);
    }
    let lifted = store(b, &x, &block, starts)?;
    Ok(Array { lifted, ..x }.atoms())
}

/// Returns the components of an array after a block is stored at these indices.
fn store(b: &mut Builder, x: &Array, block: &Array, starts: Vec<Atom>) -> Result<Vec<Atom>> {
    let merge = merge_into(b, x, &block.lifted)?;
    let (mut destinations, mut pattern): (Vec<Variable>, Vec<Variable>) = Default::default();
    for (old, _, _) in &merge.tops {
        let old = shaped(b, *old, &x.extents)?;
        let (old, scalar) = b.array(old)?;
        let ty = FlatType::Array(scalar, x.extents.clone());
        destinations.push(old);
        pattern.push(b.output.add_variable("t", ty));
    }
    let tops = atoms(&pattern);
    if !pattern.is_empty() {
        let operation = store_block(b, block, &merge, destinations, starts)?;
        b.emit(pattern, operation);
    }
    merge.with_tops(&tops)
}

/// Returns the operation that stores the tops of a block.
fn store_block(
    b: &mut Builder,
    block: &Array,
    merge: &Merge,
    destinations: Vec<Variable>,
    starts: Vec<Atom>,
) -> Result<Expression> {
    let rank = block.extents.len();
    let indices: Vec<Variable> = (0..rank).map(|k| b.index_variable(k)).collect();
    let position = atoms(&indices);
    let body = b.body(|b| merge.moved(b, &position))?;
    Ok(operation(
        block.extents.clone(),
        indices,
        body,
        vec![Output::Scatter {
            destinations,
            positions: Positions::Block(starts),
        }],
    ))
}

/// Pairs the tops of an array with those of `source`. Levels below rows are joined as those of a
/// vector are.
fn merge_into(b: &mut Builder, x: &Array, source: &[Atom]) -> Result<Merge> {
    let length = b.product(&x.extents);
    let flat = match has_rows(&x.element, &b.output.sums) {
        true => values::reshape(b, &x.element, &x.lifted, &[length])?,
        false => x.lifted.clone(),
    };
    let mut merge = Merge::into(length);
    let (mut from, mut to) = (source.iter(), flat.iter());
    merge_levels(b, &x.element, &mut from, &mut to, &mut merge)?;
    Ok(merge)
}

/// Returns an array with these extents of the same product.
fn shaped(b: &mut Builder, atom: Atom, extents: &[Atom]) -> Result<Atom> {
    let (_, scalar) = b.array(atom)?;
    let shaped = values::reshape(b, &Type::Scalar(scalar), &[atom], extents)?;
    Ok(shaped.first().copied().unwrap_or(atom))
}
