//! Nests in blocks, for devices: the threads of a map each reduce over the same extent
//! ([`crate::nest`]), and a work-group takes a block of their indices. Its threads together bring what
//! all need of a tile of the reduction's indices to local memory, each element once, and read it there.
//! Then they go on to the next tile. With one dimension, as for bodies that all attract each other, a
//! thread has one index. With two, as for the product of matrices, it has some in each direction, so
//! that it uses what it reads several times.
//!
//! A thread combines the values of a tile from left to right, beginning with the identity. It adds the
//! result to that of the tiles before, which lies in local memory. So errors of float sums grow with
//! the length of a tile and the number of tiles, not with their product. After the last index, threads
//! compute the last one again and drop the result at the end, so that all of them do the same.
//!
//! In the strict order a tile is a block of that order, of which each thread makes one value. The tree
//! of adjacent pairs combines these in the end.
//!
//! A second kernel does the rest of the map for each index, with the results of the reductions.

mod group;

use crate::chunks::even_bounds;
use crate::limits::STATEMENTS_OF_A_THREAD;
use crate::nest::{INNER, Nest};
use crate::notes::Step;
use crate::plain_kernels::plain_kernel;
use crate::policy::Parallelism;
use crate::way::Way;
use crate::writer::Writer;
use group::{Group, write_group};
use nova_core::order::BLOCK;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Program, Type, Variable,
};
use nova_flat::visit::each_variable;
use nova_machine::{DEVICE, figures};
use std::collections::BTreeSet;

/// The possible numbers of the reduction's indices in a tile, for a map of one dimension. There are no
/// more of these than threads, since a group has as many threads as its longest loop over threads has
/// iterations.
const LINE_TILES: [i64; 2] = figures::TILES.line_tiles;
/// The same for the strict order, in which a tile is a block of docs/order.md.
const STRICT_TILE: i64 = BLOCK as i64;

/// The number of threads of a group in each direction of two dimensions, and the number of the reduction's
/// indices in a tile. Neighbouring threads read from different banks of local memory.
const SIDE: i64 = DEVICE.group_side();
const SIDE_TILE: i64 = figures::TILES.side_tile;
/// The possible numbers of indices that a thread has in each direction.
const EACH: [[i64; 2]; 4] = figures::TILES.each;

/// The sizes of the blocks of a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// The number of threads in each direction, and the number of indices that a thread has in each.
    threads: i64,
    each: Vec<i64>,
    /// The number of the reduction's indices in a tile.
    tile: i64,
}

impl Blocks {
    /// Returns the blocks of a nest, such that its tiles fit into local memory.
    fn of(program: &Program, nest: &Nest) -> Option<Blocks> {
        let bytes = |depends| bytes(program, &nest.given(program, depends));
        let of_inner = bytes(INNER)?;
        let starts = nest.reductions.iter().flat_map(|(_, start)| start.iter());
        let sums: Vec<Option<Scalar>> = starts.map(|start| program.scalar_of(*start)).collect();
        let of_sums = sums.iter().map(|s| Some(i64::from((*s)?.info().bytes)));
        let of_sums: i64 = of_sums.sum::<Option<i64>>()?;
        let fits = |blocks: &Blocks, sides: i64| {
            let values = blocks.values() * blocks.all_threads() * of_sums;
            values + blocks.tile * (of_inner + sides) <= DEVICE.tile_bytes()
        };
        if nest.strict {
            let blocks = Blocks {
                threads: DEVICE.group_threads,
                each: vec![1],
                tile: STRICT_TILE,
            };
            return (STRICT_TILE * of_inner <= DEVICE.tile_bytes()).then_some(blocks);
        }
        if nest.all.count_ones() == 2 {
            let all = LINE_TILES.map(|tile| Blocks {
                threads: DEVICE.row_group_threads,
                each: vec![1],
                tile,
            });
            return all.into_iter().find(|blocks| fits(blocks, 0));
        }
        let sides = [bytes(INNER | 1)?, bytes(INNER | 2)?];
        let statements = (nest.exactly(nest.all).count() + sums.len()) as i64;
        let all = EACH.map(|each| Blocks {
            threads: SIDE,
            each: each.to_vec(),
            tile: SIDE_TILE,
        });
        all.into_iter().find(|blocks| {
            let sides = blocks.block(0) * sides[0] + blocks.block(1) * sides[1];
            fits(blocks, sides) && blocks.values() * statements <= STATEMENTS_OF_A_THREAD
        })
    }

