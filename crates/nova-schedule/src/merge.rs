//! A pass of a merge sort over sorted runs, in pieces that threads share.

use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{
    ArrayOperation, Atom, Bracketing, Expression, Lambda, Level, Output, Variable,
};

/// A pass of merges.
pub(crate) struct MergePass {
    /// The number of indices.
    pub(crate) count: Atom,
    /// The indices in sorted runs, and the width of the runs, a power of two.
    pub(crate) runs: Variable,
    pub(crate) width: Atom,
    /// The width of the runs that the pass gives.
    pub(crate) double: Atom,
    /// The size of a piece, which divides that width, and the number of pieces.
    pub(crate) piece: Atom,
    pub(crate) pieces: Atom,
}

/// A piece of what is merged from two runs. The runs begin at `first` and `middle`, and end before
/// `middle` and `last`. The piece begins at `at`, `offset` elements after `first`.
struct Piece {
    at: Atom,
    offset: Atom,
    length: Atom,
    first: Atom,
    middle: Atom,
    last: Atom,
}

/// Writes a grid over the pieces of a pass, which gives the merged runs. With `ends`, pieces may
/// begin within runs. These arrays then have the start and the end of each piece in the left run.
pub(crate) fn merge(
    code: &mut Writer,
    pass: &MergePass,
    compare: &Lambda,
    ends: Option<[Variable; 2]>,
) -> Variable {
    let number = code.fresh("piece", Scalar::I64);
    let body = code.body(|code| {
        let piece = piece(code, number, pass);
        let begin = match ends {
            Some(_) => bisect(code, &piece, pass.runs, compare),
            None => piece.first,
        };
        let (end, merged) = merge_piece(code, &piece, begin, pass.runs, compare);
        let mut results = vec![piece.at, Atom::Variable(merged)];
        if ends.is_some() {
            results.extend([begin, Atom::Variable(end)]);
        }
        results
    });
    let merged = code.like(pass.runs, vec![pass.count]);
    let shape = vec![pass.count];
    let mut outputs = vec![Output::Join { shape }];
    let mut pattern = vec![merged];
    if let Some(ends) = ends {
        outputs.extend([Output::Map, Output::Map]);
        pattern.extend(ends);
    }
    code.operation(pattern, pass.pieces, number, Level::Grid, body, outputs);
    merged
}

/// Computes the bounds of a piece.
fn piece(code: &mut Writer, number: Variable, pass: &MergePass) -> Piece {
    let at = code.scalar(
        ScalarOperation::Multiply,
        Atom::Variable(number),
        pass.piece,
    );
    let mask = code.scalar(ScalarOperation::Subtract, Atom::index(0), pass.double);
    let first = code.scalar(ScalarOperation::BitAnd, at, mask);
    let mut end = |begin: Atom| {
        let end = code.scalar(ScalarOperation::Add, begin, pass.width);
        code.scalar(ScalarOperation::Minimum, end, pass.count)
    };
    let middle = end(first);
    let last = end(middle);
    let left = code.scalar(ScalarOperation::Subtract, last, at);
    Piece {
        at,
        offset: code.scalar(ScalarOperation::Subtract, at, first),
        length: code.scalar(ScalarOperation::Minimum, left, pass.piece),
        first,
        middle,
        last,
    }
}

/// Finds the start of a piece in the left run by bisection. Element `m` of the left run belongs to
/// the `offset` elements before the piece if it may stand before element `offset - 1 - m` of the
/// right run.
fn bisect(code: &mut Writer, piece: &Piece, runs: Variable, compare: &Lambda) -> Atom {
    let right = code.scalar(ScalarOperation::Subtract, piece.last, piece.middle);
    let least = code.scalar(ScalarOperation::Subtract, piece.offset, right);
    let least = code.scalar(ScalarOperation::Maximum, least, Atom::index(0));
    let most = code.scalar(ScalarOperation::Subtract, piece.middle, piece.first);
    let most = code.scalar(ScalarOperation::Minimum, most, piece.offset);
    // The sum of the two indices, less one.
    let sum = code.scalar(ScalarOperation::Add, piece.middle, piece.offset);
    let sum = code.scalar(ScalarOperation::Subtract, sum, Atom::index(1));
    let low = code.bisect((least, most), |code, [low, high]| {
        let both = code.scalar(ScalarOperation::Add, low, high);
        let half = code.scalar(ScalarOperation::ShiftRight, both, Atom::index(1));
        let left = code.scalar(ScalarOperation::Add, piece.first, half);
        let right = code.scalar(ScalarOperation::Subtract, sum, half);
        let before = may_precede(code, (left, right), runs, compare);
        let above = code.scalar(ScalarOperation::Add, half, Atom::index(1));
        let low = code.choose_one(before, Scalar::I64, |_| above, |_| low);
        let high = code.choose_one(before, Scalar::I64, |_| high, |_| half);
        [low, high]
    });
    code.scalar(ScalarOperation::Add, piece.first, low)
}

