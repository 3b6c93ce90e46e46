//! Combination of values: literals, concatenation, and replacing elements.
//!
//! Rows of different vectors lie in different data. To become rows of one vector, the data are
//! concatenated and the later rows are shifted. If the data are already the same, nothing below the
//! tops moves.

use crate::builder::Builder;
use crate::dead_rows::compact_dead_rows;
use crate::error::Result;
use crate::facts::Fact;
use crate::values::{self, Below, Leaf, Part, empty_lifted, leaves, lifted_width, next, take};
use nova_core::{Scalar, Type};
use nova_diag::deep;
use nova_flat::ir::{Atom, Expression};
use std::rc::Rc;
use std::slice::Iter;

/// The state of a concatenation.
struct Concatenation<'a> {
    /// The lengths of the parts.
    lengths: Vec<Atom>,
    /// Their sum.
    count: Atom,
    /// The remaining components of each part.
    parts: Vec<Iter<'a, Atom>>,
    /// The components that are done.
    lifted: Vec<Atom>,
}

/// Returns the concatenation of parts. `count` is the sum of their lengths.
pub(crate) fn concat(b: &mut Builder, ty: &Type, parts: &[Part], count: Atom) -> Result<Vec<Atom>> {
    if let [part] = parts {
        return Ok(part.lifted.clone());
    }
    let mut joint = Concatenation {
        lengths: parts.iter().map(|p| p.length).collect(),
        count,
        parts: parts.iter().map(|p| p.lifted.iter()).collect(),
        lifted: Vec::new(),
    };
    concat_into(b, ty, &mut joint)?;
    Ok(joint.lifted)
}

fn concat_into(b: &mut Builder, ty: &Type, joint: &mut Concatenation) -> Result<()> {
    for leaf in leaves(ty, &b.output.sums) {
        match leaf {
            Leaf::Scalar(_) => concat_next(b, joint)?,
            Leaf::Vector(inner) => concat_rows(b, &inner, 0, 2, joint)?,
            Leaf::Array(rank, inner) => concat_rows(b, &inner, rank, 1, joint)?,
        }
    }
    Ok(())
}

/// Concatenates the next array of every part.
fn concat_next(b: &mut Builder, joint: &mut Concatenation) -> Result<()> {
    let arrays = next_of_all(&mut joint.parts)?;
    let joined = concat_arrays(b, &arrays, joint.count)?;
    joint.lifted.push(joined);
    Ok(())
}

/// Concatenates rows: `extents` arrays that stay as they are, then `offsets` arrays that count from
/// the start of the level below (starts, ends).
fn concat_rows(
    b: &mut Builder,
    inner: &Type,
    extents: usize,
    offsets: usize,
    joint: &mut Concatenation,
) -> Result<()> {
    let mut tops = vec![Vec::new(); extents + offsets];
    for list in &mut tops {
        *list = next_of_all(&mut joint.parts)?;
    }
    let width = lifted_width(b, inner);
    let mut belows = Vec::with_capacity(joint.parts.len());
    for part in &mut joint.parts {
        belows.push(Below {
            length: next(part)?,
            lifted: take(part, width)?,
        });
    }
    let same = same_below(&belows);
    let dense = tops[extents].iter().all(|starts| b.is_dense(*starts));
    if !same {
        for (k, below) in belows.iter_mut().enumerate() {
            let mut own: Vec<Atom> = tops.iter().map(|list| list[k]).collect();
            compact_dead_rows(b, inner, extents, joint.lengths[k], &mut own, below)?;
            for (list, atom) in tops.iter_mut().zip(own) {
                list[k] = atom;
            }
        }
    }
    let (below, shifts) = join_below(b, inner, &belows)?;
    for (k, mut arrays) in tops.into_iter().enumerate() {
        if k >= extents {
            for ((array, length), shift) in arrays.iter_mut().zip(&joint.lengths).zip(&shifts) {
                *array = shifted(b, *array, *length, *shift)?;
            }
        }
        let joined = concat_arrays(b, &arrays, joint.count)?;
        if k == extents && dense && !same {
            b.note(joined, Fact::Dense);
        }
        joint.lifted.push(joined);
    }
    joint.lifted.push(below.length);
    joint.lifted.extend(below.lifted);
    Ok(())
}

