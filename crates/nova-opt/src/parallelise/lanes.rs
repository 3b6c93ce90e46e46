//! Reductions in lanes, for devices: where no order changes the result, or any will do, neighbouring
//! threads take neighbouring indices, so that what the threads of a warp read at a time lies together
//! in memory. The indices are cut into blocks of which [`LANES`] threads take every [`LANES`]th each:
//! thread `l` of block `b` reduces the indices `b * size + l`, `b * size + l + 32`, …, from a value that
//! changes nothing, and writes what it gets to element `b * 32 + l` of an array. Arrays of partial
//! results are reduced in the same way until so few values are left that the host reduces them
//! sooner than a kernel would begin.
//!
//! Blocks, and no steps of the number of all threads, since a thread of a processor, which is a device
//! too, then finds what its lane reads in the cache, where the lane before has brought it.
//!
//! What depends on the order ([`Freedom::Strict`]), or has no value that changes nothing, has a thread
//! for each part ([`super::ordered`]); so have rows, whose parts have as many elements
//! ([`super::chunking`]), loops inside, which may become tiles, and operations that give arrays as well.

use super::Parallelism;
use super::chunking::Bounds;
use super::code::Code;
use super::ordered::{Freedom, freedom};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{ArrayOperation, Atom, Body, Bracketing, Expression, Level, Output, Variable};

/// How many threads share a block: those of a warp, whose reads the memory serves together. A power of
/// two.
pub const LANES: i64 = 1 << LANES_SHIFT;
const LANES_SHIFT: i64 = 5;

/// The number of blocks at most: as many lanes as a large device runs at a time. More of them would
/// only leave more values.
const BLOCKS: i64 = 1 << 12;

/// The number of values a thread takes that reduces partial results: an estimate of how many it reads one
/// after the other while one kernel more would start.
const TAKEN: i64 = 32;

/// How many times as many values as rounds are worth a thread the host reduces by itself: an estimate
/// of what it does while a kernel would start.
const ALONE: i64 = 16;

/// The most partial results that the host reduces; where there are more, a kernel does it first.
pub(super) fn alone(parallelism: Parallelism) -> i64 {
    parallelism.grain.saturating_mul(ALONE).max(LANES)
}

/// What the lanes of a reduction have given.
struct Partial {
    /// The number of lanes, and how many there may be.
    count: Atom,
    most: i64,
    /// For each component of the results, what each lane has reduced to.
    arrays: Vec<Variable>,
    /// The reductions of these, which begin as the whole does.
    reductions: Vec<Output>,
}

/// Blocks of indices.
struct Blocks {
    /// The number of indices a block has, a multiple of [`LANES`]; the last may have fewer.
    size: Atom,
    /// The number of blocks, and how many there may be.
    count: Atom,
    most: i64,
}