/// True if the element at one position of the runs may stand before that at another.
fn may_precede(
    code: &mut Writer,
    (left, right): (Atom, Atom),
    runs: Variable,
    compare: &Lambda,
) -> Atom {
    let both = [left, right].map(|at| code.element(runs, at));
    let answer = code.apply(compare, &both);
    answer.first().copied().unwrap_or(left)
}

/// Merges a piece: each step takes the next element of the right run only if that of the left run
/// may not stand before it. Returns the end of the piece in the left run, and the merged elements.
fn merge_piece(
    code: &mut Writer,
    piece: &Piece,
    begin: Atom,
    runs: Variable,
    compare: &Lambda,
) -> (Variable, Variable) {
    let [left, end] = ["left", "end"].map(|name| code.fresh(name, Scalar::I64));
    let index = code.fresh("i", Scalar::I64);
    // The sum of the next indices of both runs, at the start.
    let sum = code.scalar(ScalarOperation::Add, piece.at, piece.middle);
    let body = code.body(|code| {
        let sum = code.scalar(ScalarOperation::Add, sum, Atom::Variable(index));
        let left = Atom::Variable(left);
        let right = code.scalar(ScalarOperation::Subtract, sum, left);
        let some_left = code.compare(ScalarOperation::Less, left, piece.middle);
        let some_right = code.compare(ScalarOperation::Less, right, piece.last);
        let yes = Atom::Constant(ScalarValue::Bool(true));
        let no = Atom::Constant(ScalarValue::Bool(false));
        let compares = |code: &mut Writer| {
            let precedes = |code: &mut Writer| may_precede(code, (left, right), runs, compare);
            code.choose_one(some_right, Scalar::Bool, precedes, |_| yes)
        };
        let takes_left = code.choose_one(some_left, Scalar::Bool, compares, |_| no);
        let source = code.choose_one(takes_left, Scalar::I64, |_| left, |_| right);
        let value = code.element(runs, source);
        let one = code.as_number(takes_left);
        vec![code.scalar(ScalarOperation::Add, left, one), value]
    });
    let merged = code.like(runs, vec![piece.length]);
    let operation = ArrayOperation {
        shape: vec![piece.length],
        indices: vec![index],
        level: Level::Sequential,
        strategy: None,
        carries: vec![(left, begin)],
        body,
        outputs: vec![Output::Map],
    };
    code.push(vec![end, merged], Expression::Operation(operation));
    (end, merged)
}

/// Counts the pieces that do not begin where the one before them ends, in the same pair of runs.
pub(crate) fn count_gaps(
    code: &mut Writer,
    [begins, ends]: [Variable; 2],
    pass: &MergePass,
) -> Atom {
    let gaps = code.fresh("gaps", Scalar::I64);
    let index = code.fresh("i", Scalar::I64);
    let count = code.scalar(ScalarOperation::Subtract, pass.pieces, Atom::index(1));
    let mask = code.scalar(ScalarOperation::Subtract, pass.double, Atom::index(1));
    let body = code.body(|code| {
        let before = Atom::Variable(index);
        let next = code.scalar(ScalarOperation::Add, before, Atom::index(1));
        let at = code.scalar(ScalarOperation::Multiply, next, pass.piece);
        let offset = code.scalar(ScalarOperation::BitAnd, at, mask);
        let inside = code.compare(ScalarOperation::NotEqual, offset, Atom::index(0));
        let begin = code.element(begins, next);
        let end = code.element(ends, before);
        let differs = code.compare(ScalarOperation::NotEqual, begin, end);
        let [inside, differs] = [inside, differs].map(|is| code.as_number(is));
        vec![code.scalar(ScalarOperation::BitAnd, inside, differs)]
    });
    let sum = Output::Reduce {
        lambda: code.lambda(ScalarOperation::Add),
        start: vec![Atom::index(0)],
        commutes: true,
        bracketing: Bracketing::Whole,
    };
    code.operation(vec![gaps], count, index, Level::Sequential, body, vec![sum]);
    Atom::Variable(gaps)
}
