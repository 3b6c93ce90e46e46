//! Batches of a loop that lanes leave at different times: several steps between two looks at whether any lane is
//! left. A look combines all lanes of a mask, and costs as much as a short step.
//!
//! ```text
//!                                          steps = 0; run = 1; c = 0;
//! loop {                                   loop {
//!     if !(k < n && p(x)) { break }            u = 0;
//!     k = k + 1;                               loop {
//!     x = f(x);                       ⇒            if !(u < run && c < n) { break }
//! }                                                for lane { active &= p(x); k += active; x = f(x) }
//!                                                  u = u + 1; c = c + 1 }
//!                                              if !(c < n) { break }
//!                                              if no lane is active { break }
//!                                              steps += run; run = min(8, 1 + steps / 8) }
//! ```
//!
//! Lanes that have left compute anything, so steps of no lane are harmless. Their number grows with the steps
//! before, so that loops of few steps waste none.
//!
//! A counter begins with the same value in all lanes, and each step adds the same constant to it. In the lanes that
//! are left it has the value of one scalar. So a part of the condition that only depends on counters is computed
//! once for all lanes.

use super::block::{Block, break_if};
use super::varying::{INDEX, reads};
use nova_core::{ScalarOperation, ScalarValue};
use nova_diag::{Place, deep};
use nova_loop::copies;
use nova_loop::cost::work;
use nova_loop::ir::{Command, Expression, Variable};
use nova_loop::walk;
use nova_machine::PROCESSOR;
use std::collections::{BTreeMap, BTreeSet};

/// The forms of a loop in batches.
pub(super) struct Batch {
    /// The condition to stay that is the same in all lanes.
    uniform: Option<Expression>,
    /// The rest of the condition to stay.
    own: Option<Expression>,
    /// The next values of the counters.
    next: Vec<Command>,
    /// The steps before the batch, and those of the batch.
    steps: Variable,
    run: Variable,
}

