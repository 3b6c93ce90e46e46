//! Blocks of arrays: slices, and arrays with an element or a block replaced. No list is longer than the
//! selection, so that arrays without elements may have extents beyond any memory.

use super::operands::{Operands, Result, advance, at, checked, index_list, steps, stop};
use crate::error::internal;
use crate::{Elements, ErrorKind, Extents, Value};

/// The extents of an array, and its elements in row-major order.
type Array = (Extents, Elements);

/// `count` indices of a dimension, all in range: `first`, `first + step`, ….
pub(super) struct Progression {
    first: i128,
    step: i128,
    pub(super) count: usize,
}

impl Progression {
    /// Returns index `k` of the progression.
    pub(super) fn index(&self, k: usize) -> usize {
        (self.first + k as i128 * self.step) as usize
    }
}

/// Checks that the step is not 0, then that the indices from `b` by `s` to before `e`, in their order,
/// are in range.
pub(super) fn progression([b, s, e]: [i128; 3], extent: usize) -> Result<Progression> {
    let (count, n) = (steps(b, s, e)?, extent as i128);
    if count > 0 {
        checked(b, extent)?;
        let inside = match s > 0 {
            true => (n - 1 - b) / s,
            false => b / -s,
        };
        if inside + 1 < count {
            return Err(stop(ErrorKind::Index, &[b + (inside + 1) * s, n]));
        }
    }
    Ok(Progression {
        first: b,
        step: s,
        count: count as usize,
    })
}

/// Slices each dimension as a slice of a vector does.
pub(super) fn array_slice(bounds: &[i128], (extents, elements): Array) -> Result<Value> {
    let rank = extents.len();
    if bounds.len() != 3 * rank {
        return Err(internal("a slice of an array of another rank"));
    }
    let used = extents.iter().enumerate().map(|(d, extent)| {
        progression([bounds[d], bounds[d + rank], bounds[d + 2 * rank]], *extent)
    });
    let used: Vec<Progression> = used.collect::<Result<_>>()?;
    let source = positions(&used, &extents)?;
    let shape: Vec<usize> = used.iter().map(|own| own.count).collect();
    Ok(Value::Array(
        shape.into(),
        elements.pick(source.into_iter())?,
    ))
}

/// Checks that the indices, from left to right, are in range.
pub(super) fn array_update((extents, mut elements): Array, mut o: Operands) -> Result<Value> {
    let mut position = 0;
    for extent in extents.iter() {
        position = position * extent + checked(o.integer()?, *extent)?;
    }
    elements.set(position, o.value()?)?;
    Ok(Value::Array(extents, elements))
}

/// Replaces a block of an array. The remaining operands are the starts of the block, and the block. For
/// each dimension, its indices are checked in order.
pub(super) fn update_block((extents, mut elements): Array, mut o: Operands) -> Result<Array> {
    let begins: Vec<i128> = extents.iter().map(|_| o.integer()).collect::<Result<_>>()?;
    let (shape, block) = o.array()?;
    let dimensions = begins.iter().zip(shape.iter()).zip(extents.iter());
    let used = dimensions
        .map(|((begin, count), extent)| progression([*begin, 1, begin + *count as i128], *extent));
    let used: Vec<Progression> = used.collect::<Result<_>>()?;
    for (k, position) in positions(&used, &extents)?.into_iter().enumerate() {
        elements.set(position, at(&block, k)?)?;
    }
    Ok((extents, elements))
}

/// Returns the numbers of selected elements in an array with these extents, in row-major order.
fn positions(used: &[Progression], extents: &[usize]) -> Result<Vec<usize>> {
    let shape: Vec<usize> = used.iter().map(|own| own.count).collect();
    if shape.contains(&0) {
        return Ok(Vec::new());
    }
    let count = shape.iter().product();
    let mut list = index_list(count)?;
    let mut index = vec![0; shape.len()];
    for _ in 0..count {
        let selected = index.iter().zip(used).map(|(k, own)| own.index(*k));
        list.push(
            selected
                .zip(extents)
                .fold(0, |number, (k, extent)| number * extent + k),
        );
        advance(&mut index, &shape);
    }
    Ok(list)
}
