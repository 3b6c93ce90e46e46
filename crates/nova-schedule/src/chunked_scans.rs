//! Scans and filters in chunks: the value with which a chunk begins depends on all chunks before it. So
//! a first grid computes the partial result of each chunk, or the number of its survivors. These are
//! scanned sequentially, and the second grid begins each chunk with the result. The body is computed
//! twice, which costs less than storing its values if it is short.

use crate::carried::{drop_carried, operator_of, running};
use crate::chunks::{Chunks, bounds};
use crate::grid::{Begin, Begins, Grid, Steps, join_all, restrict};
use crate::ordered::{begin_blocks, reduction_of_scan};
use crate::writer::{Writer, fresh_operation};
use nova_core::{Scalar, ScalarOperation};
use nova_flat::freedom::{Freedom, freedom};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Bracketing, Expression, Lambda, Level, Output, Statement, Variable,
};
use nova_flat::kinds::is_scan;

/// True if an output is a filter: then chunks may depend on the number of survivors of those before
/// them.
fn is_filter(output: &Output) -> bool {
    matches!(output, Output::Filter { .. })
}

/// Computes the values with which the chunks of each output of an operation begin. `pattern` is
/// what the operation binds; of it, this binds the numbers of survivors of filters.
pub(crate) fn begin_chunks(
    code: &mut Writer,
    operation: &ArrayOperation,
    pattern: &[Variable],
    twice: bool,
    chunks: &Chunks,
) -> Begins {
    let is_running = |output: &Output| is_scan(output) || twice && is_filter(output);
    let carries = operation.carries.len();
    if carries == 0 && !operation.outputs.iter().any(is_running) {
        return Begins {
            carries: Vec::new(),
            outputs: operation.outputs.iter().map(|_| Begin::Alone).collect(),
        };
    }
    let mut copy = fresh_operation(code.program, operation);
    let mut steps = Steps::new(chunks.count);
    let mut begins = Vec::new();
    let (last, mut given) = pattern.split_at(carries.min(pattern.len()));
    let own = std::mem::take(&mut copy.carries);
    let carried = begin_carries(code, &own, &mut copy.body, last, &mut steps);
    let mut at = carries;
    for output in &operation.outputs {
        let range = at..at + output.consumes();
        let consumed = copy.body.results.get(range.clone()).unwrap_or_default();
        let (own, rest) = given.split_at(output.gives().min(given.len()));
        (at, given) = (range.end, rest);
        begins.push(match output {
            Output::Scan { lambda, start, .. } => match freedom(lambda, code.parallelism.strict) {
                Freedom::Neutral | Freedom::Any => {
                    let scan = (lambda, &start[..]);
                    Begin::Scan(begin_scan(code, scan, consumed, own, &mut steps))
                }
                Freedom::Strict { .. } => {
                    let (scan, values) = ((lambda, &start[..]), (range, own));
                    begin_blocks(code, operation, scan, values, chunks)
                }
            },
            Output::Filter { .. } if twice => begin_filter(code, (consumed, own), &mut steps),
            Output::Map
            | Output::Filter { .. }
            | Output::Reduce { .. }
            | Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Collect { .. }
            | Output::Join { .. } => Begin::Alone,
        });
    }
    let begins = Begins {
        carries: carried,
        outputs: begins,
    };
    if steps.partial.is_empty() {
        return begins;
    }
    copy.body.statements.append(&mut steps.flags);
    copy.body.results = std::mem::take(&mut steps.values);
    copy.outputs = std::mem::take(&mut steps.reductions);
    reduce_chunks(code, copy, chunks, &steps);
    scan_over_chunks(code, steps);
    begins
}

/// Adds to the steps the values with which the chunks of a scan begin. Returns their array for each
/// component.
pub(crate) fn begin_scan(
    code: &mut Writer,
    (lambda, start): (&Lambda, &[Atom]),
    consumed: &[Atom],
    own: &[Variable],
    steps: &mut Steps,
) -> Vec<Variable> {
    steps
        .reductions
        .push(reduction_of_scan(code, lambda, start));
    steps.outputs.push(Output::Scan {
        lambda: code.fresh_operator(lambda),
        start: start.to_vec(),
        exclusive: true,
    });
    let mut begin = Vec::new();
    for (value, array) in consumed.iter().zip(own) {
        steps.values.push(*value);
        steps.consumed.push(steps.partial.len());
        steps.partial.push(code.like(*array, vec![steps.count]));
        begin.push(code.like(*array, vec![steps.count]));
    }
    steps.pattern.extend(&begin);
    begin
}

