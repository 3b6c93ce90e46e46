//! A group of functions that call each other, split into basic blocks.

use super::basic_blocks::{BasicBlock, declared, label};
use super::live::Set;
use super::pointers::{Pointers, Root};
use nova_loop::ir::{Command, Function, FunctionId, Variable};
use nova_loop::walk::{assigned, each_command};
use std::collections::BTreeMap;

/// A function of the group, copied.
pub(super) struct Member {
    pub(super) function: Function,
    /// The variables to which its results are assigned for its caller.
    pub(super) returned: Vec<Variable>,
    /// Its first basic block.
    pub(super) first: usize,
    /// The loops that were split: the basic block before each, the one that begins an iteration,
    /// and the variables declared in it.
    pub(super) split_loops: Vec<(usize, usize, Set)>,
}

/// Facts about a group that are collected before it is written.
pub(super) struct Group {
    pub(super) members: BTreeMap<FunctionId, Member>,
    pub(super) basic_blocks: Vec<BasicBlock>,
    /// The function that each basic block belongs to.
    pub(super) owners: Vec<Option<FunctionId>>,
    pub(super) state: Variable,
    /// The variables that each basic block needs.
    pub(super) needed: Vec<Set>,
    /// The variables that are declared for all basic blocks.
    pub(super) shared: Set,
    pub(super) pointers: Pointers,
}

impl Group {
    /// Returns the memory that a pointer leads to, if it must be recomputed after calls.
    pub(super) fn root(&self, variable: Variable) -> Option<Root> {
        self.pointers.roots.get(&variable).copied()
    }

    /// True if the arrays that a loop makes on a stack are dead when an iteration ends: no pointer
    /// declared outside the loop leads to them.
    pub(super) fn ends_with_iterations(&self, owner: FunctionId, inside: &Set) -> bool {
        let Some(member) = self.members.get(&owner) else {
            return false;
        };
        let mut fits = true;
        each_command(&member.function.body, |command| {
            let (Command::For { body, .. } | Command::Loop { body, .. }) = command else {
                return;
            };
            if declared(body) != *inside {
                return;
            }
            for v in assigned(body) {
                let stacked = matches!(self.root(v), Some(Root::Stack(_)));
                fits &= !stacked || inside.contains(&v);
            }
        });
        fits
    }
}

/// Returns the command that makes a basic block the next one.
pub(super) fn goes_to(state: Variable, basic_block: usize) -> Command {
    Command::Assign {
        variable: state,
        value: label(basic_block),
    }
}
