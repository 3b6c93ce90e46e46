//! The chunking policy: the indices of an operation form even chunks. If an index stands for a row of a
//! nested vector, and costs as much as the row has elements, chunks have about the same number of
//! elements instead. All of it is computed from sizes when the program runs, so it is the same for any
//! number of threads.

use crate::code::Code;
use crate::cost::Cost;
use crate::freedom::{alignment, is_exact, is_free};
use crate::histogram::size_for_bins;
use crate::kinds::is_scan;
use crate::lanes::has_lanes;
use crate::ordered::align;
use crate::policy::Parallelism;
use crate::rows::Rows;
use nova_core::{Scalar, ScalarOperation as Operation, ScalarValue};
use nova_flat::ir::{ArrayOperation, Atom, Body, Bracketing, Output, Type, Variable};

/// Sizes of larger even chunks are multiples of this, so that vectors and tiles fit.
pub(crate) const ROUND: i64 = 64;
/// If indices have loops of their own, which run for several indices at a time, chunks grow up to
/// [`ROUND`] indices as long as there are this many chunks.
const ENOUGH: i64 = 16;

/// The greatest weight of an index or an element. With fewer than 2^40 of both, sums of weights do not
/// wrap; if they did, chunks might overlap.
const HEAVIEST: i64 = 1 << 20;

/// The number of indices below which threads may want more than there are.
pub(crate) const FEW: i64 = 32;
/// The same number for the threads of a device.
pub(crate) const FEW_THREADS: i64 = 2048;

/// The factor by which scans have more chunks: their chunks are read twice, and then lie in a cache.
const SCANNED: i64 = 4;

/// The number of rows that are tested for whether they follow each other in memory.
const SAMPLES: i64 = 32;

/// The chunking of the first dimension of an operation.
#[derive(Clone)]
pub(crate) struct Chunks {
    /// The number of indices, and the number of chunks.
    pub(crate) n: Atom,
    pub(crate) count: Atom,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    /// Chunks of this many indices; the last may have fewer.
    Even { size: Atom },
    /// Chunks of about the same weight.
    Weighed(Weight),
}

/// The weights of an index and of an element of its row.
#[derive(Clone)]
struct Weight {
    starts: Variable,
    ends: Variable,
    /// The first element of the first row.
    first: Atom,
    index: i64,
    element: Atom,
    /// The weight of a chunk.
    share: Atom,
}

/// The indices of a chunk: the first one and their number. `long_row` tells, if that is known, whether
/// one of their rows is so long that threads should share its elements.
pub(crate) struct Bounds {
    pub(crate) first: Atom,
    pub(crate) length: Atom,
    pub(crate) long_row: Option<Atom>,
}

/// True if an operation is parallelised only if a thread is idle. A scan in chunks is more work than
/// the whole, which is wasted if no thread is idle.
pub(crate) fn wants_idle(operation: &ArrayOperation, parallelism: Parallelism) -> bool {
    !parallelism.kernels && operation.outputs.iter().any(is_scan) && is_exact(operation)
}

/// Returns the cost of an index of an operation, and the rows if it depends on them.
pub(crate) fn cost_by_row(code: &Code, operation: &ArrayOperation) -> (Cost, Option<Rows>) {
    let (mut cost, rows) = Cost::of(code.program, operation);
    let by_row = cost.loops.is_empty() && is_free(operation, code.strict);
    let rows = rows.filter(|_| by_row);
    if rows.is_some() {
        cost.fixed = cost.fixed.min(HEAVIEST);
        cost.element = cost.element.min(HEAVIEST);
    }
    (cost, rows)
}