impl Block<'_> {
    /// Returns the form of a loop in batches, if its steps are cheap. Adds what it declares. The loop is left where
    /// the condition holds, and stands after the commands `before`.
    pub(super) fn batch(
        &mut self,
        before: &[Command],
        condition: &Expression,
        step: &[Command],
    ) -> Option<Batch> {
        let mut costs = work(condition);
        walk::each_command(step, |c| walk::reads(c, &mut |e| costs += work(e)));
        if costs > PROCESSOR.batched_work {
            return None;
        }
        let mut stays = Vec::new();
        conjuncts(condition.clone().negated(), &mut stays);
        let counters = self.counters(before, step);
        let (uniform, own): (Vec<Expression>, Vec<Expression>) =
            stays.into_iter().partition(|part| {
                let mut is_same = self.is_total(part);
                part.each_variable(&mut |v| {
                    is_same &= !self.varying.contains(&v) || counters.contains_key(&v);
                });
                is_same && reads(&self.varying, part)
            });
        let mut needed = BTreeSet::new();
        for part in &uniform {
            part.each_variable(&mut |v| {
                needed.insert(v);
            });
        }
        self.end_group();
        let (mut names, mut next) = (BTreeMap::new(), Vec::new());
        for (counter, (start, value)) in counters {
            if needed.contains(&counter) {
                let same = copies::copy_of(self.program, counter);
                names.insert(counter, same);
                self.made.push(Command::declare(same, start));
                let mut value = value;
                value.rename(&names);
                next.push(Command::Assign {
                    variable: same,
                    value,
                });
            }
        }
        let [steps, run] = ["steps", "run"].map(|name| self.program.add_variable(name, INDEX));
        self.made
            .push(Command::declare(steps, Expression::index(0)));
        self.made.push(Command::declare(run, Expression::index(1)));
        let joined = |parts: Vec<Expression>| parts.into_iter().reduce(Expression::and);
        let mut uniform = joined(uniform);
        if let Some(uniform) = &mut uniform {
            uniform.rename(&names);
        }
        Some(Batch {
            uniform,
            own: joined(own),
            next,
            steps,
            run,
        })
    }

    /// Returns the counters of a loop, with their first values and with what a step makes of them.
    fn counters(
        &self,
        before: &[Command],
        step: &[Command],
    ) -> BTreeMap<Variable, (Expression, Expression)> {
        let mut times: BTreeMap<Variable, usize> = BTreeMap::new();
        walk::each_command(step, |command| {
            if let Command::Assign { variable, .. } = command {
                *times.entry(*variable).or_default() += 1;
            }
        });
        let mut counters = BTreeMap::new();
        for command in step {
            if let Command::Assign { variable, value } = command
                && times.get(variable) == Some(&1)
                && counts(value, *variable)
                && let Some(start) = self.first_value(before, *variable)
                && !start.reads_memory()
            {
                counters.insert(*variable, (start, value.clone()));
            }
        }
        counters
    }

    /// Adds the body of a loop in batches.
    pub(super) fn batched(
        &mut self,
        batch: Batch,
        step: &[Command],
        active: Variable,
        place: &Place,
    ) -> Option<()> {
        let done = self.program.add_variable("done", INDEX);
        let body = self.inner(|block| {
            let done = Expression::Variable(done);
            let run = Expression::Variable(batch.run);
            let mut stays = done.compare(ScalarOperation::Less, run);
            if let Some(uniform) = &batch.uniform {
                stays = stays.and(uniform.clone());
            }
            block.made.push(break_if(stays.negated()));
            if let Some(own) = &batch.own {
                block.stay_unless(&own.clone().negated())?;
            }
            block.list(step)?;
            block.end_group();
            Some(())
        })?;
        let one = Expression::index(1);
        let more = |v: Variable, by: Expression| Command::Assign {
            variable: v,
            value: Expression::Variable(v).plus(by),
        };
        let mut body = body;
        body.extend(batch.next);
        body.push(more(done, one.clone()));
        self.made.push(Command::declare(done, Expression::index(0)));
        self.push_loop(body, place);
        if let Some(uniform) = batch.uniform {
            self.made.push(break_if(uniform.negated()));
        }
        let none = self.end_group_with_any(active);
        self.made.push(break_if(none));
        let run = Expression::Variable(batch.run);
        self.made.push(more(batch.steps, run));
        let part = Expression::Variable(batch.steps).compare(
            ScalarOperation::ShiftRight,
            Expression::index(PROCESSOR.batch_shift),
        );
        let most = Expression::index(PROCESSOR.batched_steps);
        self.made.push(Command::Assign {
            variable: batch.run,
            value: one.plus(part).compare(ScalarOperation::Minimum, most),
        });
        Some(())
    }
}

/// Adds the conditions that all hold where a condition does.
fn conjuncts(condition: Expression, parts: &mut Vec<Expression>) {
    let is = |e: &Expression, value| matches!(e, Expression::Constant(ScalarValue::Bool(b)) if *b == value);
    match condition {
        Expression::Select {
            condition,
            then,
            otherwise,
        } if is(&otherwise, false) => {
            for part in [*condition, *then] {
                deep(|| conjuncts(part, parts));
            }
        }
        Expression::Scalar {
            operation: ScalarOperation::Not,
            arguments,
            ..
        } if matches!(&arguments[..], [Expression::Select { then, .. }] if is(then, true)) => {
            for argument in arguments {
                if let Expression::Select {
                    condition,
                    otherwise,
                    ..
                } = argument
                {
                    for part in [*condition, *otherwise] {
                        deep(|| conjuncts(part.negated(), parts));
                    }
                }
            }
        }
        part => parts.push(part),
    }
}

/// True if a value is that of an integer variable and a constant added.
fn counts(value: &Expression, variable: Variable) -> bool {
    match value {
        Expression::Scalar {
            operation: ScalarOperation::Add,
            operand,
            arguments,
        } if !operand.is_float() => match &arguments[..] {
            [a, b] => {
                let own = |e: &Expression| *e == Expression::Variable(variable);
                let constant = |e: &Expression| matches!(e, Expression::Constant(_));
                own(a) && constant(b) || constant(a) && own(b)
            }
            _others => false,
        },
        _others => false,
    }
}
