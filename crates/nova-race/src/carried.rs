//! Pointers that a sequential loop assigns. In each iteration, and after the loop, such a pointer leads to
//! one of three targets: its target before the loop, the target of another pointer from outside, or a block
//! that the loop makes. The other pointer is one that is assigned to it, directly or not. Blocks that are
//! made between the loop and a use of the pointer are none of these, nor are those that are made later.

use crate::blocks::{Root, RootSet};
use crate::refusal::Rule;
use crate::state::State;
use crate::symbolic::{Spot, Value};
use nova_loop::ir::{Command, Expression, TableCommand, Type, Variable};
use nova_loop::uses::made;
use nova_loop::walk::{each_command, names};
use std::collections::{BTreeMap, BTreeSet};

/// The targets of the pointers that a loop assigns.
pub(crate) type Carried = Vec<Lead>;

/// The targets of a pointer that a loop assigns.
pub(crate) struct Lead {
    pointer: Variable,
    /// Places from before the loop.
    before: Vec<Spot>,
    /// True if it leads to exactly these, not elsewhere in their blocks.
    exact: bool,
    /// The roots of blocks that the loop makes.
    made: RootSet,
}

/// Returns the targets of the pointers that a body assigns.
pub(crate) fn carried(state: &State, assigned: &[Variable], body: &[Command]) -> Carried {
    let is_pointer = |v: &&Variable| matches!(state.program.variable(**v).ty, Type::Pointer(_));
    let pointers: Vec<Variable> = assigned.iter().filter(is_pointer).copied().collect();
    if pointers.is_empty() {
        return Vec::new();
    }
    let sources = Sources::of(body);
    let found = pointers.into_iter();
    found
        .filter_map(|pointer| carried_by(state, pointer, &sources))
        .collect()
}

fn carried_by(state: &State, pointer: Variable, sources: &Sources) -> Option<Lead> {
    let mut spots: Vec<Spot> = Vec::new();
    let mut exact = true;
    let mut made = RootSet::new();
    let mut seen = BTreeSet::new();
    let mut left = vec![pointer];
    while let Some(variable) = left.pop() {
        if !seen.insert(variable) {
            continue;
        }
        if sources.unknown.contains(&variable) {
            return None;
        }
        exact &= !sources.moved.contains(&variable);
        if state.without.contains(&Rule::Carried) && variable != pointer {
            continue;
        }
        made.extend(sources.made.get(&variable).copied());
        left.extend(sources.assigned.get(&variable).into_iter().flatten());
        match state.values.get(&variable) {
            // A variable that the body declares has no value before it.
            _ if sources.declared.contains(&variable) => {}
            Some(Value::Spots(before)) => {
                let new = before.iter().filter(|spot| !spots.contains(spot));
                let new: Vec<Spot> = new.cloned().collect();
                spots.extend(new);
            }
            Some(Value::Number(_)) | None => return None,
        }
    }
    exact &= made.is_empty();
    Some(Lead {
        pointer,
        before: spots,
        exact,
        made,
    })
}

/// Gives the pointers these targets.
pub(crate) fn carry(state: &mut State, carried: &Carried) {
    for lead in carried {
        let mut spots = lead.before.clone();
        if !lead.made.is_empty() {
            spots.push(state.bases.base(lead.made.clone(), false, 1));
        }
        if !spots.is_empty() {
            let spots = state.bases.one_spot_of(spots, lead.exact);
            state.values.insert(lead.pointer, Value::Spots(spots));
        }
    }
}

/// The values that a body assigns to its pointers.
#[derive(Default)]
struct Sources {
    /// The pointers of the expressions that are assigned to each.
    assigned: BTreeMap<Variable, Vec<Variable>>,
    /// The root of the blocks that are made for each.
    made: BTreeMap<Variable, Root>,
    declared: BTreeSet<Variable>,
    /// Pointers that are assigned an offset or a choice of other pointers.
    moved: BTreeSet<Variable>,
    /// Pointers whose values come from calls or nodes.
    unknown: BTreeSet<Variable>,
}

impl Sources {
    fn of(body: &[Command]) -> Sources {
        let mut found = Sources::default();
        each_command(body, |command| found.see(command));
        found
    }

    fn see(&mut self, command: &Command) {
        match command {
            Command::Declare { variable, value } => {
                self.declared.insert(*variable);
                match value {
                    Some(value) if value.is_part() => {
                        self.made.insert(*variable, Root::Site(*variable));
                    }
                    Some(value) => self.assign(*variable, value),
                    None => {}
                }
            }
            Command::Assign { variable, value } => self.assign(*variable, value),
            Command::Buffer {
                pointer, pieces, ..
            } => {
                self.made.insert(*pointer, Root::Table(*pieces));
            }
            Command::Call { results, .. }
            | Command::Foreign { results, .. }
            | Command::NodePayload { results, .. } => self.unknown.extend(results),
            Command::Table(TableCommand::Reached { results, .. }) => {
                let sites = results.iter().map(|result| (*result, Root::Site(*result)));
                self.made.extend(sites);
            }
            // `Unique` may also leave a pointer unchanged.
            others => {
                made(others, &mut |pointer| {
                    self.made.insert(pointer, Root::Site(pointer));
                });
                names(others, &mut |variable, role| {
                    self.declared.extend(role.is_none().then_some(variable));
                });
            }
        }
    }

    fn assign(&mut self, variable: Variable, value: &Expression) {
        let sources = self.assigned.entry(variable).or_default();
        sources.extend(value.pointers());
        if !matches!(value, Expression::Variable(_)) {
            self.moved.insert(variable);
        }
    }
}
