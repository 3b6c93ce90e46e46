//! Scans and filters in tiles, for devices, if their order is free. A work-group takes a tile of
//! neighbouring indices. Its threads compute the values of the tile in a coalesced manner: what the
//! threads of a warp read at a time lies together in memory. They store the values in local memory,
//! where each thread has a few neighbouring values.
//!
//! All of it is expressed in strategies (dpia.txt §6.2) that a program could state itself:
//! `map_workgroup` over tiles, in which `map_local` makes arrays `to_local`. So nothing is assumed of
//! these kernels that is not proved, as it is of all others.
//!
//! Operations that depend on the order ([`Freedom::Strict`]), or whose operator has no known identity,
//! have a thread for each chunk ([`crate::chunked_scans`]). So do operations with bodies that do more
//! than compute numbers, or are expensive.

mod filters;
mod scans;

use crate::chunks::even_bounds;
use crate::cost::{COMPUTED_TWICE, Cost, cost_by_row};
use crate::group::THREADS;
use crate::policy::Parallelism;
use crate::writer::Writer;
use filters::{COUNT, filter_in_tiles};
use nova_core::strategy::Space;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::freedom::{Freedom, freedom, is_exact};
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Program, Variable};
use nova_flat::kinds::{computes_numbers, is_scan};
use nova_flat::operators::by_component;
use nova_flat::visit::each_statement;
use nova_machine::{DEVICE, figures};
use scans::scan_in_tiles;

/// The most values of a tile that a thread has, and the fewest. They are odd, since threads that read at
/// odd distances read from different banks of local memory.
const VALUES: i64 = figures::TILES.values;
const FEWEST_VALUES: i64 = figures::TILES.fewest_values;
/// The most values in a single pass. Larger tiles are faster there, since prefixes pass from tile to tile
/// at a limited rate. On an H200, running sums of 2²⁸ integers took 1.27 times as long with 9 values.
const SINGLE_PASS_VALUES: i64 = figures::TILES.single_pass_values;

/// The tiles of an operation.
struct Tiles {
    /// The number of indices, and the number of indices of a tile; the last tile may have fewer.
    n: Atom,
    size: i64,
    /// The number of values of a tile that a thread has.
    each: i64,
    count: Atom,
}

/// The tile of a group.
struct Tile {
    number: Variable,
    /// The first index of the tile, and the number of its indices.
    first: Atom,
    length: Atom,
}

/// Returns the bytes of local memory that an operation needs for each index of a tile. A running result
/// needs its values and the results. A filter needs a flag and a running count, and the element itself.
fn bytes_of_index(program: &Program, operation: &ArrayOperation) -> i64 {
    let bytes = |atom: &Atom| {
        let scalar = program.scalar_of(*atom).unwrap_or(Scalar::I64);
        i64::from(scalar.info().bytes)
    };
    let mut sum: i64 = operation.carries.iter().map(|(_, s)| 2 * bytes(s)).sum();
    let mut results = operation.body.results.iter().skip(operation.carries.len());
    for output in &operation.outputs {
        let consumed = results.by_ref().take(output.consumes());
        sum += match output {
            Output::Scan { .. } => consumed.map(|value| 2 * bytes(value)).sum::<i64>(),
            Output::Filter { .. } => {
                let counts = 2 * i64::from(COUNT.info().bytes);
                counts + consumed.skip(1).map(bytes).sum::<i64>()
            }
            Output::Map
            | Output::Reduce { .. }
            | Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Collect { .. }
            | Output::Join { .. } => {
                consumed.for_each(drop);
                0
            }
        };
    }
    sum
}

/// Returns the number of values of a tile that a thread has, if there is room for them in local memory.
fn values_of_thread(
    program: &Program,
    operation: &ArrayOperation,
    single_pass: bool,
) -> Option<i64> {
    let (most, room) = match single_pass {
        true => (SINGLE_PASS_VALUES, DEVICE.single_pass_tile_bytes()),
        false => (VALUES, DEVICE.tile_bytes()),
    };
    // Besides its values, a thread has their sum and the value with which it begins.
    let bytes = bytes_of_index(program, operation).saturating_mul(THREADS);
    let mut odd = (FEWEST_VALUES..=most).rev().step_by(2);
    odd.find(|each| bytes.saturating_mul(each + 1) <= room)
}

/// Returns the number of indices of a tile, for an operation that [has tiles](has_tiles).
pub(crate) fn tile_size(program: &Program, operation: &ArrayOperation, single_pass: bool) -> i64 {
    values_of_thread(program, operation, single_pass).unwrap_or(FEWEST_VALUES) * THREADS
}

/// True if an operation is a filter, and nothing else.
pub(crate) fn is_filter(operation: &ArrayOperation) -> bool {
    operation.carries.is_empty() && matches!(operation.outputs[..], [Output::Filter { .. }])
}

