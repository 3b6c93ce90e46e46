//! Loops whose lanes agree for some time: data decide only which way a lane goes, and lanes often go the same way.
//! As long as they do, what the loop computes is the same in all lanes, and is computed once.
//!
//! ```text
//! loop {                               s = …; parted = 0;
//!     if !(low < high) { break }       loop {
//!     if x[lane] < b[s] { s = f(s) }       count = 0; for lane { count += x[lane] < b[s] }
//!     else { s = g(s) }            ⇒       if count != 0 && count != 32 { parted = 1; break }
//! }                                        if count != 0 { s = f(s) } else { s = g(s) } }
//!                                      for lane { s[lane] = s }
//!                                      if parted { the loop in lanes, from this iteration on }
//! ```
//!
//! A search in a table is such a loop. Where lanes part in an iteration, it begins anew in lanes, so that the
//! loop must only compute values. Its first iteration has equal values in all lanes.

use super::block::{Block, assigned, break_if};
use super::varying::{leaves_if, reads};
use crate::masks::{MASK, flag, number, on_masks};
use crate::strip_mining::non_temporal::when;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_loop::copies;
use nova_loop::ir::{Command, Expression, Type, Variable};
use nova_loop::walk;
use std::collections::{BTreeMap, BTreeSet};

/// A loop that begins in all lanes with the same values.
pub(super) struct Agreement {
    /// The variables that change in the loop, and their values before it.
    states: Vec<(Variable, Expression)>,
    /// The variables that differ between lanes even where these agree.
    varying: BTreeSet<Variable>,
}

/// The iteration of a loop whose lanes agree.
struct Together {
    /// The states, and their values at the beginning of the iteration.
    states: Vec<(Variable, Variable)>,
    /// True once lanes have parted.
    parted: Variable,
}

