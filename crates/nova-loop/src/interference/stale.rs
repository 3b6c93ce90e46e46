//! Pointers into a place that has been given to another array since. Arrays of a work-group share places:
//! what is made by `Spare`, or by `Shared` in a next round, may lie where an array lies that was made
//! before. From there on nothing is read or written through a pointer that may lead to the older one
//! ([`Rule::Places`]).
//!
//! The walk goes forwards. It knows which variables are copies of each other, so that a pointer kept apart
//! by one name is kept by all; loops are gone through until nothing is added. A pointer is not found again
//! in memory: arrays of groups hold numbers.

use super::Rule;
use super::walk::Walk;
use crate::ir::{Command, Expression, Type, Variable};
use crate::print::print_variable;
use crate::walk::{reads, writes};
use nova_diag::deep;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the pointers between two commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// Pointers whose array's place has been given to the array of another one.
    stale: BTreeMap<Variable, Variable>,
    /// Variables with the value of another one, which is no copy itself.
    copies: BTreeMap<Variable, Variable>,
}

impl State {
    /// The first of the variables that have this one's value.
    fn original(&self, variable: Variable) -> Variable {
        self.copies.get(&variable).copied().unwrap_or(variable)
    }

    /// A variable has a new value.
    fn renew(&mut self, variable: Variable) {
        self.stale.remove(&variable);
        self.copies.remove(&variable);
        self.copies.retain(|_, original| *original != variable);
    }

    /// What is known where two ways meet.
    fn join(&mut self, other: State) {
        self.copies
            .retain(|copy, original| other.copies.get(copy) == Some(original));
        for (pointer, array) in other.stale {
            self.stale.entry(pointer).or_insert(array);
        }
    }
}

/// Joins what is known on one more way, if that one is taken.
fn add_way(way: &mut Option<State>, more: Option<State>) {
    match (way.as_mut(), more) {
        (Some(known), Some(more)) => known.join(more),
        (None, more) => *way = more,
        (Some(_), None) => {}
    }
}

/// What is known where a loop is left and where its next round begins.
#[derive(Default)]
struct Ways {
    left: Option<State>,
    next: Option<State>,
}

struct Flow<'w, 'p> {
    walk: &'w Walk<'p>,
    /// The pointers of the body.
    pointers: BTreeSet<Variable>,
    loops: Vec<Ways>,
    refused: BTreeSet<(Rule, String)>,
}

/// The uses of stale pointers in the body of a loop over work-groups.
pub(super) fn refused(walk: &Walk, body: &[Command]) -> BTreeSet<(Rule, String)> {
    let mut flow = Flow {
        walk,
        pointers: BTreeSet::new(),
        loops: Vec::new(),
        refused: BTreeSet::new(),
    };
    let mut several = false;
    crate::walk::each_command(body, |command| {
        several |= matches!(command, Command::Spare { .. } | Command::Shared { .. });
        writes(command, &mut |v| {
            if matches!(walk.program.variable(v).ty, Type::Pointer(_)) {
                flow.pointers.insert(v);
            }
        });
    });
    if several {
        flow.list(body, State::default());
    }
    flow.refused
}

impl Flow<'_, '_> {
    /// What is known behind commands, if their end is reached.
    fn list(&mut self, commands: &[Command], mut state: State) -> Option<State> {
        for command in commands {
            state = deep(|| self.command(command, state))?;
        }
        Some(state)
    }

    fn command(&mut self, command: &Command, mut state: State) -> Option<State> {
        match command {
            Command::Declare { variable, value } => {
                self.assign(*variable, value.as_ref(), &mut state);
            }
            Command::Assign { variable, value } => {
                self.assign(*variable, Some(value), &mut state);
            }
            Command::Spare {
                pointer,
                count,
                apart,
                ..
            } => {
                self.loads(count, &state);
                self.given(*pointer, apart, &mut state);
            }
            Command::Shared { pointer, count } => {
                self.loads(count, &state);
                self.given(*pointer, &[], &mut state);
            }
            Command::If {
                condition,
                then,
                otherwise,
            } => {
                self.loads(condition, &state);
                let mut behind = self.list(then, state.clone());
                add_way(&mut behind, self.list(otherwise, state));
                return behind;
            }
            Command::Switch { cases, .. } => {
                reads(command, &mut |value| self.loads(value, &state));
                let mut behind = None;
                for case in cases {
                    add_way(&mut behind, self.list(case, state.clone()));
                }
                return behind;
            }
            Command::For { count, body, .. } => {
                self.loads(count, &state);
                return self.rounds(body, state, true);
            }
            Command::Loop { body, .. } => return self.rounds(body, state, false),
            Command::Break | Command::Continue => {
                let ways = self.loops.last_mut()?;
                let way = match command {
                    Command::Break => &mut ways.left,
                    _continue => &mut ways.next,
                };
                add_way(way, Some(state));
                return None;
            }
            Command::Return | Command::Fail { .. } => return None,
            others => self.other(others, &mut state),
        }
        Some(state)
    }

