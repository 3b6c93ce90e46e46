//! Reductions of truths that stop early: no later element changes a conjunction that is false, or a
//! disjunction that is true. The first elements are looked at one by one. After them the loop runs in strips
//! that grow, and asks between two of them, so that what is inside a strip can be computed in vectors.
//!
//! ```text
//! first = 0
//! loop {
//!   if not t or first >= min(count, 8) { break }
//!   i = first; t = t and x; first = first + 1
//! }
//! length = 32
//! loop {
//!   if not t or first >= count { break }
//!   for own in min(count - first, length) { i = first + own; t = t and x }
//!   first = first + length; length = min(2 * length, 1024)
//! }
//! ```

use crate::accumulators::Kind;
use crate::limits::{FIRST_STRIP, LONGEST_STRIP, PROBED_ELEMENTS, STATEMENTS_OF_A_NEST};
use crate::loops::wrap;
use crate::output::Output;
use crate::outputs::{consume_all, finish_output, start_outputs};
use crate::space::space_of;
use crate::stored::binary;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result};
use nova_core::{ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir as flat;
use nova_flat::operators::{Operator, by_component};
use nova_loop::ir::{Command, Expression, Variable};
use nova_loop::walk::{assigned, each_command};

/// True if an operation is conjunctions and disjunctions of more than a few elements, taken in order.
pub(crate) fn may_end_early(operation: &flat::ArrayOperation) -> bool {
    let is_long = |extent: &flat::Atom| match extent {
        flat::Atom::Constant(extent) => extent.as_integer() > Some(PROBED_ELEMENTS.into()),
        flat::Atom::Variable(_) => true,
    };
    let is_reduction = |output: &flat::Output| match output {
        flat::Output::Reduce { lambda, .. } => by_component(lambda)
            .is_some_and(|all| !all.is_empty() && all.iter().all(|o| end_at(o).is_some())),
        _others => false,
    };
    operation.level == flat::Level::Sequential
        && operation.carries.is_empty()
        && !operation.is_marked()
        && matches!(&operation.shape[..], [extent] if is_long(extent))
        && !operation.outputs.is_empty()
        && operation.outputs.iter().all(is_reduction)
}

/// Returns the truth that absorbs all others under an operator.
fn end_at(operator: &Operator) -> Option<bool> {
    match (operator.operation, operator.identity) {
        (ScalarOperation::BitAnd, ScalarValue::Bool(_)) => Some(false),
        (ScalarOperation::BitOr, ScalarValue::Bool(_)) => Some(true),
        _others => None,
    }
}

/// Translates such an operation.
pub(crate) fn operation_until_absorbed<'a>(
    cx: &mut Translator<'a>,
    operation: &'a flat::ArrayOperation,
    pattern: &'a [flat::Variable],
    place: &Place,
) -> Result<()> {
    let extents = cx.simple_values(&operation.shape)?;
    let nothing = Expression::index(0);
    let extent = extents.first().cloned().unwrap_or(nothing);
    let indices = cx.bind_indices(&operation.indices)?;
    let (space, _) = space_of(cx, operation, &extents, &indices, place)?;
    let outputs = start_outputs(cx, operation, pattern, &space)?;
    cx.flush_loads()?;
    cx.loops += 1;
    let code = iteration(cx, operation, &outputs, &extents, &indices, place)?;
    match end_of(&outputs, &code) {
        Some(end) => {
            let first = cx.declare("first", INDEX, Expression::index(0));
            let is_simple = is_simple(&code);
            probe(
                cx,
                (&end, &extent),
                first,
                is_simple,
                (&indices, code),
                place,
            )?;
            if is_simple {
                let indices = cx.bind_indices(&operation.indices)?;
                let code = iteration(cx, operation, &outputs, &extents, &indices, place)?;
                run_in_strips(cx, (&end, &extent), first, (&indices, code), place)?;
            }
        }
        None => wrap(cx, &extents, &indices, code, place),
    }
    cx.loops -= 1;
    for output in outputs {
        finish_output(cx, output, place)?;
    }
    Ok(())
}

/// Returns the code of one iteration.
fn iteration<'a>(
    cx: &mut Translator<'a>,
    operation: &'a flat::ArrayOperation,
    outputs: &[Output<'a>],
    extents: &[Expression],
    indices: &[Variable],
    place: &Place,
) -> Result<Vec<Command>> {
    let (space, _) = space_of(cx, operation, extents, indices, place)?;
    let (code, ()) = cx.nested(|cx| {
        cx.body(&operation.body, |cx, results| {
            consume_all(cx, operation, outputs, results, &space)
        })?;
        Ok(())
    })?;
    Ok(code)
}

