//! Reductions and scans whose bracketing matters, or whose operators are unknown.
//!
//! If the bracketing is free, a chunk of an unknown operator folds its elements from the first one on,
//! since no identity is known. If it is that of docs/order.md, chunks of a reduction are subtrees of
//! the tree of adjacent pairs: `2^k` blocks each. A scan needs the fold of each block. The folds are
//! computed in chunks, and carried from block to block before the chunks of the scan run.

use crate::chunks::{Bounds, Chunks, bounds, even_bounds};
use crate::grid::{Begin, Grid, join_all, restrict};
use crate::writer::{Writer, fresh_operation};
use nova_core::order::{BLOCK, LANES};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::freedom::{Alignment, Freedom, freedom};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Lambda, Level, Output, Program, Variable,
};
use nova_flat::neutral::neutral;
use nova_flat::operators::by_component;
use std::ops::Range;

/// Returns placeholders for start values that are used for no elements only.
fn unused(program: &Program, start: &[Atom]) -> Vec<Atom> {
    let zero = |atom: &Atom| {
        let scalar = program.scalar_of(*atom).unwrap_or(Scalar::I64);
        Atom::Constant(ScalarValue::from_integer_wrapping(scalar, 0))
    };
    start.iter().map(zero).collect()
}

/// Computes the size of chunks that have permitted starts.
pub(crate) fn align(code: &mut Writer, size: Atom, alignment: Alignment) -> Atom {
    let block = Atom::index(BLOCK as i64);
    match alignment {
        Alignment::Free => size,
        Alignment::Block => {
            let blocks = blocks(code, size);
            code.scalar(ScalarOperation::Multiply, blocks, block)
        }
        Alignment::Subtree => {
            let size = code.scalar(ScalarOperation::Maximum, size, block);
            code.power_of_two(size)
        }
    }
}

/// Computes the number of blocks of `count` elements.
fn blocks(code: &mut Writer, count: Atom) -> Atom {
    groups(code, count, BLOCK)
}

/// Computes the number of groups of a power of two of `count` elements.
fn groups(code: &mut Writer, count: Atom, size: usize) -> Atom {
    let most = Atom::index(size as i64 - 1);
    let sum = code.scalar(ScalarOperation::Add, count, most);
    let shift = Atom::index(i64::from(size.trailing_zeros()));
    code.scalar(ScalarOperation::ShiftRight, sum, shift)
}

/// Computes the first of `count` elements that a group has, and their number.
fn group_bounds(code: &mut Writer, group: Variable, count: Atom, size: usize) -> (Atom, Atom) {
    even_bounds(code, Atom::Variable(group), count, Atom::index(size as i64))
}

/// Turns a reduction into that of a chunk. Returns the reduction of the chunks' results.
pub(crate) fn parallelise_reduction(code: &mut Writer, reduction: &mut Output) -> Option<Output> {
    let Output::Reduce {
        lambda,
        start,
        commutes,
        bracketing,
    } = reduction
    else {
        return None;
    };
    let freedom = freedom(lambda, code.parallelism.strict);
    let (of_chunk, of_all) = match freedom {
        Freedom::Neutral => (Bracketing::Whole, Bracketing::Whole),
        Freedom::Any => (Bracketing::Chunk, Bracketing::Whole),
        Freedom::Strict { neutral: true } => (Bracketing::Whole, Bracketing::Pairs),
        Freedom::Strict { neutral: false } => (Bracketing::Chunk, Bracketing::Pairs),
    };
    let first = match of_chunk {
        Bracketing::Whole => neutral(lambda, start),
        Bracketing::Chunk | Bracketing::Pairs | Bracketing::Left => unused(code.program, start),
    };
    *bracketing = of_chunk;
    Some(Output::Reduce {
        lambda: code.fresh_operator(lambda),
        start: std::mem::replace(start, first),
        commutes: *commutes && freedom != Freedom::Any,
        bracketing: of_all,
    })
}

/// Returns the reduction of a chunk of a scan, for the chunks after it, if the bracketing is free.
pub(crate) fn reduction_of_scan(code: &mut Writer, lambda: &Lambda, start: &[Atom]) -> Output {
    let (start, bracketing) = match by_component(lambda) {
        Some(_) => (neutral(lambda, start), Bracketing::Whole),
        None => (unused(code.program, start), Bracketing::Left),
    };
    Output::Reduce {
        lambda: code.fresh_operator(lambda),
        start,
        commutes: false,
        bracketing,
    }
}

/// Computes the values with which each block of a scan begins. The folds of the blocks are computed
/// in chunks, and then carried from block to block. The scan consumes `consumed` of the body's
/// results and gives `own`.
pub(crate) fn begin_blocks(
    code: &mut Writer,
    operation: &ArrayOperation,
    (lambda, start): (&Lambda, &[Atom]),
    (consumed, own): (Range<usize>, &[Variable]),
    chunks: &Chunks,
) -> Begin {
    let mut copy = fresh_operation(code.program, operation);
    copy.body.results = copy.body.results.get(consumed).unwrap_or_default().to_vec();
    let blocks = blocks(code, chunks.n);
    let folds: Vec<Variable> = own.iter().map(|v| code.like(*v, vec![blocks])).collect();
    let chunk = code.fresh("chunk", Scalar::I64);
    let body = code.body(|code| {
        let bounds = bounds(code, chunks, chunk);
        let first = block_of(code, bounds.first);
        let values = fold_blocks(code, copy, lambda, own, (bounds.first, bounds.length));
        let values = values.into_iter();
        values.flat_map(|v| [first, Atom::Variable(v)]).collect()
    });
    let join = |_| Output::Join {
        shape: vec![blocks],
    };
    let outputs = folds.iter().map(join).collect();
    code.operation(
        folds.clone(),
        chunks.count,
        chunk,
        Level::Grid,
        body,
        outputs,
    );
    Begin::Blocks(carry_through(code, &folds, lambda, start, blocks))
}

