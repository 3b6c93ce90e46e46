//! Places that are found by bisection: where a part of rows begins that are to have about as many
//! elements as those of the others.
//!
//! ```text
//! loop { if low >= high { break }
//!        middle = low + (high - low >> 1)
//!        below = key(middle) <= limit
//!        low = below ? middle + 1 : low;  high = below ? high : middle }
//! ```
//!
//! With the same key and the same first `low` and `high`, a greater limit never finds an earlier
//! place, whatever the keys are: where two runs differ for the first time, the one with the smaller
//! limit goes on below `middle`, the other one behind it.

use super::polynomial::{Polynomial, Symbol};
use super::values::Value;
use super::walk::Walk;
use crate::ir::{Command, Expression, Variable};
use nova_core::{Scalar, ScalarOperation};
use std::collections::BTreeSet;

/// A bisection that has been done.
#[derive(Clone, Debug)]
pub(super) struct Bisection {
    /// Parallel loops around it.
    pub(super) depth: usize,
    /// What it has found.
    pub(super) found: Symbol,
    /// How far a place is, in the symbols of a bisection that stands for all, with the comparison
    /// and between which places it looks.
    pub(super) key: (Polynomial, ScalarOperation, Polynomial, Polynomial),
    /// What it looks for.
    pub(super) limit: Polynomial,
}

/// The parts of the body of a bisection.
struct Parts<'p> {
    low: Variable,
    high: Variable,
    key: &'p Expression,
    operation: ScalarOperation,
    limit: &'p Expression,
    next: &'p Expression,
    middle: &'p Expression,
}

impl<'p> Walk<'p> {
    /// The bisection that a loop does: where it ends up is in the variable.
    pub(super) fn bisection(&mut self, body: &'p [Command]) -> Option<(Variable, Bisection)> {
        let frame = self.frames.last()?;
        if frame.depth != self.depth || frame.branches != self.branches {
            return None;
        }
        let parts = parts(body)?;
        self.is_from_around(body, &parts).then_some(())?;
        let first = (self.number_of(parts.low), self.number_of(parts.high));
        let (low, high) = *self.template.get_or_insert_with(|| {
            let symbol = Symbol(self.definitions.len() as u32);
            self.definitions.extend([Vec::new(), Vec::new()]);
            (symbol, Symbol(symbol.0 + 1))
        });
        let (low, high) = (Polynomial::symbol(low), Polynomial::symbol(high));
        self.values.insert(parts.low, Value::Number(low.clone()));
        self.values.insert(parts.high, Value::Number(high.clone()));
        for command in body {
            if let Command::Declare {
                variable,
                value: Some(value),
            } = command
            {
                self.assign(*variable, value);
            }
        }
        let middle = self.number(parts.middle);
        let is_between = self.is_half(&middle.minus(&low), &high.minus(&low))
            || self.is_half(&middle, &high.plus(&low));
        let is_next = self.number(parts.next) == middle.plus_number(1);
        let (key, limit) = (self.number(parts.key), self.number(parts.limit));
        let is = is_between && is_next;
        is.then(|| {
            let found = Bisection {
                depth: self.frames.len(),
                found: self.place_between(&first.0, &first.1),
                key: (key, parts.operation, first.0, first.1),
                limit,
            };
            (parts.low, found)
        })
    }

    /// What a bisection between two places finds: one of them, or what lies between.
    fn place_between(&mut self, low: &Polynomial, high: &Polynomial) -> Symbol {
        let found = self.fresh(Scalar::I64);
        let value = Polynomial::symbol(found);
        self.define(found, value.minus(low));
        if self.is_never_negative(&high.minus(low)) {
            self.define(found, high.minus(&value));
        }
        found
    }

    /// True if a number is half of another one, rounded down.
    fn is_half(&self, half: &Polynomial, of: &Polynomial) -> bool {
        let known = self.operation_of(ScalarOperation::ShiftRight, of, &Polynomial::constant(1));
        known.is_some() && half.as_symbol() == known
    }

    /// True if the body of a bisection depends on nothing that differs between iterations but its
    /// limit.
    fn is_from_around(&self, body: &[Command], parts: &Parts) -> bool {
        let mut own = BTreeSet::from([parts.low, parts.high]);
        own.extend(body.iter().filter_map(declared));
        let depth = self.frames.len();
        let mut is = true;
        let is_own = |v: Variable, own: &BTreeSet<Variable>| own.contains(&v);
        let around = |v: Variable| self.declared.get(&v).is_some_and(|at| *at < depth);
        for command in body {
            crate::walk::reads(command, &mut |expression| {
                if std::ptr::eq(expression, parts.limit) {
                    return;
                }
                let mut see = |v: Variable| is &= is_own(v, &own) || around(v);
                match expression {
                    Expression::Scalar { arguments, .. }
                        if arguments.iter().any(|a| std::ptr::eq(a, parts.limit)) =>
                    {
                        parts.key.each_variable(&mut see);
                    }
                    other => other.each_variable(&mut see),
                }
            });
        }
        parts.limit.each_variable(&mut |v| is &= !is_own(v, &own));
        is
    }
}

fn declared(command: &Command) -> Option<Variable> {
    match command {
        Command::Declare { variable, .. } => Some(*variable),
        _other => None,
    }
}

/// The parts of a bisection, if a body has its form.
fn parts(body: &[Command]) -> Option<Parts<'_>> {
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
    Some(Parts {
        low,
        high,
        key,
        operation: *operation,
        limit,
        next,
        middle,
    })
}

/// `if low >= high { break }`.
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

/// `variable = condition ? then : otherwise`.
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
