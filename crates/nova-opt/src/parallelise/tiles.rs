//! Scans and filters in tiles, for devices: where no order changes the result, or any will do, a
//! work-group takes a tile of neighbouring indices, whose values its threads compute in turn, so that
//! what the threads of a warp read at a time lies together in memory, and keep in memory of the group.
//! There each thread has a few neighbouring values.
//!
//! All of it is said by strategies (dpia.txt §6.2) that a program could say itself: `map_workgroup` over
//! tiles, in which `map_local` makes arrays `to_local`. So nothing is believed of these kernels that is
//! not proved of all others.
//!
//! What depends on the order ([`Freedom::Strict`]), or has no value that changes nothing, has a thread
//! for each part ([`super::chunked_scans`]); so have bodies that do more than compute numbers, or are dear.

mod filters;
mod scans;

use super::Parallelism;
use super::chunked_scans::{MOST_EXPENSIVE, is_scan};
use super::code::Code;
use super::cost::Cost;
use super::group::THREADS;
use super::ordered::{Freedom, freedom, is_exact};
use filters::COUNT;
use nova_core::strategy::Space;
use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Program, Variable};
use nova_flat::operators::by_component;
use nova_flat::visit::each_statement;

/// How many values of a tile a thread has at most, and at least. Odd numbers: threads that read at odd
/// distances read from different banks of the group's memory.
const MOST: i64 = 9;
const LEAST: i64 = 1;

/// Bytes of a group's memory for what grows with the number of threads: 32 KB are what any device of
/// OpenCL has, and the sums of sixteen threads are small.
const BYTES: i64 = 28 << 10;

/// The tiles of an operation.
struct Tiles {
    /// The number of indices, and how many a tile has; the last may have fewer.
    n: Atom,
    size: i64,
    /// How many values of a tile a thread has.
    each: i64,
    count: Atom,
}

/// The tile of a group.
struct Tile {
    number: Variable,
    /// Its first index, and how many it has.
    first: Atom,
    length: Atom,
}

/// How many bytes of a group's memory an operation has for each index of a tile: for each running
/// result its values and what they come to, of a filter whether and as which an element is kept, and
/// what it is.
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

/// How many values of a tile a thread has, if there is room for as many in the memory of a group.
fn values_of_thread(program: &Program, operation: &ArrayOperation) -> Option<i64> {
    // Beside its values, a thread has their sum and what it begins with.
    let bytes = bytes_of_index(program, operation).saturating_mul(THREADS);
    let mut odd = (LEAST..=MOST).rev().step_by(2);
    odd.find(|each| bytes.saturating_mul(each + 1) <= BYTES)
}

/// The number of indices a tile of an operation has that [has tiles](Code::has_tiles).
pub(super) fn tile_size(program: &Program, operation: &ArrayOperation) -> i64 {
    values_of_thread(program, operation).unwrap_or(LEAST) * THREADS
}

/// True if a body only computes numbers, reads arrays and checks.
pub(super) fn computes_numbers(body: &Body) -> bool {
    let mut all = true;
    each_statement(body, &mut |statement| {
        all &= match &statement.expression {
            Expression::Atom(_)
            | Expression::Scalar { .. }
            | Expression::Index { .. }
            | Expression::View { .. }
            | Expression::Check { .. }
            | Expression::Fail { .. }
            | Expression::If { .. }
            | Expression::Switch { .. } => true,
            _makes_more => false,
        };
    });
    all
}

/// True if an operation only keeps elements.
pub(super) fn is_filter(operation: &ArrayOperation) -> bool {
    operation.carries.is_empty() && matches!(operation.outputs[..], [Output::Filter { .. }])
}

