//! Stencils in tiles with halos: a work-group computes a tile of neighbouring elements of the result,
//! in row-major order. What these read of an array lies in as many rows as there are distances in the
//! dimensions before the last. These rows are above and below the tile, and a little longer at both
//! ends. The threads bring them to local memory; beyond an end of the array they bring the element at
//! the end. Then each thread computes an element as without tiles, but reads local memory.
//!
//! A tile is a contiguous range and not a block of several rows, since such a range is a part of the
//! result as it lies in memory. So the tile is made there, and the proof that chunks do not overlap
//! covers tiles, too.

use super::{Neighbours, Stencil};
use crate::chunks::even_bounds;
use crate::plain_kernels::plain_kernel;
use crate::way::Way;
use crate::writer::Writer;
use nova_core::strategy::{self, Space, Strategy};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{ArrayOperation, Atom, Expression, Level, Output, Statement, Variable, View};
use nova_flat::visit::bodies_mut;
use nova_machine::DEVICE;
use std::collections::HashMap;

/// The largest extents, by the number of dimensions. With these, products are integers, and so are sums
/// with small numbers. The second limit is for numbers of 32 bits, if there are any.
const SAFE_EXTENTS: [i64; 3] = [1 << 60, 1 << 30, 1 << 20];
const SAFE_NARROW_EXTENT: i64 = 1 << 30;

/// An array whose neighbours are brought to local memory: the array with one dimension, and the number
/// of its elements.
struct Source<'a> {
    of: &'a Neighbours,
    flat: Variable,
    count: Atom,
}

/// The halo tile of an array in local memory. For each dimension, `begins` is added to an index of the
/// array to give the index in the tile.
struct Tile {
    array: Variable,
    shared: Variable,
    begins: Vec<Atom>,
}

/// Positions of elements in halo tiles, for indices that have occurred.
type Places = HashMap<(Variable, usize, Variable), Atom>;

fn constant(number: i64) -> Atom {
    Atom::index(number)
}

/// Writes a stencil: in tiles if there are many elements, else as without them.
pub(crate) fn kernel_of_stencil(
    code: &mut Writer,
    (operation, stencil): (ArrayOperation, &Stencil),
    pattern: &[Variable],
    way: Way,
) {
    let condition = has_halo_tiles(code, &operation, stencil);
    let copy = code.fresh_whole(&operation);
    code.choose_way(
        pattern,
        condition,
        |code, own| in_halo_tiles(code, copy, stencil, &own),
        |code, own| {
            plain_kernel(code, operation, &own, way);
        },
    );
}

/// True if there are so many elements that tiles are worth it, no number is too large, and no array
/// is empty.
fn has_halo_tiles(code: &mut Writer, operation: &ArrayOperation, stencil: &Stencil) -> Atom {
    let rank = operation.shape.len();
    let largest = SAFE_EXTENTS
        .get(rank - 1)
        .copied()
        .unwrap_or(SAFE_NARROW_EXTENT);
    let largest = match stencil.narrow {
        true => largest.min(SAFE_NARROW_EXTENT),
        false => largest,
    };
    let mut product = constant(1);
    let mut holds = Atom::Constant(ScalarValue::Bool(true));
    for extent in &operation.shape {
        let capped = code.scalar(ScalarOperation::Minimum, *extent, constant(largest));
        product = code.scalar(ScalarOperation::Multiply, product, capped);
        holds = also(code, holds, ScalarOperation::LessEqual, (*extent, largest));
    }
    for neighbours in &stencil.arrays {
        let shape = code.program.ty(neighbours.array).shape().to_vec();
        for extent in &shape {
            holds = also(code, holds, ScalarOperation::GreaterEqual, (*extent, 1));
            holds = also(code, holds, ScalarOperation::LessEqual, (*extent, largest));
        }
    }
    let many = code.parallelism.grain.saturating_mul(DEVICE.groups_from);
    also(code, holds, ScalarOperation::GreaterEqual, (product, many))
}

/// Computes whether a condition and a comparison hold.
fn also(
    code: &mut Writer,
    condition: Atom,
    comparison: ScalarOperation,
    (number, limit): (Atom, i64),
) -> Atom {
    let holds = code.compare(comparison, number, constant(limit));
    match condition {
        Atom::Constant(ScalarValue::Bool(true)) => holds,
        condition => code.both(condition, holds),
    }
}