impl Block<'_> {
    /// Returns what is the same in all lanes of a loop after commands, if its lanes may agree.
    pub(super) fn agreement(&self, before: &[Command], body: &[Command]) -> Option<Agreement> {
        if self.mask().is_some() || !body.iter().all(computes_or_leaves) {
            return None;
        }
        let mut own = BTreeSet::new();
        walk::each_command(body, |command| {
            if let Command::Declare { variable, .. } = command {
                own.insert(*variable);
            }
        });
        let changed: BTreeSet<Variable> = assigned(body).difference(&own).copied().collect();
        let mut varying: BTreeSet<Variable> = self.varying.difference(&changed).copied().collect();
        varying.retain(|variable| !own.contains(variable));
        add_computed(&mut varying, body);
        let is_same = |s: &Variable| self.varying.contains(s) && !varying.contains(s);
        if !changed.iter().all(is_same) || !parts(&varying, body) {
            return None;
        }
        let states: Option<Vec<(Variable, Expression)>> = changed
            .into_iter()
            .map(|state| Some((state, self.first_value(before, state)?)))
            .collect();
        let states = states?;
        Some(Agreement { states, varying })
    }

    /// Returns the value of a variable after commands, if it is the same in all lanes.
    pub(super) fn first_value(&self, before: &[Command], state: Variable) -> Option<Expression> {
        let is_declared =
            |c: &Command| matches!(c, Command::Declare { variable, .. } if *variable == state);
        let at = before.iter().position(is_declared)?;
        let Command::Declare { value, .. } = before.get(at)? else {
            return None;
        };
        let value = value
            .as_ref()
            .filter(|value| !reads(&self.varying, value))?;
        if assigned(before.get(at..)?).contains(&state) {
            return None;
        }
        let stays = |value: &Expression| match value {
            Expression::Constant(_) => true,
            Expression::Variable(variable) => !self.assigned.contains(variable),
            _others => false,
        };
        let array = *self.arrays.get(&state)?;
        Some(match stays(value) {
            true => value.clone(),
            false => Expression::load(array, Expression::index(0)),
        })
    }

    /// Adds the iterations of a loop in which all lanes agree. Returns the condition that lanes have parted.
    pub(super) fn while_lanes_agree(
        &mut self,
        agreement: Agreement,
        body: &[Command],
        place: &Place,
    ) -> Option<Expression> {
        self.end_group();
        let mut names = BTreeMap::new();
        let mut states = Vec::new();
        for (state, value) in &agreement.states {
            let same = copies::copy_of(self.program, *state);
            names.insert(*state, same);
            self.same.insert(same);
            self.made.push(Command::declare(same, value.clone()));
            states.push((same, copies::copy_of(self.program, *state)));
        }
        let body = copies::copy(self.program, body, &mut names);
        let differs = agreement.varying.iter().filter_map(|v| names.get(v));
        self.varying.extend(differs);
        self.assigned.extend(assigned(&body));
        self.assigned.extend(states.iter().map(|state| state.0));
        let parted = self
            .program
            .add_variable("parted", Type::Scalar(Scalar::Bool));
        self.made
            .push(Command::declare(parted, Expression::bool(false)));
        let together = Together { states, parted };
        let body = self.inner(|block| {
            for (state, before) in &together.states {
                let value = Expression::Variable(*state);
                block.made.push(Command::declare(*before, value));
            }
            block.agreed(&body, &together)
        })?;
        self.made.push(Command::Loop {
            body,
            place: place.clone(),
        });
        for (state, _) in &agreement.states {
            let array = *self.arrays.get(state)?;
            self.set(array, Expression::Variable(*names.get(state)?));
        }
        Some(Expression::Variable(parted))
    }

    /// Adds commands of an iteration in which all lanes agree.
    fn agreed(&mut self, body: &[Command], together: &Together) -> Option<()> {
        for command in body {
            if let Some(condition) = leaves_if(command) {
                let leaves = self.of_all(condition, together);
                self.made.push(break_if(leaves));
                continue;
            }
            match command {
                Command::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let condition = self.of_all(condition, together);
                    let [then, otherwise] = [then, otherwise]
                        .map(|list| self.inner(|block| deep(|| block.agreed(list, together))));
                    self.made.push(Command::If {
                        condition,
                        then: then?,
                        otherwise: otherwise?,
                    });
                }
                other => deep(|| self.command_at(std::slice::from_ref(other), 0))?,
            }
        }
        Some(())
    }

    /// Returns a condition that holds in all lanes or in none. Where lanes part, the loop ends with the values
    /// from before the iteration.
    fn of_all(&mut self, condition: &Expression, together: &Together) -> Expression {
        if !reads(&self.varying, condition) {
            self.end_group();
            return condition.clone();
        }
        let count = self.program.add_variable("count", Type::Scalar(MASK));
        let value = Expression::Variable(count);
        self.end_group();
        self.made.push(Command::declare(count, number(0)));
        let one = flag(self.own(condition));
        self.push(Command::Assign {
            variable: count,
            value: on_masks(ScalarOperation::Add, value.clone(), one),
        });
        self.end_group();
        let is_none = on_masks(ScalarOperation::Equal, value.clone(), number(0));
        let all = i32::try_from(self.width).unwrap_or(0);
        let is_all = on_masks(ScalarOperation::Equal, value.clone(), number(all));
        let mut leave: Vec<Command> = together
            .states
            .iter()
            .map(|(state, before)| Command::Assign {
                variable: *state,
                value: Expression::Variable(*before),
            })
            .collect();
        leave.push(Command::Assign {
            variable: together.parted,
            value: Expression::bool(true),
        });
        leave.push(Command::Break);
        let part = is_none.clone().or(is_all).negated();
        self.made.push(when(part, leave));
        is_none.negated()
    }
}

/// True if a command only computes values, or checks them, or leaves the loop.
fn computes_or_leaves(command: &Command) -> bool {
    leaves_if(command).is_some()
        || match command {
            Command::Comment(_)
            | Command::Declare { .. }
            | Command::Assign { .. }
            | Command::Check { .. }
            | Command::Fail { .. } => true,
            Command::If {
                then, otherwise, ..
            } => then
                .iter()
                .chain(otherwise)
                .all(|c| leaves_if(c).is_none() && deep(|| computes_or_leaves(c))),
            _others => false,
        }
}

/// Adds the variables that commands compute from varying ones.
fn add_computed(varying: &mut BTreeSet<Variable>, body: &[Command]) {
    let mut before = usize::MAX;
    while varying.len() != before {
        before = varying.len();
        walk::each_command(body, |command| {
            if let Command::Declare {
                variable,
                value: Some(value),
            }
            | Command::Assign { variable, value } = command
                && reads(varying, value)
            {
                varying.insert(*variable);
            }
        });
    }
}

/// True if lanes may part at conditions of commands, and nothing else that has effects differs between them.
fn parts(varying: &BTreeSet<Variable>, body: &[Command]) -> bool {
    let (mut parts, mut fails) = (false, false);
    walk::each_command(body, |command| match command {
        Command::If { condition, .. } => parts |= reads(varying, condition),
        Command::Check { .. } | Command::Fail { .. } => {
            walk::reads(command, &mut |e| fails |= reads(varying, e));
        }
        _others => {}
    });
    parts && !fails
}
