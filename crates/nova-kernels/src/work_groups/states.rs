//! States of loops that a whole work-group runs: an array that each iteration replaces, updated in
//! place. Before the loop, the state takes over the only reference to a new array. `Unique` ensures
//! in each iteration that no other handle holds the array. Work-groups do not count references. But
//! where the program shows that there is never another reference, `Unique` has nothing to do, and
//! the state is the new array.

use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Variable};
use nova_loop::walk::{each_command, names_mut, reads, reads_mut, writes};
use std::collections::{BTreeMap, BTreeSet};

/// A state: its block and pointer, and the array that it begins as.
struct State {
    block: Variable,
    pointer: Variable,
    array: Variable,
}

/// Replaces states that always hold the only reference by the arrays that they begin as.
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

/// The uses of the names of blocks and pointers in a body.
#[derive(Default)]
struct Uses {
    /// For each block, the pointer that is assigned by the only command that allocates the block.
    allocated: BTreeMap<Variable, Variable>,
    /// For each variable, the variable that it is declared as, or none if it has several different
    /// declarations.
    declared: BTreeMap<Variable, Option<Variable>>,
    /// Pairs of a block and a pointer in `Unique` commands.
    unique: BTreeSet<(Variable, Variable)>,
    /// The number of times that a variable is read.
    read: BTreeMap<Variable, u32>,
    /// Variables that are given another value, or whose block gets another holder, after their
    /// declaration or allocation.
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

    /// Returns the states whose arrays have no other holder.
    fn states(&self) -> impl Iterator<Item = State> {
        self.unique.iter().filter_map(|(block, pointer)| {
            let source = self.declared.get(block).copied().flatten()?;
            let array = *self.allocated.get(&source)?;
            let starts = self.declared.get(pointer).copied().flatten() == Some(array);
            let reads = |v: &Variable| self.read.get(v).copied().unwrap_or_default();
            let names = self
                .unique
                .iter()
                .filter(|(b, p)| b == block || p == pointer);
            let alone = reads(&source) == 1 && reads(block) == 0 && names.count() == 1;
            let unchanged = [source, *block, *pointer, array];
            let unchanged = unchanged.iter().all(|v| !self.changed.contains(v));
            (starts && alone && unchanged).then_some(State {
                block: *block,
                pointer: *pointer,
                array,
            })
        })
    }
}

/// Removes the commands about these blocks, and replaces the pointers of states by those of the
/// arrays.
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
