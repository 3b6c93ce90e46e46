//! The iterations of a parallel loop that is being walked: what is known of them as they go on, and once
//! they have come to their end.

use super::frames::Rising;
use super::polynomial::Polynomial;
use super::prover::Fact;
use super::rising::{growing, steps};
use super::values::Value;
use super::walk::Walk;
use crate::ir::{Command, Expression};
use nova_core::{Scalar, ScalarOperation, ScalarValue};

impl<'p> Walk<'p> {
    /// The body of a parallel loop, with the variables that only grow in it.
    pub(super) fn iteration(&mut self, body: &'p [Command]) {
        let context = self.context;
        let (tables, sizes) = (self.tables.mark(), self.sizes.len());
        let growing = growing(self.program, body);
        for (at, command) in body.iter().enumerate() {
            self.command(command);
            if let Command::EndOrdered(_) = command {
                self.end_ordered(body);
            }
            self.ends_with(command);
            if let Command::Declare { variable, .. } = command
                && growing.contains_key(variable)
            {
                let first = self.number_of(*variable);
                let symbol = self.fresh(Scalar::I64);
                let last = Polynomial::symbol(symbol);
                self.define(symbol, last.minus(&first));
                self.rising.insert(*variable, Rising { first, last });
            }
            for (variable, last_at) in &growing {
                if *last_at == at
                    && let Some(rising) = self.rising.get(variable)
                {
                    self.values
                        .insert(*variable, Value::Number(rising.last.clone()));
                }
            }
        }
        self.sizes.truncate(sizes);
        self.tables.forget(tables);
        self.context = context;
    }

    /// What is known of an iteration that has come to its end: its checks have held, and what it keeps
    /// has a length.
    fn ends_with(&mut self, command: &Command) {
        let known = match command {
            Command::Check { condition, .. } if unless(condition).is_some() => {
                let both = unless(condition).map(|(index, count, otherwise)| {
                    let (index, count) = (self.number(index), self.number(count));
                    let inside = count.minus(&index).plus_number(-1);
                    (vec![inside], self.truth(otherwise).yes)
                });
                if let Some(frame) = self.frames.last_mut() {
                    frame.late_where.extend(both);
                }
                return;
            }
            Command::Check { condition, .. } => self.truth(condition).yes,
            Command::StoreBuffer { count, .. } => vec![self.number(count)],
            _others => return,
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.late.extend(known.into_iter().map(Fact::AtLeastZero));
        }
    }

    /// What is known at the beginning of a list of the variables that only grow: those that the list
    /// itself makes greater are not yet at their end.
    pub(super) fn steps(&mut self, commands: &'p [Command]) {
        if self.rising.is_empty() {
            return;
        }
        for (variable, step) in steps(commands) {
            if let Some(rising) = self.rising.get(&variable) {
                let last = rising.last.clone();
                let here = self.number_of(variable).plus_number(step);
                self.learn(last.minus(&here));
            }
        }
    }
}

/// The parts of `index >= count || otherwise`.
fn unless(condition: &Expression) -> Option<(&Expression, &Expression, &Expression)> {
    let Expression::Select {
        condition,
        then,
        otherwise,
    } = condition
    else {
        return None;
    };
    match (&**condition, &**then) {
        (
            Expression::Scalar {
                operation: ScalarOperation::GreaterEqual,
                operand: Scalar::I64,
                arguments,
            },
            Expression::Constant(ScalarValue::Bool(true)),
        ) => match &arguments[..] {
            [index, count] => Some((index, count, otherwise)),
            _others => None,
        },
        _others => None,
    }
}