    /// Returns the number of indices of a block in a direction.
    fn block(&self, side: usize) -> i64 {
        self.threads * self.each_of(side)
    }

    /// Returns the number of these indices that a thread has.
    fn each_of(&self, side: usize) -> i64 {
        self.each.get(side).copied().unwrap_or(1)
    }

    /// Returns the number of threads of a group.
    fn all_threads(&self) -> i64 {
        self.each.iter().map(|_| self.threads).product()
    }

    /// Returns the step that is reported for the blocks.
    pub(crate) fn step(&self) -> Step {
        let second = match self.each.len() {
            1 => 1,
            _ => self.block(1),
        };
        Step::Blocks {
            threads: self.all_threads(),
            block: [self.block(0), second],
            tile: self.tile,
        }
    }

    /// Returns the number of results of the reduction that a thread has.
    fn values(&self) -> i64 {
        self.each.iter().product()
    }
}

/// Returns the number of bytes of values, or `None` if one of them is not a number.
fn bytes(program: &Program, values: &[Variable]) -> Option<i64> {
    let bytes = values.iter().map(|v| match program.ty(*v) {
        Type::Scalar(scalar) => Some(i64::from(scalar.info().bytes)),
        Type::Array(..) | Type::Block(_) => None,
    });
    bytes.sum()
}

/// A direction of the blocks.
struct Side {
    index: Variable,
    /// The number of indices in this direction.
    n: Atom,
    /// The first index of the group's block.
    first: Atom,
}

fn constant(number: i64) -> Atom {
    Atom::index(number)
}

/// Returns the exponent of a power of two.
fn shift(power: i64) -> Atom {
    constant(i64::from(power.trailing_zeros()))
}

/// Returns the blocks of an operation that may be parallelised, if it has such.
pub(crate) fn blocking(
    program: &Program,
    operation: &ArrayOperation,
    parallelism: Parallelism,
) -> Option<Blocks> {
    if !parallelism.kernels {
        return None;
    }
    let nest = Nest::of(program, operation, parallelism.strict)?;
    Blocks::of(program, &nest)
}

/// Writes an operation that [has blocks](blocking): in these if there are many indices, else
/// as without them.
pub(crate) fn kernel_in_blocks(
    code: &mut Writer,
    (operation, blocks): (ArrayOperation, &Blocks),
    pattern: &[Variable],
    way: Way,
) {
    let condition = are_many(code, &operation, blocks);
    let copy = code.fresh_whole(&operation);
    code.choose_way(
        pattern,
        condition,
        |code, own| in_blocks(code, copy, blocks, &own),
        |code, own| {
            plain_kernel(code, operation, &own, way);
        },
    );
}

/// True if there are so many indices that blocks of them are worth it.
fn are_many(code: &mut Writer, operation: &ArrayOperation, blocks: &Blocks) -> Atom {
    let nest = Nest::of(code.program, operation, code.parallelism.strict);
    let is_strict = nest.as_ref().is_some_and(|nest| nest.strict);
    let extent = nest.and_then(|nest| nest.inner.shape.first().copied());
    let iterations = extent.unwrap_or(constant(0));
    let grain = constant(code.parallelism.grain);
    let many = code.parallelism.grain.saturating_mul(DEVICE.groups_from);
    let most = constant(i64::from(i32::MAX));
    let mut product = constant(1);
    let mut worth = code.compare(ScalarOperation::GreaterEqual, iterations, grain);
    for (side, n) in operation.shape.iter().enumerate() {
        let capped = code.scalar(ScalarOperation::Minimum, *n, most);
        product = code.scalar(ScalarOperation::Multiply, product, capped);
        if operation.shape.len() > 1 {
            let half = constant(blocks.block(side) / 2);
            let enough = code.compare(ScalarOperation::GreaterEqual, *n, half);
            worth = code.both(worth, enough);
        }
    }
    if is_strict {
        let iterations = code.scalar(ScalarOperation::Minimum, iterations, most);
        let tiles = code.quotient_up(iterations, constant(STRICT_TILE));
        let values = code.scalar(ScalarOperation::Multiply, product, tiles);
        let fit = code.compare(
            ScalarOperation::LessEqual,
            values,
            constant(DEVICE.kept_values),
        );
        worth = code.both(worth, fit);
    }
    let least = match operation.shape.len() {
        1 => many,
        _ => many.saturating_mul(SIDE),
    };
    let enough = code.compare(ScalarOperation::GreaterEqual, product, constant(least));
    code.both(worth, enough)
}

