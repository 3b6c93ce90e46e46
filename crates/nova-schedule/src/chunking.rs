//! The chunking policy: the indices of an operation form even chunks. If an index stands for a row of a
//! nested vector, and costs as much as the row has elements, chunks have about the same number of
//! elements instead. All of it is computed from sizes when the program runs, so it is the same for any
//! number of threads.

use crate::chunks::{Chunks, Kind, chunks_by_elements};
use crate::cost::{Cost, cost_by_row};
use crate::costs::{cost_of_index, elements, extent_product, weigh};
use crate::histogram::size_for_bins;
use crate::lanes::has_lanes;
use crate::lockstep::may_be_in_lockstep;
use crate::ordered::align;
use crate::policy::Parallelism;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation as Operation, ScalarValue};
use nova_flat::freedom::{alignment, is_exact, is_free};
use nova_flat::ir::{ArrayOperation, Atom, Expression, Output, Statement};
use nova_flat::kinds::{is_map, is_scan};
use nova_machine::{DEVICE, PROCESSOR, figures};

/// Sizes of larger even chunks are multiples of this, so that vectors and tiles fit.
pub(crate) const ROUND: i64 = figures::CHUNKS.round;
/// If indices have loops of their own, which run for several indices at a time, chunks grow up to
/// [`ROUND`] indices as long as there are this many chunks.
const ENOUGH: i64 = figures::CHUNKS.enough;
/// The bounds to which chunks grow if elements are reductions.
const ROWS_OF_SUMS: [i64; 2] = figures::CHUNKS.rows_of_sums;

/// The factor by which scans have more chunks: their chunks are read twice, and then lie in a cache.
const SCANNED: i64 = figures::CHUNKS.scanned;

/// True if an operation is parallelised only if a thread is idle. A scan in chunks is more work than
/// the whole, which is wasted if no thread is idle.
pub(crate) fn wants_idle(operation: &ArrayOperation, parallelism: Parallelism) -> bool {
    !parallelism.kernels && operation.outputs.iter().any(is_scan) && is_exact(operation)
}

/// Returns the least cost of an operation in chunks: two chunks, or more where chunks are computed twice and
/// wait for each other.
pub(crate) fn least_work(operation: &ArrayOperation, parallelism: Parallelism) -> i64 {
    let runs = !operation.carries.is_empty() || operation.outputs.iter().any(is_scan);
    let chunks = match runs && !parallelism.kernels {
        true => PROCESSOR.running_chunks,
        false => 2,
    };
    chunks * parallelism.grain
}

/// Computes whether an operation is to be parallelised. It is if it costs as much as two chunks, or
/// has a single index and there are operations `inside` to be parallelised. If it `asks`, a thread must
/// be idle. An error is an answer that is known before the program runs.
pub(crate) fn is_worth(
    code: &mut Writer,
    operation: &ArrayOperation,
    (inside, asks): (bool, bool),
) -> Result<Atom, bool> {
    let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
    let least = least_work(operation, code.parallelism);
    let (cost, rows) = cost_by_row(code.program, operation, code.parallelism.strict);
    let unknown = cost.unknown;
    let total = match (cost, rows) {
        (cost, Some(rows)) => {
            let (_, elements) = elements(code, n, &rows);
            weigh(code, n, elements, cost.fixed, Atom::index(cost.element))
        }
        (cost, None) => {
            let each = cost_of_index(code, operation, &cost);
            let n = code.scalar(Operation::Minimum, n, Atom::index(least));
            code.scalar(Operation::Multiply, n, each)
        }
    };
    let mut worth = code.compare(Operation::GreaterEqual, total, Atom::index(least));
    let no = Atom::Constant(ScalarValue::Bool(false));
    if unknown {
        let several = code.compare(Operation::Greater, n, Atom::index(1));
        worth = match code.parallelism.kernels {
            true => several,
            false => code.choose_one(several, Scalar::Bool, |code| code.may_split(), |_| several),
        };
    } else if asks || wants_idle(operation, code.parallelism) {
        worth = code.choose_one(worth, Scalar::Bool, |code| code.may_split(), |_| no);
    }
    if !is_free(operation, code.parallelism.strict) {
        // Chunks may have to be larger than the grain.
        let several = |code: &mut Writer| {
            let chunks = chunks(code, operation);
            code.compare(Operation::Greater, chunks.count, Atom::index(1))
        };
        worth = code.choose_one(worth, Scalar::Bool, several, |_| no);
    }
    if inside {
        let single = code.compare(Operation::Equal, n, Atom::index(1));
        let yes = Atom::Constant(ScalarValue::Bool(true));
        worth = code.choose_one(single, Scalar::Bool, |_| yes, |_| worth);
    }
    match worth {
        Atom::Constant(value) => Err(value == ScalarValue::Bool(true)),
        atom @ Atom::Variable(_) => Ok(atom),
    }
}

