//! The steps of the threads of a work-group, in order.

use crate::symbolic::Base;
use nova_loop::ir::Variable;
use std::collections::BTreeSet;

/// A use of elements of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Access {
    pub(crate) base: Base,
    pub(crate) writes: bool,
    /// The pointer, for messages.
    pub(crate) pointer: Variable,
}

/// A step of the threads of a group.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// All of them use elements.
    Access(Access),
    /// They share a loop, whose iterations use these elements.
    Threads(BTreeSet<Access>),
    /// They wait for each other.
    Barrier,
    /// The ordered region of the group begins (true), which one thread runs, or ends. It is a barrier.
    Ordered(bool),
    /// They leave the innermost loop.
    Break,
    /// They begin its next iteration.
    Continue,
    /// They run one of these lists.
    Branches(Vec<Vec<Step>>),
    /// They repeat these steps; `may_skip` if the loop may end before each iteration. Each iteration makes
    /// the bases from `first_base` on anew.
    Iterations {
        steps: Vec<Step>,
        may_skip: bool,
        first_base: usize,
    },
}

/// The steps of the threads of the enclosing work-group so far, if there is one: a stack of nested lists.
#[derive(Default)]
pub(crate) struct Waits(pub(crate) Option<Vec<Vec<Step>>>);

impl Waits {
    /// Adds a step, if the walk is inside a loop over work-groups.
    pub(crate) fn step(&mut self, step: Step) {
        if let Some(list) = self.0.as_mut().and_then(|lists| lists.last_mut()) {
            list.push(step);
        }
    }

    /// Begins a list of its own for the next steps.
    pub(crate) fn open(&mut self) {
        if let Some(lists) = &mut self.0 {
            lists.push(Vec::new());
        }
    }

    /// Ends the innermost list and returns it.
    pub(crate) fn close(&mut self) -> Vec<Step> {
        let list = self.0.as_mut().and_then(Vec::pop);
        list.unwrap_or_default()
    }
}
