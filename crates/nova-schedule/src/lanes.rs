//! Reductions in lanes, for devices, if their order is free. Neighbouring threads take neighbouring
//! indices, so that what the threads of a warp read at a time lies together in memory. The indices form
//! blocks, of which [`LANES`] threads take every [`LANES`]th each. Thread `l` of block `b` reduces the
//! indices `b * size + l`, `b * size + l + 32`, …, beginning with the identity. It writes the result to
//! element `b * 32 + l` of an array. Arrays of partial results are reduced in the same way, until so
//! few values are left that the host reduces them sooner than a kernel would begin.
//!
//! Blocks are used and not strides of the number of all threads, for processors, which are devices,
//! too. A thread of a processor then finds what its lane reads in the cache, where the lane before has
//! brought it.
//!
//! Operations that depend on the order ([`Freedom::Strict`]), or whose operator has no known identity,
//! have a thread for each chunk ([`crate::ordered`]). So do rows, whose chunks have the same number of
//! elements ([`crate::chunking`]), operations with loops inside, which may become tiles, and operations
//! that give arrays as well.

use crate::chunks::{Bounds, even_bounds};
use crate::cost::cost_by_row;
use crate::costs::cost_of_index;
use crate::grid::{reduction_of, restrict_in_steps};
use crate::ordered::parallelise_reduction;
use crate::policy::Parallelism;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::freedom::{Freedom, freedom};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Level, Output, Program, Variable,
};
use nova_machine::DEVICE;

/// The number of threads that share a block: those of a warp.
pub const LANES: i64 = DEVICE.warp;

/// Returns the most partial results that the host reduces. If there are more, a kernel reduces them
/// first.
pub(crate) fn alone(parallelism: Parallelism) -> i64 {
    parallelism
        .grain
        .saturating_mul(DEVICE.launch_work)
        .max(LANES)
}

/// The partial results of the lanes of a reduction.
struct Partial {
    /// The number of lanes, and the most that there may be.
    count: Atom,
    most: i64,
    /// For each component of the results, the partial result of each lane.
    arrays: Vec<Variable>,
    /// The reductions of these, which start as the whole does.
    reductions: Vec<Output>,
}

/// Blocks of indices.
struct Blocks {
    /// The number of indices of a block, a multiple of [`LANES`]; the last block may have fewer.
    size: Atom,
    /// The number of blocks, and the most that there may be.
    count: Atom,
    most: i64,
}

/// True if an operation that may be parallelised is reduced in lanes. It does nothing else, it does
/// about the same work for each index of one dimension, and its values may be combined in any
/// order.
pub(crate) fn has_lanes(
    program: &Program,
    operation: &ArrayOperation,
    parallelism: Parallelism,
) -> bool {
    let is_free = |output: &Output| match output {
        Output::Reduce {
            lambda, bracketing, ..
        } => {
            *bracketing == Bracketing::Whole
                && freedom(lambda, parallelism.strict) == Freedom::Neutral
        }
        _others => false,
    };
    let (cost, rows) = cost_by_row(program, operation, parallelism.strict);
    parallelism.kernels
        && operation.shape.len() == 1
        && operation.carries.is_empty()
        && !operation.outputs.is_empty()
        && operation.outputs.iter().all(is_free)
        && rows.is_none()
        && cost.loops.is_empty()
        && !cost.unknown
}

/// Writes an operation that [has lanes](has_lanes) as kernels whose threads are lanes, and a
/// reduction of the few values that these leave. `pattern` is what the operation binds.
pub(crate) fn reduce_in_lanes(code: &mut Writer, operation: ArrayOperation, pattern: &[Variable]) {
    let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
    let (cost, _) = cost_by_row(code.program, &operation, code.parallelism.strict);
    let cost = cost_of_index(code, &operation, &cost);
    let least = code.quotient_up(Atom::index(code.parallelism.grain), cost);
    let most = code.parallelism.chunks.clamp(1, DEVICE.warps);
    let threads = Atom::index(most.saturating_mul(LANES));
    let even = code.quotient_up(n, threads);
    let iterations = code.scalar(ScalarOperation::Maximum, least, even);
    let blocks = blocks_of_lanes(code, n, iterations, most);
    let partial = lanes(code, operation, &blocks);
    combine_lanes(code, partial, pattern);
}

/// Makes at most `most` blocks of `n` indices, in which each lane has this many `iterations`.
fn blocks_of_lanes(code: &mut Writer, n: Atom, iterations: Atom, most: i64) -> Blocks {
    let size = code.scalar(ScalarOperation::Multiply, iterations, Atom::index(LANES));
    let count = code.quotient_up(n, size);
    let count = code.within(count, 0, most);
    Blocks { size, count, most }
}