/// True if an operation that [has tiles](has_tiles) runs in a single pass, in which groups
/// propagate prefixes in ordered regions. The device must support that. No order may change the
/// results, so that they are the same in each run. No group may fail while others wait for it.
pub(crate) fn is_single_pass(operation: &ArrayOperation, parallelism: Parallelism) -> bool {
    let is_plain = |output: &Output| match output {
        Output::Scan { lambda, .. } => by_component(lambda)
            .is_some_and(|all| all.iter().all(|operator| operator.bound.is_none())),
        // A filter without values counts, which is a reduction.
        Output::Filter { values } => *values > 0,
        Output::Map
        | Output::Reduce { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => true,
    };
    parallelism.ordered
        && !may_fail(&operation.body)
        && is_exact(operation)
        && operation.outputs.iter().all(is_plain)
}

/// True if a body checks something.
fn may_fail(body: &Body) -> bool {
    let mut fails = false;
    each_statement(body, &mut |statement| {
        let expression = &statement.expression;
        fails |= matches!(
            expression,
            Expression::Check { .. } | Expression::Fail { .. }
        );
    });
    fails
}

/// True if an operation that may be parallelised is a scan or a filter in tiles. It makes arrays of
/// running results or with these, or arrays of survivors. It does about the same work for each
/// index of one dimension, and so little that it may be done again. Its values may be combined in
/// any order.
pub(crate) fn has_tiles(
    program: &Program,
    operation: &ArrayOperation,
    parallelism: Parallelism,
) -> bool {
    let is_free = |output: &Output| match output {
        Output::Map => true,
        Output::Scan { lambda, .. } => freedom(lambda, parallelism.strict) == Freedom::Neutral,
        _others => false,
    };
    let (cost, rows): (Cost, _) = cost_by_row(program, operation, parallelism.strict);
    let runs = !operation.carries.is_empty() || operation.outputs.iter().any(is_scan);
    let runs = runs && !operation.outputs.is_empty();
    parallelism.kernels
        && operation.shape.len() == 1
        && (is_filter(operation) || runs && operation.outputs.iter().all(is_free))
        && rows.is_none()
        && cost.loops.is_empty()
        && !cost.unknown
        && cost.fixed <= COMPUTED_TWICE
        && computes_numbers(&operation.body)
        && values_of_thread(program, operation, is_single_pass(operation, parallelism)).is_some()
}

/// Writes an operation that [has tiles](has_tiles): as two grids of groups with the steps
/// between them, or as one grid in a [single pass](is_single_pass). `pattern` is what the operation
/// binds.
pub(crate) fn in_tiles(code: &mut Writer, operation: ArrayOperation, pattern: &[Variable]) {
    match is_filter(&operation) {
        true => filter_in_tiles(code, &operation, pattern),
        false => scan_in_tiles(code, operation, pattern),
    }
}

/// Computes the tiles of an operation.
fn tiles(code: &mut Writer, operation: &ArrayOperation, single_pass: bool) -> Tiles {
    let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
    let size = tile_size(code.program, operation, single_pass);
    let count = code.quotient_up(n, Atom::index(size));
    Tiles {
        n,
        size,
        each: size / THREADS,
        count: code.within(count, 0, i64::MAX / size),
    }
}

fn tile(code: &mut Writer, number: Variable, tiles: &Tiles) -> Tile {
    let size = Atom::index(tiles.size);
    let (first, length) = even_bounds(code, Atom::Variable(number), tiles.n, size);
    Tile {
        number,
        first,
        length,
    }
}

/// Fills arrays of the group with what `compute` gives for each index of a tile, and with `padding`
/// after the last index. There the last index is computed again, so that all threads do the same,
/// at no cost.
fn fill_tile(
    code: &mut Writer,
    arrays: &[Variable],
    tile: &Tile,
    padding: Vec<Atom>,
    compute: impl FnOnce(&mut Writer, Atom) -> Vec<Atom>,
) {
    let index = code.fresh("j", Scalar::I64);
    let values = code.scalars_like(arrays, "value");
    let body = code.body(|code| {
        let inside = code.compare(ScalarOperation::Less, Atom::Variable(index), tile.length);
        let last = code.scalar(ScalarOperation::Subtract, tile.length, Atom::index(1));
        let at = code.scalar(ScalarOperation::Minimum, Atom::Variable(index), last);
        let computed = compute(code, at);
        code.choose(values.clone(), inside, |_| computed, |_| padding);
        values.into_iter().map(Atom::Variable).collect()
    });
    let outputs = arrays.iter().map(|_| Output::Map).collect();
    let extents = arrays.first().map(|array| code.program.ty(*array).shape());
    let size = extents.and_then(|extents| extents.first()).copied();
    let indices = (size.unwrap_or(Atom::index(0)), index);
    code.map_threads(arrays.to_vec(), indices, body, outputs, Some(Space::Local));
}

/// Writes the statements of the body of an operation at an index of a tile.
fn compute_at(code: &mut Writer, mut operation: ArrayOperation, tile: &Tile, index: Atom) {
    if let Some(whole) = operation.indices.first() {
        let sum = Expression::Scalar {
            operation: ScalarOperation::Add,
            operand: Scalar::I64,
            arguments: vec![tile.first, index],
        };
        code.push(vec![*whole], sum);
    }
    code.out.append(&mut operation.body.statements);
}