/// Returns the most indices of an operation of a device for which lanes are [not worth
/// it](is_worth), if that depends on nothing else.
pub(crate) fn most_of_small(code: &mut Writer, operation: &ArrayOperation) -> Option<i64> {
    if !has_lanes(code.program, operation, code.parallelism)
        || wants_idle(operation, code.parallelism)
    {
        return None;
    }
    let (cost, _) = cost_by_row(code.program, operation, code.parallelism.strict);
    match cost_of_index(code, operation, &cost) {
        Atom::Constant(ScalarValue::I64(each)) if each > 0 => {
            Some((2 * code.parallelism.grain - 1) / each)
        }
        Atom::Constant(_) | Atom::Variable(_) => None,
    }
}

/// Computes the chunking of an operation.
pub(crate) fn chunks(code: &mut Writer, operation: &ArrayOperation) -> Chunks {
    let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
    match cost_by_row(code.program, operation, code.parallelism.strict) {
        (cost, Some(rows)) => chunks_by_elements(code, n, &rows, &cost),
        (cost, None) => {
            let factor = match operation.outputs.iter().any(is_scan) {
                true => SCANNED,
                false => 1,
            };
            let most = code.parallelism.chunks * factor;
            let size = chunk_size(code, (n, most), operation, &cost);
            let count = code.quotient_up(n, size);
            let count = code.within(count, 0, most);
            let kind = Kind::Even { size };
            Chunks { n, count, kind }
        }
    }
}

/// Computes the number of indices of a chunk: as many as cost the grain, and enough to limit the
/// number of chunks of `n` indices to `most`.
fn chunk_size(
    code: &mut Writer,
    (n, most): (Atom, i64),
    operation: &ArrayOperation,
    cost: &Cost,
) -> Atom {
    let has_loops = !cost.loops.is_empty();
    let cost = cost_of_index(code, operation, cost);
    let least = code.quotient_up(Atom::index(code.parallelism.grain), cost);
    let even = code.quotient_up(n, Atom::index(most));
    let mut size = code.scalar(Operation::Maximum, least, even);
    if has_loops {
        let few = code.quotient_up(n, Atom::index(ENOUGH));
        let [least, most] = match has_rows_of_sums(operation) {
            true => ROWS_OF_SUMS,
            false => [1, ROUND],
        };
        let tile = code.scalar(Operation::Maximum, few, Atom::index(least));
        let tile = code.scalar(Operation::Minimum, tile, Atom::index(most));
        size = code.scalar(Operation::Maximum, size, tile);
    }
    if !code.parallelism.kernels && may_be_in_lockstep(code.program, operation) {
        // Fewer indices than lanes are taken in order, whatever their chunks are.
        let blocks = code.scalar(Operation::Divide, n, Atom::index(PROCESSOR.lockstep_lanes));
        let some = code.scalar(Operation::Minimum, blocks, Atom::index(1));
        let lanes = Atom::index(PROCESSOR.lockstep_lanes);
        let lanes = code.scalar(Operation::Multiply, some, lanes);
        size = code.scalar(Operation::Maximum, size, lanes);
    }
    let size = code.scalar(Operation::Maximum, size, Atom::index(1));
    // Sizes up to ROUND stay, others become multiples: `(size + r) & ~r`, where r = ROUND - 1 for
    // these.
    let above = code.scalar(Operation::ShiftRight, size, Atom::index(6));
    let some = code.scalar(Operation::Minimum, above, Atom::index(1));
    let rest = code.scalar(Operation::Multiply, some, Atom::index(ROUND - 1));
    let sum = code.scalar(Operation::Add, size, rest);
    let flipped = code.scalar(Operation::BitXor, rest, Atom::index(-1));
    let size = code.scalar(Operation::BitAnd, sum, flipped);
    let size = size_for_bins(code, operation, n, size);
    align(code, size, alignment(operation, code.parallelism.strict))
}

/// True for a map over several dimensions whose elements are reductions, such as a contraction. Several of its rows
/// read the same values.
fn has_rows_of_sums(operation: &ArrayOperation) -> bool {
    let is_sum = |statement: &Statement| match &statement.expression {
        Expression::Operation(inner) => {
            let reduces = |output: &Output| matches!(output, Output::Reduce { .. });
            inner.outputs.iter().all(reduces)
        }
        _others => false,
    };
    let statements = &operation.body.statements;
    is_map(operation) && operation.shape.len() > 1 && statements.iter().any(is_sum)
}

/// True if there are fewer indices, in all dimensions together, than the threads of a device may want.
pub(crate) fn are_few_threads(code: &mut Writer, operation: &ArrayOperation) -> Atom {
    let indices = match operation.shape.as_slice() {
        [n] => *n,
        extents => extent_product(code, extents),
    };
    code.compare(Operation::Less, indices, Atom::index(DEVICE.threads))
}

/// True if there are fewer indices than threads may want.
pub(crate) fn are_few(code: &mut Writer, chunks: &Chunks, few: i64) -> Atom {
    code.compare(Operation::Less, chunks.n, Atom::index(few))
}
