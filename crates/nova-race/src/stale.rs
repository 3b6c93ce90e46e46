//! Stale pointers: pointers into a place that has been given to another array since. Arrays of a work-group
//! share places: an array made by `Spare`, or by `Shared` in a later iteration, may lie where an older array
//! lies. From there on nothing may be read or written through a pointer that may lead to the older one
//! ([`Rule::Places`]).
//!
//! This is a forward data-flow analysis. It tracks the variables that are copies of each other, so that a
//! pointer that `Spare` avoids under one name is avoided under all. Loops are analysed until nothing is
//! added. A pointer is never loaded from memory: arrays of groups hold numbers.

use crate::refusal::Rule;
use crate::state::State;
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Role, Type, Variable};
use nova_loop::print::print_variable;
use nova_loop::walk::{names, reads, writes};
use std::collections::{BTreeMap, BTreeSet};

/// Facts about the pointers between two commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    /// Stale pointers, each with the pointer to whose array the place has been given.
    stale: BTreeMap<Variable, Variable>,
    /// Copies, each with the variable that it copies, which is no copy itself.
    copies: BTreeMap<Variable, Variable>,
}

impl Known {
    /// Returns the variable of which this one is a copy, or itself.
    fn original(&self, variable: Variable) -> Variable {
        self.copies.get(&variable).copied().unwrap_or(variable)
    }

    /// Records that a variable has a new value.
    fn renew(&mut self, variable: Variable) {
        self.stale.remove(&variable);
        self.copies.remove(&variable);
        self.copies.retain(|_, original| *original != variable);
    }

    /// Joins the facts of two control-flow paths that meet.
    fn join(&mut self, other: Known) {
        self.copies
            .retain(|copy, original| other.copies.get(copy) == Some(original));
        for (pointer, array) in other.stale {
            self.stale.entry(pointer).or_insert(array);
        }
    }
}

/// Joins the facts of one more control-flow path, if that path can be taken.
fn add_edge(edge: &mut Option<Known>, more: Option<Known>) {
    match (edge.as_mut(), more) {
        (Some(known), Some(more)) => known.join(more),
        (None, more) => *edge = more,
        (Some(_), None) => {}
    }
}

/// The facts on the exit edges and back edges of a loop.
#[derive(Default)]
struct Edges {
    exit: Option<Known>,
    back: Option<Known>,
}

struct Flow<'w, 'p> {
    walked: &'w State<'p>,
    /// The pointers of the body.
    pointers: BTreeSet<Variable>,
    loops: Vec<Edges>,
    refused: BTreeSet<(Rule, String)>,
}

/// Returns the uses of stale pointers in the body of a loop over work-groups.
pub(crate) fn refused(state: &State, body: &[Command]) -> BTreeSet<(Rule, String)> {
    let mut flow = Flow {
        walked: state,
        pointers: BTreeSet::new(),
        loops: Vec::new(),
        refused: BTreeSet::new(),
    };
    let mut several = false;
    nova_loop::walk::each_command(body, |command| {
        several |= matches!(command, Command::Spare { .. } | Command::Shared { .. });
        writes(command, &mut |v| {
            if matches!(state.program.variable(v).ty, Type::Pointer(_)) {
                flow.pointers.insert(v);
            }
        });
    });
    if several {
        flow.list(body, Known::default());
    }
    flow.refused
}

impl Flow<'_, '_> {
    /// Returns the facts after commands, if their end is reached.
    fn list(&mut self, commands: &[Command], mut state: Known) -> Option<Known> {
        for command in commands {
            state = deep(|| self.command(command, state))?;
        }
        Some(state)
    }

    fn command(&mut self, command: &Command, mut state: Known) -> Option<Known> {
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
                let mut after = self.list(then, state.clone());
                add_edge(&mut after, self.list(otherwise, state));
                return after;
            }
            Command::Switch { cases, .. } => {
                reads(command, &mut |value| self.loads(value, &state));
                let mut after = None;
                for case in cases {
                    add_edge(&mut after, self.list(case, state.clone()));
                }
                return after;
            }
            Command::For { count, body, .. } => {
                self.loads(count, &state);
                return self.iterations(body, state, true);
            }
            Command::Loop { body, .. } => return self.iterations(body, state, false),
            Command::Break | Command::Continue => {
                let edges = self.loops.last_mut()?;
                let edge = match command {
                    Command::Break => &mut edges.exit,
                    _continue => &mut edges.back,
                };
                add_edge(edge, Some(state));
                return None;
            }
            Command::Return | Command::Fail { .. } => return None,
            others => self.other(others, &mut state),
        }
        Some(state)
    }

    /// Analyses the body of a loop until the back edges add nothing; returns the facts after the loop.
    fn iterations(&mut self, body: &[Command], mut head: Known, may_skip: bool) -> Option<Known> {
        loop {
            self.loops.push(Edges::default());
            let end = self.list(body, head.clone());
            let edges = self.loops.pop().unwrap_or_default();
            let before = head.clone();
            for back in [end, edges.back].into_iter().flatten() {
                head.join(back);
            }
            if head == before {
                let mut after = edges.exit;
                add_edge(&mut after, may_skip.then_some(head));
                return after;
            }
        }
    }

    fn assign(&mut self, variable: Variable, value: Option<&Expression>, state: &mut Known) {
        if let Some(value) = value {
            self.loads(value, state);
        }
        let source = match value {
            Some(Expression::Variable(source)) => Some(state.original(*source)),
            _others => None,
        };
        let is_pointer = matches!(self.walked.program.variable(variable).ty, Type::Pointer(_));
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

    /// Records that an array is made, perhaps over arrays to which pointers lead that are not in `apart`.
    fn given(&mut self, pointer: Variable, apart: &[Expression], state: &mut Known) {
        state.renew(pointer);
        let mut avoided = BTreeSet::new();
        for other in apart {
            leads(other, &mut |v| {
                avoided.insert(state.original(v));
            });
        }
        let blocks = &self.walked.bases.blocks;
        let place = blocks.of_variable(pointer);
        for other in &self.pointers {
            let is_avoided = *other == pointer || avoided.contains(&state.original(*other));
            if !is_avoided && blocks.meet(&blocks.of_variable(*other), &place) {
                state.stale.entry(*other).or_insert(pointer);
            }
        }
    }

    /// Analyses a command without nested commands.
    fn other(&mut self, command: &Command, state: &mut Known) {
        reads(command, &mut |value| {
            self.loads(value, state);
            leads(value, &mut |v| self.used(v, state));
        });
        names(command, &mut |v, role| match role {
            Some(Role::Stored(..) | Role::Named(_)) => self.used(v, state),
            Some(Role::Assigned(_) | Role::Updated(_)) | None => state.renew(v),
        });
    }

    /// Checks the pointers of the loads in an expression.
    fn loads(&mut self, value: &Expression, state: &Known) {
        if let Expression::Load { pointer, .. } = value {
            leads(pointer, &mut |v| self.used(v, state));
        }
        for child in value.children() {
            deep(|| self.loads(child, state));
        }
    }

    fn used(&mut self, pointer: Variable, state: &Known) {
        if let Some(array) = state.stale.get(&pointer) {
            let [pointer, array] =
                [pointer, *array].map(|v| print_variable(self.walked.program, v));
            let message = format!("{pointer} is used, whose place {array} may have");
            self.refused.insert((Rule::Places, message));
        }
    }
}

/// Calls `see` with the variables from which a pointer is computed, without those of loads in it.
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