impl Code<'_> {
    /// True if an operation that may be divided is reduced in lanes: it does nothing else, for each
    /// index of one dimension about as much, and its values may be combined in any order.
    pub(super) fn has_lanes(&self, operation: &ArrayOperation, parallelism: Parallelism) -> bool {
        let is_free = |output: &Output| match output {
            Output::Reduce {
                lambda, bracketing, ..
            } => {
                *bracketing == Bracketing::Whole && freedom(lambda, self.strict) == Freedom::Neutral
            }
            Output::Map
            | Output::Filter { .. }
            | Output::Scan { .. }
            | Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Collect { .. }
            | Output::Join { .. } => false,
        };
        let (cost, rows) = self.cost_by_row(operation);
        parallelism.kernels
            && operation.shape.len() == 1
            && operation.carries.is_empty()
            && !operation.outputs.is_empty()
            && operation.outputs.iter().all(is_free)
            && rows.is_none()
            && cost.loops.is_empty()
            && !cost.unknown
    }

    /// Writes an operation that [has lanes](Code::has_lanes) as kernels whose threads are lanes, and a
    /// reduction of the few values that these leave. `pattern` is what the operation gives.
    pub(super) fn reduce_in_lanes(
        &mut self,
        operation: ArrayOperation,
        pattern: &[Variable],
        parallelism: Parallelism,
    ) {
        let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
        let (cost, _) = self.cost_by_row(&operation);
        let cost = self.cost(&operation, &cost);
        let least = self.quotient_up(Atom::index(parallelism.grain), cost);
        let most = parallelism.parts.clamp(1, BLOCKS);
        let threads = Atom::index(most.saturating_mul(LANES));
        let even = self.quotient_up(n, threads);
        let rounds = self.scalar(ScalarOperation::Maximum, least, even);
        let blocks = self.blocks_of_lanes(n, rounds, most);
        let partial = self.lanes(operation, &blocks);
        self.combine_lanes(partial, pattern, parallelism);
    }

    /// Cuts `n` indices into blocks, at most so many, in which each lane has so many `rounds`.
    fn blocks_of_lanes(&mut self, n: Atom, rounds: Atom, most: i64) -> Blocks {
        let size = self.scalar(ScalarOperation::Multiply, rounds, Atom::index(LANES));
        let count = self.quotient_up(n, size);
        let count = self.within(count, 0, most);
        Blocks { size, count, most }
    }

    /// Writes a grid with a thread for each lane, which reduces the indices of that.
    fn lanes(&mut self, mut operation: ArrayOperation, blocks: &Blocks) -> Partial {
        let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
        let count = self.scalar(ScalarOperation::Multiply, blocks.count, Atom::index(LANES));
        let values = self.values_of(&operation);
        let outputs = operation.outputs.iter_mut();
        let reductions = outputs
            .filter_map(|output| self.divide_reduction(output))
            .collect();
        let arrays: Vec<Variable> = values.iter().map(|v| self.like(*v, vec![count])).collect();
        let thread = self.fresh("thread", Scalar::I64);
        let (statements, ()) = self.apart(|code| {
            let bounds = code.lane_bounds(thread, n, blocks);
            let step = Some(Atom::index(LANES));
            code.restrict_in_steps(operation, &bounds, step, values.clone());
        });
        let body = Body {
            statements,
            results: values.iter().map(|v| Atom::Variable(*v)).collect(),
        };
        let outputs = values.iter().map(|_| Output::Map).collect();
        self.operation(arrays.clone(), count, thread, Level::Grid, body, outputs);
        Partial {
            count,
            most: blocks.most.saturating_mul(LANES),
            arrays,
            reductions,
        }
    }

    /// Variables for what an operation that only reduces gives, in a lane.
    fn values_of(&mut self, operation: &ArrayOperation) -> Vec<Variable> {
        let mut scalars = Vec::new();
        for output in &operation.outputs {
            if let Output::Reduce { start, .. } = output {
                let scalar = |atom: &Atom| self.program.scalar_of(*atom).unwrap_or(Scalar::I64);
                scalars.extend(start.iter().map(scalar));
            }
        }
        scalars
            .into_iter()
            .map(|s| self.fresh("value", s))
            .collect()
    }

    /// The indices of the lane of a thread: the first, and how many there are in steps of [`LANES`].
    fn lane_bounds(&mut self, thread: Variable, n: Atom, blocks: &Blocks) -> Bounds {
        let thread = Atom::Variable(thread);
        let shift = Atom::index(LANES_SHIFT);
        let block = self.scalar(ScalarOperation::ShiftRight, thread, shift);
        let lane = self.scalar(ScalarOperation::BitAnd, thread, Atom::index(LANES - 1));
        let (base, length) = self.even_bounds(block, n, blocks.size);
        let first = self.scalar(ScalarOperation::Add, base, lane);
        // ⌈(length - lane) / LANES⌉, which is 0 where the block ends before the lane.
        let left = self.scalar(ScalarOperation::Subtract, length, lane);
        let left = self.scalar(ScalarOperation::Add, left, Atom::index(LANES - 1));
        let length = self.scalar(ScalarOperation::ShiftRight, left, shift);
        let length = self.scalar(ScalarOperation::Maximum, length, Atom::index(0));
        // Few elements need no blocks.
        let length = match blocks.size {
            Atom::Constant(ScalarValue::I64(size)) => {
                self.scalar(ScalarOperation::Minimum, length, Atom::index(size / LANES))
            }
            Atom::Constant(_) | Atom::Variable(_) => length,
        };
        Bounds {
            first,
            length,
            long_row: None,
        }
    }

    /// Writes the reduction of what lanes have given: by kernels, in lanes again, as long as there are more
    /// values than the host should reduce, and then by the host.
    fn combine_lanes(&mut self, partial: Partial, pattern: &[Variable], parallelism: Parallelism) {
        let partial = match partial.most <= alone(parallelism) {
            true => partial,
            false => self.narrow(partial, parallelism),
        };
        let Partial {
            count,
            arrays,
            reductions,
            ..
        } = partial;
        // There are no more, which tells how few they are.
        let count = self.at_most(count, alone(parallelism));
        let on_host = self.reduction_of(&arrays, count, reductions);
        self.push(pattern.to_vec(), Expression::Operation(on_host));
    }

    /// Reduces what lanes have given in lanes, again and again, until the host can reduce what is left.
    fn narrow(&mut self, partial: Partial, parallelism: Parallelism) -> Partial {
        let Partial {
            count,
            most,
            arrays,
            reductions,
        } = partial;
        let [current, last] = ["count", "count"].map(|name| self.fresh(name, Scalar::I64));
        let in_round = |code: &mut Self, length: Variable| -> Vec<Variable> {
            let shape = vec![Atom::Variable(length)];
            arrays
                .iter()
                .map(|a| code.like(*a, shape.clone()))
                .collect()
        };
        let (states, left) = (in_round(self, current), in_round(self, last));
        let starts = arrays.iter().map(|array| Atom::Variable(*array));
        let mut parameters = vec![(current, count)];
        parameters.extend(states.iter().copied().zip(starts));
        let length = Atom::Variable(current);
        let (statements, many) = self.apart(|code| {
            let alone = Atom::index(alone(parallelism));
            code.compare(ScalarOperation::Greater, length, alone)
        });
        let condition = Body {
            statements,
            results: vec![many],
        };
        let outputs = self.fresh_outputs(&reductions);
        let (statements, results) = self.apart(|code| {
            let operation = code.reduction_of(&states, length, outputs);
            let of_block = TAKEN * LANES;
            let most = most / of_block + i64::from(most % of_block > 0);
            let blocks = code.blocks_of_lanes(length, Atom::index(TAKEN), most);
            let next = code.lanes(operation, &blocks);
            let arrays = next.arrays.into_iter().map(Atom::Variable);
            [next.count].into_iter().chain(arrays).collect()
        });
        let body = Body {
            statements,
            results,
        };
        let mut pattern = vec![last];
        pattern.extend(&left);
        let narrowing = Expression::While {
            parameters,
            condition,
            body,
        };
        self.push(pattern, narrowing);
        Partial {
            count: Atom::Variable(last),
            most: alone(parallelism),
            arrays: left,
            reductions,
        }
    }
}
