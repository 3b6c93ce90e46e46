//! Conversion of the results of an operation to lifted components.
//!
//! It is the counterpart of [`crate::build`]: the two walk a type in the same order. Rows below the
//! first level get starts and ends from the lengths that were collected for them.

use crate::builder::Builder;
use crate::error::Result;
use crate::facts::Fact;
use crate::rows;
use crate::values::{self, Leaf, leaves, next, take};
use nova_core::{Scalar, Type};
use nova_diag::deep;
use nova_flat::ir::Atom;
use std::rc::Rc;
use std::slice::Iter;

/// The results of an operation's outputs, to be taken in order.
pub(crate) struct Received<'a> {
    pub atoms: Iter<'a, Atom>,
    /// For each collect, the length of its rows if all have the same.
    pub regular: std::vec::IntoIter<Option<Atom>>,
    /// The number of rows, if the space has one dimension.
    pub count: Option<Atom>,
}

/// Takes the results of an operation. Appends the lifted components of a type.
pub(crate) fn receive(
    b: &mut Builder,
    ty: &Type,
    received: &mut Received,
    lifted: &mut Vec<Atom>,
) -> Result<()> {
    for leaf in leaves(ty, &b.output.sums) {
        match leaf {
            Leaf::Scalar(_) => lifted.push(next(&mut received.atoms)?),
            Leaf::Vector(inner) => {
                let level = receive_level(b, &inner, received)?;
                note_rows(b, &inner, &level, received.count)?;
                lifted.extend([level.starts, level.ends, level.total]);
                lifted.extend(level.below);
            }
            Leaf::Array(rank, inner) => {
                lifted.extend(take(&mut received.atoms, rank)?);
                let level = receive_level(b, &inner, received)?;
                b.note(level.starts, Fact::Dense);
                lifted.extend([level.starts, level.total]);
                lifted.extend(level.below);
            }
        }
    }
    Ok(())
}

/// Records that collected rows are dense, or the rows of an array if all have one length.
fn note_rows(b: &mut Builder, inner: &Type, level: &Level, count: Option<Atom>) -> Result<()> {
    let fact = match (level.regular, count) {
        (Some(length), Some(count)) => {
            let mut array = vec![count, length];
            array.extend(values::reshape(b, inner, &level.below, &[count, length])?);
            Fact::Rows(Rc::from(array))
        }
        _ => Fact::Dense,
    };
    b.note(level.starts, fact);
    Ok(())
}

fn receive_level(b: &mut Builder, ty: &Type, received: &mut Received) -> Result<Level> {
    let rows = take(&mut received.atoms, 3)?;
    let regular = received.regular.next().flatten();
    let arrays = take(&mut received.atoms, level_width(b, ty))?;
    let mut below = Vec::new();
    let total = rows[2];
    receive_columns(b, ty, total, &mut arrays.iter(), received, &mut below)?;
    Ok(Level {
        starts: rows[0],
        ends: rows[1],
        total,
        below,
        regular,
    })
}

/// Returns the number of arrays in the columns of a level of the type.
fn level_width(b: &Builder, ty: &Type) -> usize {
    let leaves = leaves(ty, &b.output.sums).into_iter();
    let widths = leaves.map(|leaf| match leaf {
        Leaf::Scalar(_) | Leaf::Vector(_) => 1,
        Leaf::Array(rank, _) => rank,
    });
    widths.sum()
}

fn receive_columns(
    b: &mut Builder,
    ty: &Type,
    count: Atom,
    arrays: &mut Iter<Atom>,
    received: &mut Received,
    lifted: &mut Vec<Atom>,
) -> Result<()> {
    for leaf in leaves(ty, &b.output.sums) {
        match leaf {
            Leaf::Scalar(_) => lifted.push(next(arrays)?),
            Leaf::Vector(inner) => {
                let lengths = next(arrays)?;
                let (starts, ends) = rows::offsets(b, count, lengths)?;
                let level = deep(|| receive_level(b, &inner, received))?;
                lifted.extend([starts, ends, level.total]);
                lifted.extend(level.below);
            }
            Leaf::Array(rank, inner) => {
                let extents = take(arrays, rank)?;
                let sizes = b.map_scalar("sizes", count, Scalar::I64, |b, i| {
                    let mut size = Vec::with_capacity(extents.len());
                    for extent in &extents {
                        size.push(b.index(*extent, &[i])?);
                    }
                    Ok(b.product(&size))
                })?;
                let (starts, _) = rows::offsets(b, count, sizes)?;
                let level = deep(|| receive_level(b, &inner, received))?;
                lifted.extend(extents);
                lifted.extend([starts, level.total]);
                lifted.extend(level.below);
            }
        }
    }
    Ok(())
}

/// A collected level and the rows that lie in it.
struct Level {
    starts: Atom,
    ends: Atom,
    total: Atom,
    below: Vec<Atom>,
    regular: Option<Atom>,
}