/// Computes whether an operation is to be parallelised. It is if it costs as much as two chunks, or
/// has a single index and there are operations `inside` to be parallelised. An error is an answer
/// that is known before the program runs.
pub(crate) fn is_worth(
    code: &mut Code,
    operation: &ArrayOperation,
    inside: bool,
    parallelism: Parallelism,
) -> Result<Atom, bool> {
    let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
    let two = Atom::index(2 * parallelism.grain);
    let (cost, rows) = cost_by_row(code, operation);
    let unknown = cost.unknown;
    let total = match (cost, rows) {
        (cost, Some(rows)) => {
            let (_, elements) = elements(code, n, &rows);
            weigh(code, n, elements, cost.fixed, Atom::index(cost.element))
        }
        (cost, None) => {
            let each = cost_of_index(code, operation, &cost);
            let n = code.scalar(Operation::Minimum, n, Atom::index(2 * parallelism.grain));
            code.scalar(Operation::Multiply, n, each)
        }
    };
    let mut worth = code.compare(Operation::GreaterEqual, total, two);
    let no = Atom::Constant(ScalarValue::Bool(false));
    if unknown {
        let several = code.compare(Operation::Greater, n, Atom::index(1));
        worth = match parallelism.kernels {
            true => several,
            false => code.choose_one(several, Scalar::Bool, |code| code.may_split(), |_| several),
        };
    } else if wants_idle(operation, parallelism) {
        worth = code.choose_one(worth, Scalar::Bool, |code| code.may_split(), |_| no);
    }
    if !is_free(operation, code.strict) {
        // Chunks may have to be larger than the grain.
        let several = |code: &mut Code| {
            let chunks = chunks(code, operation, parallelism);
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
pub(crate) fn most_of_small(
    code: &mut Code,
    operation: &ArrayOperation,
    parallelism: Parallelism,
) -> Option<i64> {
    if !has_lanes(code, operation, parallelism) || wants_idle(operation, parallelism) {
        return None;
    }
    let (cost, _) = cost_by_row(code, operation);
    match cost_of_index(code, operation, &cost) {
        Atom::Constant(ScalarValue::I64(each)) if each > 0 => {
            Some((2 * parallelism.grain - 1) / each)
        }
        Atom::Constant(_) | Atom::Variable(_) => None,
    }
}

/// Computes the chunking of an operation.
pub(crate) fn chunks(
    code: &mut Code,
    operation: &ArrayOperation,
    parallelism: Parallelism,
) -> Chunks {
    let n = operation.shape.first().copied().unwrap_or(Atom::index(0));
    match cost_by_row(code, operation) {
        (cost, Some(rows)) => chunks_by_elements(code, n, &rows, &cost, parallelism),
        (cost, None) => {
            let mut parallelism = parallelism;
            if operation.outputs.iter().any(is_scan) {
                parallelism.chunks *= SCANNED;
            }
            let size = chunk_size(code, n, operation, &cost, parallelism);
            let count = code.quotient_up(n, size);
            let count = within(code, count, 0, parallelism.chunks);
            let kind = Kind::Even { size };
            Chunks { n, count, kind }
        }
    }
}

/// Computes the number of indices of a chunk: as many as cost the grain, and enough to limit the
/// number of chunks of `n` indices.
fn chunk_size(
    code: &mut Code,
    n: Atom,
    operation: &ArrayOperation,
    cost: &Cost,
    parallelism: Parallelism,
) -> Atom {
    let has_loops = !cost.loops.is_empty();
    let cost = cost_of_index(code, operation, cost);
    let least = code.quotient_up(Atom::index(parallelism.grain), cost);
    let even = code.quotient_up(n, Atom::index(parallelism.chunks));
    let mut size = code.scalar(Operation::Maximum, least, even);
    if has_loops {
        let few = code.quotient_up(n, Atom::index(ENOUGH));
        let tile = code.scalar(Operation::Minimum, few, Atom::index(ROUND));
        size = code.scalar(Operation::Maximum, size, tile);
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
    let size = size_for_bins(code, &operation.outputs, n, size);
    align(code, size, alignment(operation, code.strict))
}

/// Computes the cost of an index of the first dimension.
pub(crate) fn cost_of_index(code: &mut Code, operation: &ArrayOperation, cost: &Cost) -> Atom {
    let sum = cost_of(code, cost);
    let inner: Vec<Atom> = operation.shape.iter().skip(1).copied().collect();
    let iterations = extent_product(code, &inner);
    let all = code.scalar(Operation::Multiply, sum, iterations);
    code.scalar(Operation::Maximum, all, Atom::index(1))
}

/// Computes a cost as a number.
pub(crate) fn cost_of(code: &mut Code, cost: &Cost) -> Atom {
    let mut sum = Atom::index(cost.fixed);
    for (extents, each) in &cost.loops {
        let product = extent_product(code, extents);
        let all = code.scalar(Operation::Multiply, product, Atom::index(*each));
        sum = code.scalar(Operation::Add, sum, all);
    }
    sum
}

/// Computes the product of extents, each capped where it is large enough for any purpose.
fn extent_product(code: &mut Code, extents: &[Atom]) -> Atom {
    let mut product = Atom::index(1);
    for extent in extents {
        let most = Atom::index(1 << 16);
        let capped = code.scalar(Operation::Minimum, *extent, most);
        product = code.scalar(Operation::Multiply, product, capped);
        product = code.scalar(Operation::Minimum, product, most);
    }
    product
}

/// Computes the start of the elements of the first of `n` rows, and the number of elements of all
/// rows, if these follow each other.
pub(crate) fn elements(code: &mut Code, n: Atom, rows: &Rows) -> (Atom, Atom) {
    let (zero, most) = (Atom::index(0), Atom::index(1 << 40));
    let last = code.scalar(Operation::Subtract, n, Atom::index(1));
    let some = code.compare(Operation::Greater, n, zero);
    let first = |code: &mut Code| code.element(rows.starts, zero);
    let first = code.choose_one(some, Scalar::I64, first, |_| zero);
    let end = |code: &mut Code| code.element(rows.ends, last);
    let end = code.choose_one(some, Scalar::I64, end, |_| zero);
    let elements = code.scalar(Operation::Subtract, end, first);
    let magnitude = code.magnitude(elements);
    (first, code.scalar(Operation::Minimum, magnitude, most))
}

/// Makes chunks of rows with about the same number of elements. If the rows do not follow each
/// other in memory, the number of elements before a row is not known. Then the chunks have the same
/// number of rows.
fn chunks_by_elements(
    code: &mut Code,
    n: Atom,
    rows: &Rows,
    cost: &Cost,
    parallelism: Parallelism,
) -> Chunks {
    let last = code.scalar(Operation::Subtract, n, Atom::index(1));
    let (first, elements) = elements(code, n, rows);
    let total = weigh(code, n, elements, cost.fixed, Atom::index(cost.element));
    let count = code.scalar(Operation::Divide, total, Atom::index(parallelism.grain));
    let count = code.scalar(Operation::Minimum, count, n);
    let count = within(code, count, 1, parallelism.chunks);
    let ordered = are_ordered(code, rows, last);
    let element = code.scalar(Operation::Multiply, ordered, Atom::index(cost.element));
    let total = weigh(code, n, elements, cost.fixed, element);
    let share = code.quotient_up(total, count);
    let share = code.scalar(Operation::Maximum, share, Atom::index(1));
    let kind = Kind::Weighed(Weight {
        starts: rows.starts,
        ends: rows.ends,
        first,
        index: cost.fixed,
        element,
        share,
    });
    Chunks { n, count, kind }
}

/// Clamps a number of chunks to the least and the most that there may be, so that later stages know
/// these. Then arrays with an element for each chunk lie on the stack.
pub(crate) fn within(code: &mut Code, count: Atom, least: i64, most: i64) -> Atom {
    let count = code.scalar(Operation::Minimum, count, Atom::index(most));
    code.scalar(Operation::Maximum, count, Atom::index(least))
}

fn weigh(code: &mut Code, indices: Atom, elements: Atom, index: i64, element: Atom) -> Atom {
    let indices = code.scalar(Operation::Multiply, indices, Atom::index(index));
    let elements = code.scalar(Operation::Multiply, elements, element);
    code.scalar(Operation::Add, indices, elements)
}

/// Computes 1 if some rows, spread over all of them, follow the ones before them, else 0.
fn are_ordered(code: &mut Code, rows: &Rows, last: Atom) -> Atom {
    let samples = code.scalar(Operation::Minimum, last, Atom::index(SAMPLES));
    let samples = code.scalar(Operation::Maximum, samples, Atom::index(0));
    let index = code.fresh("sample", Scalar::I64);
    let (statements, follows) = code.apart(|code| {
        let index = Atom::Variable(index);
        let far = code.scalar(Operation::Multiply, index, last);
        let before = code.scalar(Operation::Divide, far, samples);
        let row = code.scalar(Operation::Add, before, Atom::index(1));
        let start = code.element(rows.starts, row);
        let end = code.element(rows.ends, before);
        let same = code.compare(Operation::Equal, start, end);
        code.as_number(same)
    });
    let body = Body {
        statements,
        results: vec![follows],
    };
    let least = Output::Reduce {
        lambda: code.lambda(Operation::Minimum),
        start: vec![Atom::index(1)],
        commutes: true,
        bracketing: Bracketing::Whole,
    };
    let ordered = code.fresh("ordered", Scalar::I64);
    let level = nova_flat::ir::Level::Sequential;
    code.operation(vec![ordered], samples, index, level, body, vec![least]);
    Atom::Variable(ordered)
}

/// Computes the indices of a chunk.
pub(crate) fn bounds(code: &mut Code, chunks: &Chunks, chunk: Variable) -> Bounds {
    let chunk = Atom::Variable(chunk);
    match &chunks.kind {
        Kind::Even { size } => {
            let (first, length) = even_bounds(code, chunk, chunks.n, *size);
            let long_row = None;
            Bounds {
                first,
                length,
                long_row,
            }
        }
        Kind::Weighed(weight) => {
            let next = code.scalar(Operation::Add, chunk, Atom::index(1));
            let (first, before) = boundary(code, chunks, weight, chunk);
            let (end, weighs) = boundary(code, chunks, weight, next);
            let length = code.scalar(Operation::Subtract, end, first);
            let weighs = code.scalar(Operation::Subtract, weighs, before);
            let many = code.scalar(Operation::Multiply, weight.share, Atom::index(2));
            let long = code.compare(Operation::Greater, weighs, many);
            let unknown = code.compare(Operation::Equal, weight.element, Atom::index(0));
            let yes = Atom::Constant(ScalarValue::Bool(true));
            let long_row = code.choose_one(unknown, Scalar::Bool, |_| yes, |_| long);
            Bounds {
                first,
                length,
                long_row: Some(long_row),
            }
        }
    }
}

/// Computes the first of `n` indices that an even chunk has, and their number.
pub(crate) fn even_bounds(code: &mut Code, chunk: Atom, n: Atom, size: Atom) -> (Atom, Atom) {
    let first = code.scalar(Operation::Multiply, chunk, size);
    // So later stages know that it is not negative.
    let first = code.scalar(Operation::Maximum, first, Atom::index(0));
    let left = code.scalar(Operation::Subtract, n, first);
    (first, code.scalar(Operation::Minimum, left, size))
}

/// Computes the first index of a chunk, and the weight of all indices before it. That is about the
/// weight that the chunks before should have.
///
/// If weights are laid end to end, an index is in the chunk in which its middle lies. The search
/// tests the same rows in the same order for every chunk until it finds a difference. So a later
/// chunk never begins before an earlier one, whatever the rows are.
fn boundary(code: &mut Code, chunks: &Chunks, weight: &Weight, chunk: Atom) -> (Atom, Atom) {
    let target = code.scalar(Operation::Multiply, chunk, weight.share);
    let is_last = code.compare(Operation::Equal, chunk, chunks.count);
    let is_first = code.compare(Operation::Equal, chunk, Atom::index(0));
    let halves = code.scalar(Operation::Multiply, target, Atom::index(2));
    let found = search(code, chunks, weight, halves);
    let boundary = code.choose_one(is_last, Scalar::I64, |_| chunks.n, |_| found);
    let boundary = code.choose_one(is_first, Scalar::I64, |_| Atom::index(0), |_| boundary);
    let before = code.scalar(Operation::Subtract, boundary, Atom::index(1));
    let some = code.compare(Operation::Greater, boundary, Atom::index(0));
    let end = |code: &mut Code| code.element(weight.ends, before);
    let end = code.choose_one(some, Scalar::I64, end, |_| weight.first);
    let elements = code.scalar(Operation::Subtract, end, weight.first);
    let weighs = weigh(code, boundary, elements, weight.index, weight.element);
    (boundary, weighs)
}

/// Computes the number of indices whose middle lies in the first `target` halves of the total
/// weight.
fn search(code: &mut Code, chunks: &Chunks, weight: &Weight, target: Atom) -> Atom {
    let integer = Type::Scalar(Scalar::I64);
    let states = vec![
        ("low", integer.clone(), Atom::index(0)),
        ("high", integer, chunks.n),
    ];
    let found = code.repeat(
        states,
        |code, states| match states {
            [low, high] => code.compare(Operation::Less, *low, *high),
            _ => Atom::Constant(ScalarValue::Bool(false)),
        },
        |code, states| match *states {
            [low, high] => {
                let width = code.scalar(Operation::Subtract, high, low);
                let half = code.scalar(Operation::ShiftRight, width, Atom::index(1));
                let middle = code.scalar(Operation::Add, low, half);
                let next = code.scalar(Operation::Add, middle, Atom::index(1));
                let both = code.scalar(Operation::Add, middle, next);
                let start = code.element(weight.starts, middle);
                let end = code.element(weight.ends, middle);
                let start = code.scalar(Operation::Subtract, start, weight.first);
                let end = code.scalar(Operation::Subtract, end, weight.first);
                let elements = code.scalar(Operation::Add, start, end);
                let weighs = weigh(code, both, elements, weight.index, weight.element);
                let fits = code.compare(Operation::LessEqual, weighs, target);
                let lower = code.choose_one(fits, Scalar::I64, |_| next, |_| low);
                let higher = code.choose_one(fits, Scalar::I64, |_| high, |_| middle);
                vec![lower, higher]
            }
            _ => Vec::new(),
        },
    );
    found.first().copied().unwrap_or(chunks.n)
}

/// True if there are fewer indices, in all dimensions together, than the threads of a device may want.
pub(crate) fn are_few_threads(code: &mut Code, operation: &ArrayOperation) -> Atom {
    let indices = match operation.shape.as_slice() {
        [n] => *n,
        extents => extent_product(code, extents),
    };
    code.compare(Operation::Less, indices, Atom::index(FEW_THREADS))
}

/// True if there are fewer indices than threads may want.
pub(crate) fn are_few(code: &mut Code, chunks: &Chunks, few: i64) -> Atom {
    code.compare(Operation::Less, chunks.n, Atom::index(few))
}