/// Joins several levels into one. Returns it with the number to add to the rows of each.
pub(crate) fn join_below(
    b: &mut Builder,
    ty: &Type,
    belows: &[Below],
) -> Result<(Below, Vec<Atom>)> {
    if let Some(first) = belows.first()
        && same_below(belows)
    {
        return Ok((first.clone(), vec![Atom::index(0); belows.len()]));
    }
    let mut total = Atom::index(0);
    let mut shifts = Vec::with_capacity(belows.len());
    for below in belows {
        shifts.push(total);
        total = b.add(total, below.length);
    }
    let lifted = match belows {
        [] => empty_lifted(b, ty),
        _ => deep(|| concat(b, ty, belows, total))?,
    };
    let length = total;
    Ok((Below { length, lifted }, shifts))
}

/// Returns `array + shift`, by element.
fn shifted(b: &mut Builder, array: Atom, length: Atom, shift: Atom) -> Result<Atom> {
    if shift == Atom::index(0) {
        return Ok(array);
    }
    b.map_scalar("shifted", length, Scalar::I64, |b, i| {
        let old = b.index(array, &[i])?;
        Ok(b.add(old, shift))
    })
}

fn concat_arrays(b: &mut Builder, arrays: &[Atom], count: Atom) -> Result<Atom> {
    let mut variables = Vec::with_capacity(arrays.len());
    let mut scalar = Scalar::I64;
    for array in arrays {
        let (variable, element) = b.array(*array)?;
        variables.push(variable);
        scalar = element;
    }
    let expression = Expression::Concat {
        arrays: variables,
        count,
    };
    Ok(b.bind_array("t", scalar, vec![count], expression))
}

/// Returns the lifted components of a vector with these elements.
pub(crate) fn literal(b: &mut Builder, ty: &Type, elements: &[Vec<Atom>]) -> Result<Vec<Atom>> {
    if elements.is_empty() {
        return Ok(empty_lifted(b, ty));
    }
    let mut iterators: Vec<Iter<Atom>> = elements.iter().map(|e| e.iter()).collect();
    let mut lifted = Vec::new();
    literal_into(b, ty, &mut iterators, &mut lifted)?;
    Ok(lifted)
}

fn literal_into(
    b: &mut Builder,
    ty: &Type,
    elements: &mut [Iter<Atom>],
    lifted: &mut Vec<Atom>,
) -> Result<()> {
    for leaf in leaves(ty, &b.output.sums) {
        match leaf {
            Leaf::Scalar(scalar) => {
                let atoms = next_of_all(elements)?;
                lifted.push(literal_array(b, scalar, atoms));
            }
            Leaf::Vector(inner) => {
                let belows = rows_of_all(b, &inner, 1, elements, lifted)?;
                let (below, shifts) = join_below(b, &inner, &belows)?;
                let mut ends = Vec::with_capacity(belows.len());
                for (start, below) in shifts.iter().zip(&belows) {
                    ends.push(b.add(*start, below.length));
                }
                let dense = belows.len() == 1 || !same_below(&belows);
                let starts = literal_array(b, Scalar::I64, shifts);
                if dense {
                    b.note(starts, Fact::Dense);
                }
                lifted.push(starts);
                lifted.push(literal_array(b, Scalar::I64, ends));
                lifted.push(below.length);
                lifted.extend(below.lifted);
            }
            Leaf::Array(rank, inner) => {
                let belows = rows_of_all(b, &inner, rank, elements, lifted)?;
                let (below, shifts) = join_below(b, &inner, &belows)?;
                lifted.push(literal_array(b, Scalar::I64, shifts));
                lifted.push(below.length);
                lifted.extend(below.lifted);
            }
        }
    }
    Ok(())
}