/// Writes an operation in blocks: a kernel of groups for the reduction, and one with a thread for
/// each index for the rest, if there is any.
fn in_blocks(
    code: &mut Writer,
    mut operation: ArrayOperation,
    blocks: &Blocks,
    pattern: &[Variable],
) {
    let Some(nest) = Nest::of(code.program, &operation, code.parallelism.strict) else {
        return code.push(pattern.to_vec(), Expression::Operation(operation));
    };
    let position = nest.position;
    let statement = operation.body.statements.get(position);
    let own = statement.map(|s| s.pattern.clone()).unwrap_or_default();
    let is_last = position + 1 == operation.body.statements.len();
    if blocks.each.len() == 1 && is_last && gives(&operation.body, &own) {
        sums_of_nest(code, &nest, &operation, blocks, (&own, Some(pattern)));
        return;
    }
    let sums = sums_of_nest(code, &nest, &operation, blocks, (&own, None));
    let (read, ()) = code.apart(|code| read_sums(code, &operation, blocks, (own, &sums)));
    let statements = &mut operation.body.statements;
    statements.splice(position..=position, read);
    drop_unused(code.program, &mut operation.body, position);
    operation.level = Level::Grid;
    code.push(pattern.to_vec(), Expression::Operation(operation));
}

/// Binds variables to the results of the reduction for an index of the operation. With two
/// dimensions there is an array for each index that a thread has, in which the threads of all
/// groups stand in order.
fn read_sums(
    code: &mut Writer,
    operation: &ArrayOperation,
    blocks: &Blocks,
    (own, sums): (Vec<Variable>, &[Variable]),
) {
    let index = |side: usize| operation.indices.get(side).map(|v| Atom::Variable(*v));
    let across = operation.shape.get(1).copied();
    let (Some(row), Some(column), Some(across)) = (index(0), index(1), across) else {
        let at = index(0).unwrap_or(constant(0));
        for (value, array) in own.into_iter().zip(sums) {
            let (array, indices) = (*array, vec![at]);
            code.push(vec![value], Expression::Index { array, indices });
        }
        return;
    };
    let across = code.quotient_up(across, constant(blocks.block(1)));
    let [mut group, mut thread, mut slot] = [constant(0); 3];
    for (side, (index, times)) in [(row, constant(1)), (column, across)]
        .into_iter()
        .enumerate()
    {
        let size = blocks.block(side);
        let block = code.scalar(ScalarOperation::ShiftRight, index, shift(size));
        let within = code.scalar(ScalarOperation::BitAnd, index, constant(size - 1));
        let own_slot = code.scalar(ScalarOperation::ShiftRight, within, shift(SIDE));
        let own = code.scalar(ScalarOperation::BitAnd, within, constant(SIDE - 1));
        group = times_plus(code, group, times, block);
        thread = times_plus(code, thread, constant(SIDE), own);
        slot = times_plus(code, slot, constant(blocks.each_of(side)), own_slot);
    }
    let at = times_plus(code, group, constant(blocks.all_threads()), thread);
    let cases = sums
        .chunks(own.len().max(1))
        .map(|arrays| code.body(|code| arrays.iter().map(|a| code.element(*a, at)).collect()));
    let cases = cases.collect();
    let to = ScalarOperation::Wrap(Scalar::I32);
    let scrutinee = code.compute(to, Scalar::I64, &[slot], Scalar::I32);
    code.push(own, Expression::Switch { scrutinee, cases });
}

/// `a * b + c`.
fn times_plus(code: &mut Writer, a: Atom, b: Atom, c: Atom) -> Atom {
    let product = code.scalar(ScalarOperation::Multiply, a, b);
    code.scalar(ScalarOperation::Add, product, c)
}

