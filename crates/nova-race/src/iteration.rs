//! The iterations of a parallel loop that is being walked: the facts that hold as they proceed, and once
//! they have ended.

use crate::loop_nest::Rising;
use crate::symbolic::{Fact, Polynomial, Value};
use crate::walk::Walk;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_loop::counters::{growing, steps};
use nova_loop::ir::{Command, Expression};

impl<'p> Walk<'p> {
    /// Walks over the body of a parallel loop, with the variables that only grow in it.
    pub(crate) fn iteration(&mut self, body: &'p [Command]) {
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
                let last = Polynomial::variable(symbol);
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

    /// Records facts about an iteration that has ended: its checks have held, and the arrays that it has
    /// stored in result buffers have lengths that are not negative.
    fn ends_with(&mut self, command: &Command) {
        let known = match command {
            Command::Check { condition, .. } if unless(condition).is_some() => {
                let both = unless(condition).and_then(|(index, count, otherwise)| {
                    let (index, count) = (self.number(index), self.number(count));
                    let inside = index.gap_to(&count);
                    Some((vec![inside?], self.truth(otherwise).yes))
                });
                if let Some(parallel_loop) = self.nest.last_mut() {
                    parallel_loop.late_where.extend(both);
                }
                return;
            }
            Command::Check { condition, .. } => self.truth(condition).yes,
            Command::StoreBuffer { count, .. } => vec![self.number(count)],
            _others => return,
        };
        if let Some(parallel_loop) = self.nest.last_mut() {
            parallel_loop
                .late
                .extend(known.into_iter().map(Fact::AtLeastZero));
        }
    }

    /// Learns facts about the variables that only grow, at the start of a list: those to which the list
    /// itself adds have not reached their last value yet.
    pub(crate) fn steps(&mut self, commands: &'p [Command]) {
        if self.rising.is_empty() {
            return;
        }
        for (variable, step) in steps(commands) {
            if let Some(rising) = self.rising.get(&variable) {
                let last = rising.last.clone();
                let here = self.number_of(variable).plus_number(step);
                self.learn(here.and_then(|here| last.minus(&here)));
            }
        }
    }
}

/// Returns the operands of `index >= count || otherwise`.
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