    /// Rounds, until no way leads to the next one with something more.
    fn rounds(&mut self, body: &[Command], mut head: State, may_skip: bool) -> Option<State> {
        loop {
            self.loops.push(Ways::default());
            let end = self.list(body, head.clone());
            let ways = self.loops.pop().unwrap_or_default();
            let before = head.clone();
            for back in [end, ways.next].into_iter().flatten() {
                head.join(back);
            }
            if head == before {
                let mut behind = ways.left;
                add_way(&mut behind, may_skip.then_some(head));
                return behind;
            }
        }
    }

    fn assign(&mut self, variable: Variable, value: Option<&Expression>, state: &mut State) {
        if let Some(value) = value {
            self.loads(value, state);
        }
        let source = match value {
            Some(Expression::Variable(source)) => Some(state.original(*source)),
            _others => None,
        };
        let is_pointer = matches!(self.walk.program.variable(variable).ty, Type::Pointer(_));
        let array = value.filter(|_| is_pointer).and_then(|value| {
            let mut array = None;
            leads(value, &mut |v| {
                array = array.or(state.stale.get(&v).copied())
            });
            array
        });
        state.renew(variable);
        if let (Some(source), true) = (source, is_pointer)
            && source != variable
        {
            state.copies.insert(variable, source);
        }
        state.stale.extend(array.map(|array| (variable, array)));
    }

    /// An array is made, perhaps over those that others than the kept pointers lead to.
    fn given(&mut self, pointer: Variable, apart: &[Expression], state: &mut State) {
        state.renew(pointer);
        let mut kept = BTreeSet::new();
        for other in apart {
            leads(other, &mut |v| {
                kept.insert(state.original(v));
            });
        }
        let blocks = &self.walk.blocks;
        let place = blocks.of_variable(pointer);
        for other in &self.pointers {
            let is_kept = *other == pointer || kept.contains(&state.original(*other));
            if !is_kept && blocks.meet(&blocks.of_variable(*other), &place) {
                state.stale.entry(*other).or_insert(pointer);
            }
        }
    }

    /// A command without commands in it.
    fn other(&mut self, command: &Command, state: &mut State) {
        reads(command, &mut |value| {
            self.loads(value, state);
            leads(value, &mut |v| self.used(v, state));
        });
        let through = matches!(
            command,
            Command::Store { .. }
                | Command::Contend { .. }
                | Command::TreeReduce { .. }
                | Command::OnHost { .. }
        );
        writes(command, &mut |v| match through {
            true => self.used(v, state),
            false => state.renew(v),
        });
    }

    /// What is loaded in an expression.
    fn loads(&mut self, value: &Expression, state: &State) {
        if let Expression::Load { pointer, .. } = value {
            leads(pointer, &mut |v| self.used(v, state));
        }
        for child in value.children() {
            deep(|| self.loads(child, state));
        }
    }

    fn used(&mut self, pointer: Variable, state: &State) {
        if let Some(array) = state.stale.get(&pointer) {
            let [pointer, array] = [pointer, *array].map(|v| print_variable(self.walk.program, v));
            let message = format!("{pointer} is used, whose place {array} may have");
            self.refused.insert((Rule::Places, message));
        }
    }
}

/// Calls `see` with the variables of which a pointer is made, those of what is loaded left out.
fn leads(value: &Expression, see: &mut dyn FnMut(Variable)) {
    match value {
        Expression::Variable(variable) => see(*variable),
        Expression::Load { .. } => {}
        others => others
            .children()
            .into_iter()
            .for_each(|child| deep(|| leads(child, see))),
    }
}