fn begin_filter(
    code: &mut Writer,
    (consumed, own): (&[Atom], &[Variable]),
    steps: &mut Steps,
) -> Begin {
    let (Some(condition), Some(total)) = (consumed.first(), own.first()) else {
        return Begin::Alone;
    };
    let one = code.fresh("kept", Scalar::I64);
    steps.flags.push(Statement {
        pattern: vec![one],
        expression: Expression::Scalar {
            operation: ScalarOperation::Convert(Scalar::I64),
            operand: Scalar::Bool,
            arguments: vec![*condition],
        },
        place: code.place.clone(),
    });
    let sum = |code: &mut Writer| Output::Reduce {
        lambda: code.lambda(ScalarOperation::Add),
        start: vec![Atom::index(0)],
        commutes: true,
        bracketing: Bracketing::Whole,
    };
    let first = Output::Scan {
        lambda: code.lambda(ScalarOperation::Add),
        start: vec![Atom::index(0)],
        exclusive: true,
    };
    steps.values.push(Atom::Variable(one));
    steps.reductions.push(sum(code));
    steps.consumed.extend([steps.partial.len(); 2]);
    steps.partial.push(code.like(one, vec![steps.count]));
    let begin = code.like(one, vec![steps.count]);
    steps.outputs.extend([first, sum(code)]);
    steps.pattern.extend([begin, *total]);
    Begin::Filter(begin)
}

/// Writes the first grid, which computes the partial result of each chunk.
fn reduce_chunks(code: &mut Writer, operation: ArrayOperation, chunks: &Chunks, steps: &Steps) {
    let chunk = code.fresh("chunk", Scalar::I64);
    let body = code.body(|code| {
        let bounds = bounds(code, chunks, chunk);
        let values = code.scalars_like(&steps.partial, "value");
        let results = values.iter().map(|v| Atom::Variable(*v)).collect();
        restrict(code, operation, &bounds, values);
        results
    });
    let outputs = steps.partial.iter().map(|_| Output::Map).collect();
    let pattern = steps.partial.clone();
    code.operation(pattern, chunks.count, chunk, Level::Grid, body, outputs);
}

/// Computes the value with which each chunk begins from the partial results of those before it.
fn scan_over_chunks(code: &mut Writer, steps: Steps) {
    let chunk = code.fresh("chunk", Scalar::I64);
    let (statements, values) = code.apart(|code| {
        let arrays = steps.partial.iter();
        let values: Vec<Atom> = arrays
            .map(|array| code.element(*array, Atom::Variable(chunk)))
            .collect();
        values
    });
    let chosen = steps.consumed.iter().filter_map(|k| values.get(*k));
    let body = Body {
        statements,
        results: chosen.copied().collect(),
    };
    let (pattern, outputs) = (steps.pattern, steps.outputs);
    code.operation(
        pattern,
        steps.count,
        chunk,
        Level::Sequential,
        body,
        outputs,
    );
}

/// Adds the scan of a chunk, which starts with the result of the chunks before it.
pub(crate) fn continue_scan(
    code: &mut Writer,
    (start, begin): (&mut Vec<Atom>, &[Variable]),
    own: Vec<Variable>,
    grid: &mut Grid,
) {
    *start = begin
        .iter()
        .map(|array| code.element(*array, Atom::Variable(grid.chunk)))
        .collect();
    join_all(code, own, grid);
}

/// Adds the filter of a chunk, whose survivors stand after those of the chunks before it.
pub(crate) fn continue_filter(
    code: &mut Writer,
    begin: Variable,
    own: &[Variable],
    grid: &mut Grid,
) {
    let Some((total, arrays)) = own.split_first() else {
        return;
    };
    let first = code.element(begin, Atom::Variable(grid.chunk));
    let survivors = code.fresh("kept", Scalar::I64);
    grid.made.push(survivors);
    for array in arrays {
        let values = code.like(*array, vec![Atom::Variable(survivors)]);
        grid.outputs.push(Output::Join {
            shape: vec![Atom::Variable(*total)],
        });
        grid.pattern.push(*array);
        grid.made.push(values);
        grid.results.extend([first, Atom::Variable(values)]);
    }
}

/// Removes from the body, which reduces chunks, what depends on carries. Adds the values with which
/// these begin, and end (`last`), to the steps before the grid. Returns the values with which they
/// begin in each chunk.
fn begin_carries(
    code: &mut Writer,
    carries: &[(Variable, Atom)],
    body: &mut Body,
    last: &[Variable],
    steps: &mut Steps,
) -> Vec<Variable> {
    let all = running(carries, body).unwrap_or_default();
    drop_carried(carries, body);
    let mut begins = Vec::new();
    for ((running, (_, start)), last) in all.iter().zip(carries).zip(last) {
        let (scan, total) = (operator_of(code, running), operator_of(code, running));
        let start = std::slice::from_ref(start);
        let own = std::slice::from_ref(last);
        // The final state is the reduction of the partial results of the chunks.
        steps.consumed.push(steps.partial.len());
        steps.outputs.push(Output::Reduce {
            lambda: total,
            start: start.to_vec(),
            commutes: false,
            bracketing: Bracketing::Whole,
        });
        steps.pattern.push(*last);
        let value = std::slice::from_ref(&running.value);
        begins.extend(begin_scan(code, (&scan, start), value, own, steps));
    }
    begins
}