/// True if the groups of an operation that [has tiles](Code::has_tiles) hand on what their tiles come to,
/// in one pass: the device can do that, no order makes a difference, so that results are the same in
/// each run, and no group can fail while others wait for it.
pub(super) fn takes_turns(operation: &ArrayOperation, parallelism: Parallelism) -> bool {
    let is_plain = |output: &Output| match output {
        Output::Scan { lambda, .. } => by_component(lambda)
            .is_some_and(|all| all.iter().all(|operator| operator.bound.is_none())),
        // To count is a reduction.
        Output::Filter { values } => *values > 0,
        Output::Map
        | Output::Reduce { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => true,
    };
    parallelism.turns
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

impl Code<'_> {
    /// True if an operation that may be divided is a scan or a filter in tiles: it makes arrays of running
    /// results or with these, or of what it keeps; it does for each index of one dimension about as much,
    /// and so little that it may be done again; and its values may be combined in any order.
    pub(super) fn has_tiles(&self, operation: &ArrayOperation, parallelism: Parallelism) -> bool {
        let is_free = |output: &Output| match output {
            Output::Map => true,
            Output::Scan { lambda, .. } => freedom(lambda, self.strict) == Freedom::Neutral,
            Output::Reduce { .. }
            | Output::Filter { .. }
            | Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Collect { .. }
            | Output::Join { .. } => false,
        };
        let (cost, rows): (Cost, _) = self.cost_by_row(operation);
        let runs = !operation.carries.is_empty() || operation.outputs.iter().any(is_scan);
        let runs = runs && !operation.outputs.is_empty();
        parallelism.kernels
            && operation.shape.len() == 1
            && (is_filter(operation) || runs && operation.outputs.iter().all(is_free))
            && rows.is_none()
            && cost.loops.is_empty()
            && !cost.unknown
            && cost.fixed <= MOST_EXPENSIVE
            && computes_numbers(&operation.body)
            && values_of_thread(self.program, operation).is_some()
    }

    /// Writes an operation that [has tiles](Code::has_tiles) as two grids of groups, and what is between
    /// them. `pattern` is what the operation gives.
    pub(super) fn in_tiles(
        &mut self,
        operation: ArrayOperation,
        pattern: &[Variable],
        parallelism: Parallelism,
    ) {
        match is_filter(&operation) {
            true => self.filter_in_tiles(&operation, pattern, parallelism),
            false => self.scan_in_tiles(operation, pattern, parallelism),
        }
    }

    /// The tiles of an operation.
    fn tiles(&mut self, operation: &ArrayOperation) -> Tiles {
        let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
        let size = tile_size(self.program, operation);
        let count = self.quotient_up(n, Atom::index(size));
        Tiles {
            n,
            size,
            each: size / THREADS,
            count: self.within(count, 0, i64::MAX / size),
        }
    }

    fn tile(&mut self, number: Variable, tiles: &Tiles) -> Tile {
        let size = Atom::index(tiles.size);
        let (first, length) = self.even_bounds(Atom::Variable(number), tiles.n, size);
        Tile {
            number,
            first,
            length,
        }
    }

    /// Arrays of the group of what `compute` gives for each index of a tile, and of other values behind
    /// the last one. There the last one is computed again, so that all threads do the same, which costs
    /// nothing.
    fn fill_tile(
        &mut self,
        arrays: &[Variable],
        tile: &Tile,
        behind: Vec<Atom>,
        compute: impl FnOnce(&mut Self, Atom) -> Vec<Atom>,
    ) {
        let index = self.fresh("j", Scalar::I64);
        let values = self.scalars_like(arrays, "value");
        let body = self.body(|code| {
            let inside = code.compare(ScalarOperation::Less, Atom::Variable(index), tile.length);
            let last = code.scalar(ScalarOperation::Subtract, tile.length, Atom::index(1));
            let at = code.scalar(ScalarOperation::Minimum, Atom::Variable(index), last);
            let computed = compute(code, at);
            code.choose(values.clone(), inside, |_| computed, |_| behind);
            values.into_iter().map(Atom::Variable).collect()
        });
        let outputs = arrays.iter().map(|_| Output::Map).collect();
        let extents = arrays.first().map(|array| self.program.ty(*array).shape());
        let size = extents.and_then(|extents| extents.first()).copied();
        let indices = (size.unwrap_or(Atom::index(0)), index);
        self.map_threads(arrays.to_vec(), indices, body, outputs, Some(Space::Local));
    }

    /// The statements of the body of an operation at an index of a tile.
    fn compute_at(&mut self, mut operation: ArrayOperation, tile: &Tile, index: Atom) {
        if let Some(whole) = operation.indices.first() {
            let sum = Expression::Scalar {
                operation: ScalarOperation::Add,
                operand: Scalar::I64,
                arguments: vec![tile.first, index],
            };
            self.push(vec![*whole], sum);
        }
        self.out.append(&mut operation.body.statements);
    }
}
