//! The chunks of an operation: even ones, or chunks of rows with about the same number of elements. The
//! bounds of each are computed from sizes when the program runs.

use crate::cost::Cost;
use crate::costs::{elements, weigh};
use crate::rows::Rows;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation as Operation, ScalarValue};
use nova_flat::ir::{Atom, Body, Bracketing, Output, Variable};
use nova_machine::figures;

/// The number of rows that are tested for whether they follow each other in memory.
const SAMPLES: i64 = figures::CHUNKS.samples;

/// The chunking of the first dimension of an operation.
#[derive(Clone)]
pub(crate) struct Chunks {
    /// The number of indices, and the number of chunks.
    pub(crate) n: Atom,
    pub(crate) count: Atom,
    pub(crate) kind: Kind,
}

#[derive(Clone)]
pub(crate) enum Kind {
    /// Chunks of this many indices; the last may have fewer.
    Even { size: Atom },
    /// Chunks of about the same weight.
    Weighed(Weight),
}

/// The weights of an index and of an element of its row.
#[derive(Clone)]
pub(crate) struct Weight {
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

/// Makes chunks of rows with about the same number of elements. If the rows do not follow each
/// other in memory, the number of elements before a row is not known. Then the chunks have the same
/// number of rows.
pub(crate) fn chunks_by_elements(code: &mut Writer, n: Atom, rows: &Rows, cost: &Cost) -> Chunks {
    let last = code.scalar(Operation::Subtract, n, Atom::index(1));
    let (first, elements) = elements(code, n, rows);
    let total = weigh(code, n, elements, cost.fixed, Atom::index(cost.element));
    let count = code.scalar(
        Operation::Divide,
        total,
        Atom::index(code.parallelism.grain),
    );
    let count = code.scalar(Operation::Minimum, count, n);
    let count = code.within(count, 1, code.parallelism.chunks);
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

/// Computes 1 if some rows, spread over all of them, follow the ones before them, else 0.
fn are_ordered(code: &mut Writer, rows: &Rows, last: Atom) -> Atom {
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
pub(crate) fn bounds(code: &mut Writer, chunks: &Chunks, chunk: Variable) -> Bounds {
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
pub(crate) fn even_bounds(code: &mut Writer, chunk: Atom, n: Atom, size: Atom) -> (Atom, Atom) {
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
fn boundary(code: &mut Writer, chunks: &Chunks, weight: &Weight, chunk: Atom) -> (Atom, Atom) {
    let target = code.scalar(Operation::Multiply, chunk, weight.share);
    let is_last = code.compare(Operation::Equal, chunk, chunks.count);
    let is_first = code.compare(Operation::Equal, chunk, Atom::index(0));
    let halves = code.scalar(Operation::Multiply, target, Atom::index(2));
    let found = search(code, chunks, weight, halves);
    let boundary = code.choose_one(is_last, Scalar::I64, |_| chunks.n, |_| found);
    let boundary = code.choose_one(is_first, Scalar::I64, |_| Atom::index(0), |_| boundary);
    let before = code.scalar(Operation::Subtract, boundary, Atom::index(1));
    let some = code.compare(Operation::Greater, boundary, Atom::index(0));
    let end = |code: &mut Writer| code.element(weight.ends, before);
    let end = code.choose_one(some, Scalar::I64, end, |_| weight.first);
    let elements = code.scalar(Operation::Subtract, end, weight.first);
    let weighs = weigh(code, boundary, elements, weight.index, weight.element);
    (boundary, weighs)
}

/// Computes the number of indices whose middle lies in the first `target` halves of the total
/// weight.
fn search(code: &mut Writer, chunks: &Chunks, weight: &Weight, target: Atom) -> Atom {
    code.bisect((Atom::index(0), chunks.n), |code, [low, high]| {
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
        [lower, higher]
    })
}