fn in_halo_tiles(
    code: &mut Writer,
    operation: ArrayOperation,
    stencil: &Stencil,
    pattern: &[Variable],
) {
    let shape = operation.shape.clone();
    let total = product(code, &shape);
    let sources: Vec<Source> = stencil.arrays.iter().map(|a| source(code, a)).collect();
    let whole: Vec<Variable> = match shape.len() {
        1 => pattern.to_vec(),
        _ => pattern.iter().map(|v| code.like(*v, vec![total])).collect(),
    };
    let size = constant(stencil.tile);
    let groups = code.quotient_up(total, size);
    let number = code.fresh("group", Scalar::I64);
    let outputs: Vec<Output> = whole
        .iter()
        .map(|_| Output::Join { shape: vec![total] })
        .collect();
    let body = code.body(|code| {
        let (first, length) = even_bounds(code, Atom::Variable(number), total, size);
        let bring = |source: &Source| bring_neighbours(code, source, stencil, (&shape, first));
        let shared: Vec<Variable> = sources.iter().map(bring).collect();
        compute_halo_tile(code, operation, (first, length), (&sources, &shared))
    });
    code.map_groups(whole.clone(), (groups, number), Vec::new(), body, outputs);
    for (array, given) in whole.into_iter().zip(pattern) {
        if array != *given {
            let view = View::Reshape(shape.clone());
            code.push(vec![*given], Expression::View { array, view });
        }
    }
}

/// Computes the product of extents, which is known to be an integer.
fn product(code: &mut Writer, extents: &[Atom]) -> Atom {
    let mut all = extents.iter().copied();
    let first = all.next().unwrap_or(constant(1));
    all.fold(first, |product, extent| {
        code.scalar(ScalarOperation::Multiply, product, extent)
    })
}

/// Returns an array as one of one dimension.
fn source<'a>(code: &mut Writer, of: &'a Neighbours) -> Source<'a> {
    let array = of.array;
    let shape = code.program.ty(array).shape().to_vec();
    let count = product(code, &shape);
    let flat = match shape.len() {
        1 => array,
        _ => {
            let flat = code.like(array, vec![count]);
            let view = View::Reshape(vec![count]);
            code.push(vec![flat], Expression::View { array, view });
            flat
        }
    };
    Source { of, flat, count }
}

/// Brings what the elements of a tile read of an array to local memory. The first dimension of the
/// halo tile is the last one of the array; the following ones are distances in the others.
fn bring_neighbours(
    code: &mut Writer,
    source: &Source,
    stencil: &Stencil,
    (shape, first): (&[Atom], Atom),
) -> Variable {
    let Some((last, before)) = source.of.reach.split_last() else {
        return source.flat;
    };
    let mut extents = vec![constant(source.of.length(stencil.tile))];
    extents.extend(before.iter().map(|(low, high)| constant(high - low + 1)));
    let indices: Vec<Variable> = extents
        .iter()
        .map(|_| code.fresh("j", Scalar::I64))
        .collect();
    let shared = code.like(source.of.array, extents.clone());
    let body = code.body(|code| {
        let mut all = indices.iter().map(|v| Atom::Variable(*v));
        let along = all.next().unwrap_or(constant(0));
        let mut row = constant(0);
        for (k, (distance, (low, _))) in all.zip(before).enumerate() {
            let distance = code.scalar(ScalarOperation::Add, distance, constant(*low));
            row = match k {
                0 => distance,
                _ => {
                    let extent = shape.get(k).copied().unwrap_or(constant(1));
                    let rows = code.scalar(ScalarOperation::Multiply, row, extent);
                    code.scalar(ScalarOperation::Add, rows, distance)
                }
            };
        }
        let mut at = code.scalar(ScalarOperation::Add, first, constant(last.0));
        at = code.scalar(ScalarOperation::Add, at, along);
        if let (false, Some(extent)) = (before.is_empty(), shape.last()) {
            let rows = code.scalar(ScalarOperation::Multiply, row, *extent);
            at = code.scalar(ScalarOperation::Add, at, rows);
        }
        let end = code.scalar(ScalarOperation::Subtract, source.count, constant(1));
        at = code.scalar(ScalarOperation::Minimum, at, end);
        at = code.scalar(ScalarOperation::Maximum, at, constant(0));
        vec![code.element(source.flat, at)]
    });
    let operation = ArrayOperation {
        shape: extents,
        indices,
        level: Level::Sequential,
        strategy: Some(Strategy {
            level: strategy::Level::Local,
            space: Some(Space::Local),
        }),
        carries: Vec::new(),
        body,
        outputs: vec![Output::Map],
    };
    code.push(vec![shared], Expression::Operation(operation));
    shared
}