/// Writes the kernel of groups, which gives arrays of the results of the reduction. With one
/// dimension, an array has an element for each index. With two, it has one for each thread of each
/// group, and there is an array for each index that a thread has. `own` are variables like the
/// results; `arrays` are those to be bound, if they are known.
fn sums_of_nest(
    code: &mut Writer,
    nest: &Nest,
    operation: &ArrayOperation,
    blocks: &Blocks,
    (own, arrays): (&[Variable], Option<&[Variable]>),
) -> Vec<Variable> {
    let mut counts = Vec::new();
    for (side, n) in operation.shape.iter().enumerate() {
        let count = code.quotient_up(*n, constant(blocks.block(side)));
        counts.push(code.scalar(ScalarOperation::Maximum, count, constant(0)));
    }
    let mut groups = constant(1);
    for count in &counts {
        groups = code.scalar(ScalarOperation::Multiply, groups, *count);
    }
    let extent = match operation.shape.as_slice() {
        [n] => *n,
        _two => code.scalar(
            ScalarOperation::Multiply,
            groups,
            constant(blocks.all_threads()),
        ),
    };
    let length = nest.inner.shape.first().copied().unwrap_or(constant(0));
    let tiles = code.quotient_up(length, constant(blocks.tile));
    let arrays: Vec<Variable> = match arrays {
        Some(arrays) => arrays.to_vec(),
        None => {
            let all: Vec<Variable> = (0..blocks.values()).flat_map(|_| own.to_vec()).collect();
            sums_like(code, &all, extent)
        }
    };
    let number = code.fresh("group", Scalar::I64);
    let body = code.body(|code| {
        let sides = sides(code, operation, blocks, (number, &counts));
        let group = Group {
            nest,
            blocks,
            number,
            own,
            sides,
            length,
            tiles,
        };
        write_group(code, &group)
    });
    let join = |_: &Variable| Output::Join {
        shape: vec![extent],
    };
    let outputs = arrays.iter().map(join).collect();
    code.map_groups(arrays.clone(), (groups, number), Vec::new(), body, outputs);
    arrays
}

/// Computes the directions of the block of a group.
fn sides(
    code: &mut Writer,
    operation: &ArrayOperation,
    blocks: &Blocks,
    (number, counts): (Variable, &[Atom]),
) -> Vec<Side> {
    let number = Atom::Variable(number);
    let places = match counts {
        [_, across] => {
            let across = code.scalar(ScalarOperation::Maximum, *across, constant(1));
            let row = code.scalar(ScalarOperation::Divide, number, across);
            let column = code.scalar(ScalarOperation::Remainder, number, across);
            vec![row, column]
        }
        _one => vec![number],
    };
    let mut sides = Vec::with_capacity(places.len());
    let all = operation.shape.iter().zip(&operation.indices);
    for (side, (place, (n, index))) in places.into_iter().zip(all).enumerate() {
        let (first, _) = even_bounds(code, place, *n, constant(blocks.block(side)));
        sides.push(Side {
            index: *index,
            n: *n,
            first,
        });
    }
    sides
}

/// Creates arrays for sums, with elements like those of these variables.
fn sums_like(code: &mut Writer, all: &[Variable], extent: Atom) -> Vec<Variable> {
    let of_element = |like: &Variable| {
        let element = code.program.ty(*like).element();
        code.fresh_array("sums", element, extent)
    };
    all.iter().map(of_element).collect()
}

fn variable_of(atom: &Atom) -> Option<Variable> {
    match atom {
        Atom::Variable(variable) => Some(*variable),
        Atom::Constant(_) => None,
    }
}

/// True if a body gives these variables, in order.
fn gives(body: &Body, variables: &[Variable]) -> bool {
    let results = body.results.iter().map(variable_of);
    results.eq(variables.iter().map(|v| Some(*v)))
}

/// Removes those of the first statements of a body, which only compute, that are not used.
fn drop_unused(program: &Program, body: &mut Body, first: usize) {
    for position in (0..first).rev() {
        let mut used = BTreeSet::new();
        each_variable(program, body, &mut |_| {}, &mut |v| {
            used.insert(v);
        });
        let statement = body.statements.get(position);
        let unused = statement.is_some_and(|s| !s.pattern.iter().any(|v| used.contains(v)));
        if unused {
            body.statements.remove(position);
        }
    }
}
