//! States of loops that a whole work-group runs: an array that each round replaces, written over in
//! place. Before the loop the state takes over the one reference to a new array, and `Unique` makes
//! sure in each round that nobody else holds it. Work-groups do not count references; but where the
//! program shows that there is never another one, nothing is to be made sure of, and the state is that
//! array.

use crate::ir::{Command, Expression, Variable};
use crate::walk::{each_command, names_mut, reads, reads_mut, writes};
use nova_diag::deep;
use std::collections::{BTreeMap, BTreeSet};

/// A state: what names its array, and the array that it begins as.
struct State {
    block: Variable,
    pointer: Variable,
    array: Variable,
}

/// Makes states that are always held alone the arrays that they begin as.
pub(super) fn settle(body: &mut Vec<Command>) {
    let uses = Uses::of(body);
    let states: Vec<State> = uses.states().collect();
    if states.is_empty() {
        return;
    }
    let blocks = states.iter().map(|s| s.block).collect();
    let arrays = states.iter().map(|s| (s.pointer, s.array)).collect();
    merge(&blocks, &arrays, body);
}

/// What a body does with the names of blocks and pointers.
#[derive(Default)]
struct Uses {
    /// By block, the pointer that the one command which allocates it binds.
    allocated: BTreeMap<Variable, Variable>,
    /// By variable, the one that it is declared as; none where that is done in several places.
    declared: BTreeMap<Variable, Option<Variable>>,
    /// Blocks and pointers that are made sure of together.
    unique: BTreeSet<(Variable, Variable)>,
    /// How often a variable is read.
    read: BTreeMap<Variable, u32>,
    /// What is given another value, or another holder, than where it is declared or allocated.
    changed: BTreeSet<Variable>,
}

impl Uses {
    fn of(body: &[Command]) -> Uses {
        let mut uses = Uses::default();
        each_command(body, |command| uses.add(command));
        uses
    }

    fn add(&mut self, command: &Command) {
        reads(command, &mut |expression| {
            expression.each_variable(&mut |v| *self.read.entry(v).or_default() += 1);
        });
        match command {
            Command::Allocate { block, pointer, .. } => {
                if self.allocated.insert(*block, *pointer).is_some() {
                    self.changed.insert(*block);
                }
            }
            Command::Declare { value: None, .. }
            | Command::Store { .. }
            | Command::TreeReduce { .. }
            | Command::Prefetch { .. }
            | Command::OnHost { .. }
            | Command::Release(_) => {}
            Command::Declare {
                variable,
                value: Some(value),
            } => {
                let is = match value {
                    Expression::Variable(other) => Some(*other),
                    _other_value => None,
                };
                let known = self.declared.entry(*variable).or_insert(is);
                if *known != is {
                    *known = None;
                }
            }
            Command::Unique { block, pointer, .. } => {
                self.unique.insert((*block, *pointer));
            }
            others => writes(others, &mut |v| {
                self.changed.insert(v);
            }),
        }
    }

    /// The states whose arrays nobody else ever holds.
    fn states(&self) -> impl Iterator<Item = State> {
        self.unique.iter().filter_map(|(block, pointer)| {
            let handed = self.declared.get(block).copied().flatten()?;
            let array = *self.allocated.get(&handed)?;
            let starts = self.declared.get(pointer).copied().flatten() == Some(array);
            let reads = |v: &Variable| self.read.get(v).copied().unwrap_or_default();
            let names = self
                .unique
                .iter()
                .filter(|(b, p)| b == block || p == pointer);
            let alone = reads(&handed) == 1 && reads(block) == 0 && names.count() == 1;
            let kept = [handed, *block, *pointer, array];
            let kept = kept.iter().all(|v| !self.changed.contains(v));
            (starts && alone && kept).then_some(State {
                block: *block,
                pointer: *pointer,
                array,
            })
        })
    }
}

/// Removes what is said of blocks, and names the arrays behind pointers as they are allocated.
fn merge(
    blocks: &BTreeSet<Variable>,
    arrays: &BTreeMap<Variable, Variable>,
    commands: &mut Vec<Command>,
) {
    commands.retain(|command| match command {
        Command::Declare { variable, .. } => {
            !blocks.contains(variable) && !arrays.contains_key(variable)
        }
        Command::Unique { block, .. } | Command::Release(block) => !blocks.contains(block),
        _others => true,
    });
    for command in commands {
        names_mut(command, &mut |v| *v = arrays.get(v).copied().unwrap_or(*v));
        reads_mut(command, &mut |expression| rename(arrays, expression));
        for list in command.lists_mut() {
            deep(|| merge(blocks, arrays, list));
        }
    }
}

fn rename(arrays: &BTreeMap<Variable, Variable>, expression: &mut Expression) {
    match expression {
        Expression::Variable(v) => *v = arrays.get(v).copied().unwrap_or(*v),
        others => {
            for child in others.children_mut() {
                deep(|| rename(arrays, child));
            }
        }
    }
}
