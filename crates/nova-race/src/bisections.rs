//! Indices that are found by bisection: the starts of chunks of rows, where each chunk is to have about as
//! many elements as the others.
//!
//! ```text
//! loop { if low >= high { break }
//!        middle = low + (high - low >> 1)
//!        below = key(middle) <= limit
//!        low = below ? middle + 1 : low;  high = below ? high : middle }
//! ```
//!
//! With the same key and the same first `low` and `high`, a greater limit never finds a smaller
//! index, whatever the keys are. Where two runs differ for the first time, the one with the smaller
//! limit goes on below `middle`, the other one after it.

use crate::facts::Facts;
use crate::operations::Operations;
use crate::symbolic::{Bisection, Polynomial, Symbol, Value};
use crate::walk::Walk;
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::{Command, Expression, Variable};
use nova_symbolic::Sum;
use std::collections::BTreeSet;

/// The variables and expressions in the body of a bisection.
struct Pattern<'p> {
    low: Variable,
    high: Variable,
    key: &'p Expression,
    operation: ScalarOperation,
    limit: &'p Expression,
    next: &'p Expression,
    middle: &'p Expression,
}

/// Returns the bisection that a loop does, with the variable that has its result.
pub(crate) fn bisection(walk: &mut Walk, body: &[Command]) -> Option<(Variable, Bisection)> {
    let parallel_loop = walk.nest.last()?;
    if parallel_loop.depth != walk.state.bases.depth || parallel_loop.branches != walk.branches {
        return None;
    }
    let pattern = pattern(body)?;
    is_from_outside(walk, body, &pattern).then_some(())?;
    let state = &mut walk.state;
    let first = (state.number_of(pattern.low), state.number_of(pattern.high));
    let (low, high) = *walk.template.get_or_insert_with(|| {
        // Nothing is known about them.
        (
            state.facts.fresh(Scalar::F64),
            state.facts.fresh(Scalar::F64),
        )
    });
    let (low, high) = (Polynomial::variable(low), Polynomial::variable(high));
    let ends = [(pattern.low, &low), (pattern.high, &high)];
    let ends = ends.map(|(v, end)| (v, Value::Number(end.clone())));
    state.values.extend(ends);
    for command in body {
        if let Command::Declare {
            variable,
            value: Some(value),
        } = command
        {
            state.assign(*variable, value);
        }
    }
    let middle = state.number(pattern.middle);
    let is_between = is_half(&state.operations, &middle.minus(&low), &high.minus(&low))
        || is_half(&state.operations, &middle, &high.plus(&low));
    let is_next = Some(state.number(pattern.next)) == middle.plus_number(1);
    let (key, limit) = (state.number(pattern.key), state.number(pattern.limit));
    let is = is_between && is_next;
    is.then(|| {
        let found = Bisection {
            depth: walk.nest.len(),
            found: index_between(&mut state.facts, &first.0, &first.1),
            key: (key, pattern.operation, first.0, first.1),
            limit,
        };
        (pattern.low, found)
    })
}

/// Defines the result of a bisection: an index between these, or one of them.
fn index_between(facts: &mut Facts, low: &Polynomial, high: &Polynomial) -> Symbol {
    let found = facts.fresh(Scalar::I64);
    let value = Polynomial::variable(found);
    facts.define(found, value.minus(low));
    if facts.is_never_negative(&high.minus(low)) {
        facts.define(found, high.minus(&value));
    }
    found
}

/// True if a number is half of another one, rounded down.
fn is_half(operations: &Operations, half: &impl Sum<Symbol>, of: &impl Sum<Symbol>) -> bool {
    let (Some(half), Some(of)) = (half.known(), of.known()) else {
        return false;
    };
    let known = operations.operation_of(ScalarOperation::ShiftRight, of, &Polynomial::constant(1));
    known.is_some() && half.as_variable() == known
}

/// True if all that the body of a bisection reads, except for its limit, is the same in all iterations.
fn is_from_outside(walk: &Walk, body: &[Command], pattern: &Pattern) -> bool {
    let mut own = BTreeSet::from([pattern.low, pattern.high]);
    own.extend(body.iter().filter_map(declared));
    let depth = walk.nest.len();
    let mut is = true;
    let is_own = |v: Variable, own: &BTreeSet<Variable>| own.contains(&v);
    let is_outer = |v: Variable| walk.declared.get(&v).is_some_and(|at| *at < depth);
    for command in body {
        nova_loop::walk::reads(command, &mut |expression| {
            if std::ptr::eq(expression, pattern.limit) {
                return;
            }
            let mut see = |v: Variable| is &= is_own(v, &own) || is_outer(v);
            match expression {
                Expression::Scalar { arguments, .. }
                    if arguments.iter().any(|a| std::ptr::eq(a, pattern.limit)) =>
                {
                    pattern.key.each_variable(&mut see);
                }
                other => other.each_variable(&mut see),
            }
        });
    }
    pattern.limit.each_variable(&mut |v| is &= !is_own(v, &own));
    is
}

fn declared(command: &Command) -> Option<Variable> {
    match command {
        Command::Declare { variable, .. } => Some(*variable),
        _other => None,
    }
}

/// Matches the body of a loop against the form of a bisection.
fn pattern(body: &[Command]) -> Option<Pattern<'_>> {
    let [first, rest @ .., set_low, set_high] = body else {
        return None;
    };
    let (low, high) = ends(first)?;
    let (below, next, other) = choice(set_low, low)?;
    let (again, otherwise, middle) = choice(set_high, high)?;
    let is = |e: &Expression, v: Variable| matches!(e, Expression::Variable(w) if *w == v);
    if below != again || !is(other, low) || !is(otherwise, high) {
        return None;
    }
    if !rest
        .iter()
        .all(|c| matches!(c, Command::Declare { value: Some(_), .. }))
    {
        return None;
    }
    let value = rest.iter().find_map(|command| match command {
        Command::Declare {
            variable,
            value: Some(value),
        } if *variable == below => Some(value),
        _other => None,
    })?;
    let Expression::Scalar {
        operation: operation @ (ScalarOperation::LessEqual | ScalarOperation::Less),
        operand: Scalar::I64,
        arguments,
    } = value
    else {
        return None;
    };
    let [key, limit] = &arguments[..] else {
        return None;
    };
    Some(Pattern {
        low,
        high,
        key,
        operation: *operation,
        limit,
        next,
        middle,
    })
}

/// Returns `low` and `high` of `if low >= high { break }`.
fn ends(command: &Command) -> Option<(Variable, Variable)> {
    let Command::If {
        condition:
            Expression::Scalar {
                operation: ScalarOperation::GreaterEqual,
                operand: Scalar::I64,
                arguments,
            },
        then,
        otherwise,
    } = command
    else {
        return None;
    };
    match (&arguments[..], &then[..], &otherwise[..]) {
        ([Expression::Variable(low), Expression::Variable(high)], [Command::Break], []) => {
            Some((*low, *high))
        }
        _other => None,
    }
}

/// Returns the operands of `variable = condition ? then : otherwise`.
fn choice(command: &Command, of: Variable) -> Option<(Variable, &Expression, &Expression)> {
    match command {
        Command::Assign {
            variable,
            value:
                Expression::Select {
                    condition,
                    then,
                    otherwise,
                },
        } if *variable == of => match &**condition {
            Expression::Variable(condition) => Some((*condition, then, otherwise)),
            _other => None,
        },
        _other => None,
    }
}