/// Computes the elements of a tile. Returns the start and the elements of the tile, for each array
/// of the result.
fn compute_halo_tile(
    code: &mut Writer,
    operation: ArrayOperation,
    (first, length): (Atom, Atom),
    (sources, shared): (&[Source], &[Variable]),
) -> Vec<Atom> {
    let ArrayOperation {
        shape,
        indices,
        mut body,
        outputs,
        ..
    } = operation;
    let results = std::mem::take(&mut body.results);
    let statements = std::mem::take(&mut body.statements);
    let chunks: Vec<Variable> = results
        .iter()
        .map(|atom| {
            let scalar = code.program.scalar_of(*atom).unwrap_or(Scalar::I64);
            code.fresh_array("chunk", scalar, length)
        })
        .collect();
    let thread = code.fresh("thread", Scalar::I64);
    let own = code.body(|code| {
        bind_indices(code, &indices, &shape, (first, Atom::Variable(thread)));
        let tiles: Vec<Tile> = sources
            .iter()
            .zip(shared)
            .map(|(source, shared)| tile_of_thread(code, source.of, *shared, (&indices, thread)))
            .collect();
        read_there(code, statements, &tiles, &mut Places::new());
        results
    });
    code.map_threads(chunks.clone(), (length, thread), own, outputs, None);
    let chunks = chunks.into_iter();
    chunks
        .flat_map(|chunk| [first, Atom::Variable(chunk)])
        .collect()
}

/// Binds the indices of an element of a tile.
fn bind_indices(
    code: &mut Writer,
    indices: &[Variable],
    shape: &[Atom],
    (first, thread): (Atom, Atom),
) {
    let mut rest = (ScalarOperation::Add, [first, thread]);
    for (k, (index, extent)) in indices.iter().zip(shape).enumerate().rev() {
        if k == 0 {
            let (operation, operands) = rest;
            return bind_index(code, *index, operation, operands);
        }
        let (operation, [left, right]) = rest;
        let number = code.scalar(operation, left, right);
        bind_index(code, *index, ScalarOperation::Remainder, [number, *extent]);
        rest = (ScalarOperation::Divide, [number, *extent]);
    }
}

fn bind_index(code: &mut Writer, index: Variable, operation: ScalarOperation, operands: [Atom; 2]) {
    let expression = Expression::Scalar {
        operation,
        operand: Scalar::I64,
        arguments: operands.to_vec(),
    };
    code.push(vec![index], expression);
}

/// Returns the halo tile of an array, as a thread reads it.
fn tile_of_thread(
    code: &mut Writer,
    of: &Neighbours,
    shared: Variable,
    (indices, thread): (&[Variable], Variable),
) -> Tile {
    let last = of.reach.len().saturating_sub(1);
    let begins = indices.iter().zip(&of.reach).enumerate();
    let begins = begins.map(|(k, (index, (low, _)))| {
        let own = match k == last {
            true => Atom::Variable(thread),
            false => constant(0),
        };
        let place = code.scalar(ScalarOperation::Subtract, own, constant(*low));
        code.scalar(ScalarOperation::Subtract, place, Atom::Variable(*index))
    });
    let begins = begins.collect();
    Tile {
        array: of.array,
        shared,
        begins,
    }
}

/// Writes statements; those that read elements of arrays in halo tiles read local memory.
fn read_there(code: &mut Writer, statements: Vec<Statement>, tiles: &[Tile], places: &mut Places) {
    for mut statement in statements {
        bodies_mut(&mut statement.expression, &mut |inner| {
            let own = std::mem::take(&mut inner.statements);
            let mut places = places.clone();
            let (statements, ()) =
                nova_diag::deep(|| code.apart(|code| read_there(code, own, tiles, &mut places)));
            inner.statements = statements;
        });
        if let Expression::Index { array, indices } = &mut statement.expression
            && let Some(tile) = tiles.iter().find(|tile| tile.array == *array)
        {
            *indices = places_in(code, tile, indices, places);
            *array = tile.shared;
        }
        code.out.push(statement);
    }
}

/// Returns the indices in local memory of the element with these indices in an array.
fn places_in(code: &mut Writer, tile: &Tile, indices: &[Atom], places: &mut Places) -> Vec<Atom> {
    let mut own = Vec::with_capacity(indices.len());
    for (k, (index, begin)) in indices.iter().zip(&tile.begins).enumerate() {
        let key = match index {
            Atom::Variable(variable) => Some((tile.shared, k, *variable)),
            Atom::Constant(_) => None,
        };
        let known = key.and_then(|key| places.get(&key).copied());
        let place = match known {
            Some(place) => place,
            None => code.scalar(ScalarOperation::Add, *index, *begin),
        };
        if let Some(key) = key {
            places.insert(key, place);
        }
        own.push(place);
    }
    // The last dimension comes first.
    own.rotate_right(1);
    own
}