/// Writes a grid with a thread for each lane, which reduces the indices of the lane.
fn lanes(code: &mut Writer, mut operation: ArrayOperation, blocks: &Blocks) -> Partial {
    let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
    let count = code.scalar(ScalarOperation::Multiply, blocks.count, Atom::index(LANES));
    let values = values_of(code, &operation);
    let outputs = operation.outputs.iter_mut();
    let reductions = outputs
        .filter_map(|output| parallelise_reduction(code, output))
        .collect();
    let arrays: Vec<Variable> = values.iter().map(|v| code.like(*v, vec![count])).collect();
    let thread = code.fresh("thread", Scalar::I64);
    let (statements, ()) = code.apart(|code| {
        let bounds = lane_bounds(code, thread, n, blocks);
        let step = Some(Atom::index(LANES));
        restrict_in_steps(code, operation, &bounds, step, values.clone());
    });
    let body = Body {
        statements,
        results: values.iter().map(|v| Atom::Variable(*v)).collect(),
    };
    let outputs = values.iter().map(|_| Output::Map).collect();
    code.operation(arrays.clone(), count, thread, Level::Grid, body, outputs);
    Partial {
        count,
        most: blocks.most.saturating_mul(LANES),
        arrays,
        reductions,
    }
}

/// Creates variables for the results of an operation that only reduces, in a lane.
fn values_of(code: &mut Writer, operation: &ArrayOperation) -> Vec<Variable> {
    let mut scalars = Vec::new();
    for output in &operation.outputs {
        if let Output::Reduce { start, .. } = output {
            let scalar = |atom: &Atom| code.program.scalar_of(*atom).unwrap_or(Scalar::I64);
            scalars.extend(start.iter().map(scalar));
        }
    }
    scalars
        .into_iter()
        .map(|s| code.fresh("value", s))
        .collect()
}

/// Computes the indices of a thread's lane: the first one, and their number in steps of [`LANES`].
fn lane_bounds(code: &mut Writer, thread: Variable, n: Atom, blocks: &Blocks) -> Bounds {
    let thread = Atom::Variable(thread);
    let shift = Atom::index(i64::from(LANES.trailing_zeros()));
    let block = code.scalar(ScalarOperation::ShiftRight, thread, shift);
    let lane = code.scalar(ScalarOperation::BitAnd, thread, Atom::index(LANES - 1));
    let (base, length) = even_bounds(code, block, n, blocks.size);
    let first = code.scalar(ScalarOperation::Add, base, lane);
    // ⌈(length - lane) / LANES⌉, which is 0 where the block ends before the lane.
    let left = code.scalar(ScalarOperation::Subtract, length, lane);
    let left = code.scalar(ScalarOperation::Add, left, Atom::index(LANES - 1));
    let length = code.scalar(ScalarOperation::ShiftRight, left, shift);
    let length = code.scalar(ScalarOperation::Maximum, length, Atom::index(0));
    // Later stages need no blocks for a reduction that is known to have few elements.
    let length = match blocks.size {
        Atom::Constant(ScalarValue::I64(size)) => {
            code.scalar(ScalarOperation::Minimum, length, Atom::index(size / LANES))
        }
        Atom::Constant(_) | Atom::Variable(_) => length,
    };
    Bounds {
        first,
        length,
        long_row: None,
    }
}

/// Writes the reduction of the lanes' results: by kernels, in lanes again, as long as there are
/// more values than the host should reduce, and then by the host.
fn combine_lanes(code: &mut Writer, partial: Partial, pattern: &[Variable]) {
    let partial = match partial.most <= alone(code.parallelism) {
        true => partial,
        false => narrow(code, partial),
    };
    let Partial {
        count,
        arrays,
        reductions,
        ..
    } = partial;
    // The minimum tells later stages that there are no more values than this.
    let count = code.at_most(count, alone(code.parallelism));
    let on_host = reduction_of(code, &arrays, count, reductions);
    code.push(pattern.to_vec(), Expression::Operation(on_host));
}

/// Reduces the lanes' results in lanes, again and again, until the host can reduce what is left.
fn narrow(code: &mut Writer, partial: Partial) -> Partial {
    let Partial {
        count,
        most,
        arrays,
        reductions,
    } = partial;
    let [current, last] = ["count", "count"].map(|name| code.fresh(name, Scalar::I64));
    let in_iteration = |code: &mut Writer, length: Variable| -> Vec<Variable> {
        let shape = vec![Atom::Variable(length)];
        arrays
            .iter()
            .map(|a| code.like(*a, shape.clone()))
            .collect()
    };
    let (states, left) = (in_iteration(code, current), in_iteration(code, last));
    let starts = arrays.iter().map(|array| Atom::Variable(*array));
    let mut parameters = vec![(current, count)];
    parameters.extend(states.iter().copied().zip(starts));
    let length = Atom::Variable(current);
    let (statements, many) = code.apart(|code| {
        let alone = Atom::index(alone(code.parallelism));
        code.compare(ScalarOperation::Greater, length, alone)
    });
    let condition = Body {
        statements,
        results: vec![many],
    };
    let outputs = code.fresh_outputs(&reductions);
    let body = code.body(|code| {
        let operation = reduction_of(code, &states, length, outputs);
        let of_block = DEVICE.launch_reads * LANES;
        let most = most / of_block + i64::from(most % of_block > 0);
        let blocks = blocks_of_lanes(code, length, Atom::index(DEVICE.launch_reads), most);
        let next = lanes(code, operation, &blocks);
        let arrays = next.arrays.into_iter().map(Atom::Variable);
        [next.count].into_iter().chain(arrays).collect()
    });
    let mut pattern = vec![last];
    pattern.extend(&left);
    let narrowing = Expression::While {
        parameters,
        condition,
        body,
    };
    code.push(pattern, narrowing);
    Partial {
        count: Atom::Variable(last),
        most: alone(code.parallelism),
        arrays: left,
        reductions,
    }
}