/// Returns the condition under which no later iteration changes anything. An iteration that may stop the
/// program, or does anything but combine, has none.
fn end_of(outputs: &[Output<'_>], code: &[Command]) -> Option<Expression> {
    let mut accumulators = Vec::new();
    let mut end: Option<Expression> = None;
    for output in outputs {
        let Output::Reduction(reduction) = output else {
            return None;
        };
        let Kind::Fold(folded) = &reduction.kind else {
            return None;
        };
        for (operator, accumulator) in by_component(reduction.lambda)?.iter().zip(folded) {
            let value = Expression::Variable(*accumulator);
            let ended = match end_at(operator)? {
                true => value,
                false => value.negated(),
            };
            accumulators.push(*accumulator);
            end = Some(match end {
                Some(others) => others.and(ended),
                None => ended,
            });
        }
    }
    end.filter(|_| only_assigns(code, &accumulators))
}

/// True if commands cannot stop the program, and change nothing but these variables and their own.
fn only_assigns(code: &[Command], accumulators: &[Variable]) -> bool {
    let (mut plain, mut own) = (true, Vec::new());
    each_command(code, |command| match command {
        Command::Declare { variable, .. } | Command::For { variable, .. } => own.push(*variable),
        Command::Assign { .. } | Command::If { .. } => {}
        _others => plain = false,
    });
    let is_own = |variable: &Variable| accumulators.contains(variable) || own.contains(variable);
    plain && assigned(code).iter().all(is_own)
}

/// True if an iteration is short and has no loops: several of them could be computed in vectors.
fn is_simple(code: &[Command]) -> bool {
    let (mut count, mut loops) = (0, false);
    each_command(code, |command| {
        count += 1;
        loops |= matches!(command, Command::For { .. } | Command::Loop { .. });
    });
    !loops && count <= STATEMENTS_OF_A_NEST
}

/// Writes a loop that asks before each element: for the first elements, or for all.
fn probe<'a>(
    cx: &mut Translator<'a>,
    (end, extent): (&Expression, &Expression),
    first: Variable,
    is_part: bool,
    (indices, code): (&[Variable], Vec<Command>),
    place: &Place,
) -> Result<()> {
    let last = match is_part {
        true => {
            let few = Expression::index(PROBED_ELEMENTS);
            let probed = binary(ScalarOperation::Minimum, extent.clone(), few);
            Expression::Variable(cx.declare("probed", INDEX, probed))
        }
        false => extent.clone(),
    };
    let now = Expression::Variable(first);
    cx.endless_loop(place, |cx| {
        let done = last.compare(ScalarOperation::LessEqual, now.clone());
        cx.break_if(end.clone().or(done));
        for index in indices {
            cx.emit(Command::declare(*index, now.clone()));
        }
        code.into_iter().for_each(|command| cx.emit(command));
        cx.assign(first, now.plus(Expression::index(1)));
        Ok(())
    })
}

/// Writes a loop that asks before each strip of the elements that are left.
fn run_in_strips<'a>(
    cx: &mut Translator<'a>,
    (end, extent): (&Expression, &Expression),
    first: Variable,
    (indices, code): (&[Variable], Vec<Command>),
    place: &Place,
) -> Result<()> {
    let length = cx.declare("length", INDEX, Expression::index(FIRST_STRIP));
    let [begin, now] = [first, length].map(Expression::Variable);
    let own = cx.add_variable("own", INDEX);
    let number = begin.clone().plus(Expression::Variable(own));
    let numbered = |index: &Variable| Command::declare(*index, number.clone());
    let mut body: Vec<Command> = indices.iter().map(numbered).collect();
    body.extend(code);
    cx.endless_loop(place, |cx| {
        let done = extent
            .clone()
            .compare(ScalarOperation::LessEqual, begin.clone());
        cx.break_if(end.clone().or(done));
        let left = extent.clone().minus(begin.clone());
        let count = binary(ScalarOperation::Minimum, left, now.clone());
        wrap(cx, &[count], &[own], body, place);
        cx.assign(first, begin.plus(now.clone()));
        let longest = Expression::index(LONGEST_STRIP);
        let longer = binary(ScalarOperation::Minimum, now.clone().plus(now), longest);
        cx.assign(length, longer);
        Ok(())
    })
}