/// Returns the number of the block that begins with an element.
fn block_of(code: &mut Writer, first: Atom) -> Atom {
    let shift = Atom::index(i64::from(BLOCK.trailing_zeros()));
    code.scalar(ScalarOperation::ShiftRight, first, shift)
}

/// Folds each block of `length` elements from `first` on.
fn fold_blocks(
    code: &mut Writer,
    operation: ArrayOperation,
    lambda: &Lambda,
    own: &[Variable],
    (first, length): (Atom, Atom),
) -> Vec<Variable> {
    let count = blocks(code, length);
    let block = code.fresh("block", Scalar::I64);
    let body = code.body(|code| {
        let (base, length) = group_bounds(code, block, length, BLOCK);
        let first = code.scalar(ScalarOperation::Add, first, base);
        fold_pieces(code, operation, lambda, own, (first, length))
    });
    let values: Vec<Variable> = own.iter().map(|v| code.like(*v, vec![count])).collect();
    let outputs = own.iter().map(|_| Output::Map).collect();
    let level = Level::Sequential;
    code.operation(values.clone(), count, block, level, body, outputs);
    values
}

/// Folds a block of `length` elements from `first` on: its pieces from left to right, each from
/// left to right.
fn fold_pieces(
    code: &mut Writer,
    mut operation: ArrayOperation,
    lambda: &Lambda,
    own: &[Variable],
    (first, length): (Atom, Atom),
) -> Vec<Atom> {
    let start = zeros(code.program, own);
    let count = groups(code, length, LANES);
    let piece = code.fresh("piece", Scalar::I64);
    operation.outputs = vec![left(code, lambda, &start)];
    let body = code.body(|code| {
        let (base, length) = group_bounds(code, piece, length, LANES);
        let first = code.scalar(ScalarOperation::Add, first, base);
        let values = code.scalars_like(own, "value");
        let bounds = Bounds {
            first,
            length,
            long_row: None,
        };
        restrict(code, operation, &bounds, values.clone());
        values.into_iter().map(Atom::Variable).collect()
    });
    let values = code.scalars_like(own, "value");
    let outputs = vec![left(code, lambda, &start)];
    let level = Level::Sequential;
    code.operation(values.clone(), count, piece, level, body, outputs);
    values.into_iter().map(Atom::Variable).collect()
}

/// Returns a fold from left to right, from the first element on.
fn left(code: &mut Writer, lambda: &Lambda, start: &[Atom]) -> Output {
    Output::Reduce {
        lambda: code.fresh_operator(lambda),
        start: start.to_vec(),
        commutes: false,
        bracketing: Bracketing::Left,
    }
}

/// Returns zeros of the types of the elements of arrays.
pub(crate) fn zeros(program: &Program, arrays: &[Variable]) -> Vec<Atom> {
    let zero = |v: &Variable| ScalarValue::from_integer_wrapping(program.ty(*v).element(), 0);
    arrays.iter().map(|v| Atom::Constant(zero(v))).collect()
}

/// Computes the result of the scan before each block: `start ⊕ f0 ⊕ f1 …` from left to right.
fn carry_through(
    code: &mut Writer,
    folds: &[Variable],
    lambda: &Lambda,
    start: &[Atom],
    blocks: Atom,
) -> Vec<Variable> {
    let carries = code.scalars_like(folds, "carry");
    let block = code.fresh("block", Scalar::I64);
    let operator = code.fresh_operator(lambda);
    let (statements, mut results) = code.apart(|code| {
        let mut operands: Vec<Atom> = carries.iter().map(|c| Atom::Variable(*c)).collect();
        for fold in folds {
            operands.push(code.element(*fold, Atom::Variable(block)));
        }
        for (parameter, operand) in operator.parameters.iter().zip(operands) {
            code.push(vec![*parameter], Expression::Atom(operand));
        }
        code.out.extend(operator.body.statements.iter().cloned());
        operator.body.results.clone()
    });
    results.extend(carries.iter().map(|c| Atom::Variable(*c)));
    let mut pattern = code.scalars_like(folds, "carry");
    let begin: Vec<Variable> = folds.iter().map(|v| code.like(*v, vec![blocks])).collect();
    pattern.extend(&begin);
    let operation = ArrayOperation {
        shape: vec![blocks],
        indices: vec![block],
        level: Level::Sequential,
        strategy: None,
        carries: carries.into_iter().zip(start.iter().copied()).collect(),
        body: Body {
            statements,
            results,
        },
        outputs: folds.iter().map(|_| Output::Map).collect(),
    };
    code.push(pattern, Expression::Operation(operation));
    begin
}

/// Adds the scan of a chunk, which starts as its first block does.
pub(crate) fn continue_blocks(
    code: &mut Writer,
    (start, begin): (&mut Vec<Atom>, &[Variable]),
    own: Vec<Variable>,
    grid: &mut Grid,
) {
    let block = block_of(code, grid.bounds.first);
    *start = begin
        .iter()
        .map(|array| code.element(*array, block))
        .collect();
    join_all(code, own, grid);
}