/// Takes a vector or array of each element, as one dimension. The extents of arrays become
/// literals.
fn rows_of_all(
    b: &mut Builder,
    inner: &Type,
    rank: usize,
    elements: &mut [Iter<Atom>],
    lifted: &mut Vec<Atom>,
) -> Result<Vec<Below>> {
    let width = lifted_width(b, inner);
    let mut extents: Vec<Vec<Atom>> = vec![Vec::new(); rank];
    let mut belows = Vec::with_capacity(elements.len());
    let is_array = rank > 1;
    for element in elements {
        let own = take(element, rank)?;
        let shaped = take(element, width)?;
        let length = b.product(&own);
        for (list, extent) in extents.iter_mut().zip(own) {
            list.push(extent);
        }
        belows.push(Below {
            length,
            lifted: values::reshape(b, inner, &shaped, &[length])?,
        });
    }
    if is_array {
        for list in extents {
            lifted.push(literal_array(b, Scalar::I64, list));
        }
    }
    Ok(belows)
}

fn literal_array(b: &mut Builder, element: Scalar, elements: Vec<Atom>) -> Atom {
    let count = Atom::index(elements.len() as i64);
    let one = elements.first().copied();
    let uniform = one.filter(|one| elements.iter().all(|other| other == one));
    let expression = Expression::Literal { element, elements };
    let array = b.bind_array("t", element, vec![count], expression);
    if let Some(number) = uniform {
        b.note(array, Fact::Uniform(number));
    }
    array
}

/// Returns the lifted components of a vector of `count` equal values.
pub(crate) fn repeat(b: &mut Builder, ty: &Type, value: &[Atom], count: Atom) -> Result<Vec<Atom>> {
    let mut lifted = Vec::new();
    repeat_into(b, ty, &mut value.iter(), count, &mut lifted)?;
    Ok(lifted)
}

fn repeat_into(
    b: &mut Builder,
    ty: &Type,
    value: &mut Iter<Atom>,
    count: Atom,
    lifted: &mut Vec<Atom>,
) -> Result<()> {
    for leaf in leaves(ty, &b.output.sums) {
        match leaf {
            Leaf::Scalar(scalar) => {
                let atom = next(value)?;
                lifted.push(replicate(b, scalar, atom, count));
            }
            Leaf::Vector(inner) => {
                let length = next(value)?;
                let below = take(value, lifted_width(b, &inner))?;
                let starts = replicate(b, Scalar::I64, Atom::index(0), count);
                let mut row = vec![length];
                row.extend(&below);
                b.note(starts, Fact::Constant(Rc::from(row)));
                lifted.push(starts);
                lifted.push(replicate(b, Scalar::I64, length, count));
                lifted.push(length);
                lifted.extend(below);
            }
            Leaf::Array(rank, inner) => {
                let extents = take(value, rank)?;
                let below = take(value, lifted_width(b, &inner))?;
                for extent in &extents {
                    lifted.push(replicate(b, Scalar::I64, *extent, count));
                }
                let starts = replicate(b, Scalar::I64, Atom::index(0), count);
                let total = b.product(&extents);
                let flat = values::reshape(b, &inner, &below, &[total])?;
                let mut row = extents;
                row.extend(below);
                b.note(starts, Fact::Constant(Rc::from(row)));
                lifted.extend([starts, total]);
                lifted.extend(flat);
            }
        }
    }
    Ok(())
}

fn replicate(b: &mut Builder, scalar: Scalar, value: Atom, count: Atom) -> Atom {
    let shape = vec![count];
    let expression = Expression::Replicate {
        shape: shape.clone(),
        value,
    };
    let array = b.bind_array("t", scalar, shape, expression);
    b.note(array, Fact::Uniform(value));
    array
}

/// True if all levels are the same arrays.
pub(crate) fn same_below(belows: &[Below]) -> bool {
    belows.windows(2).all(|pair| {
        pair[0].length == pair[1].length
            && !pair[0].lifted.is_empty()
            && pair[0].lifted == pair[1].lifted
    })
}

fn next_of_all(iterators: &mut [Iter<Atom>]) -> Result<Vec<Atom>> {
    iterators.iter_mut().map(next).collect()
}
