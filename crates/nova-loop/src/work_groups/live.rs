//! Pointers that are still used behind the allocation of an array: liveness, backwards through the body of
//! a loop over work-groups. Loops are gone through until nothing is added.

use crate::ir::{Command, Expression, Variable};
use crate::walk::{reads, writes};
use nova_diag::deep;
use std::collections::{BTreeMap, BTreeSet};

type Live = BTreeSet<Variable>;

/// The variables that are live behind each allocation of a body, by the pointer that it makes.
pub(super) fn behind_allocations(body: &[Command]) -> BTreeMap<Variable, Live> {
    let mut walk = Walk {
        found: BTreeMap::new(),
    };
    let none = Live::new();
    walk.list(body, none.clone(), &none, &none);
    walk.found
}

struct Walk {
    found: BTreeMap<Variable, Live>,
}

impl Walk {
    /// What is live before commands, where this is behind them, and where a break or a continue leads.
    fn list(&mut self, commands: &[Command], behind: Live, left: &Live, next: &Live) -> Live {
        let mut live = behind;
        for command in commands.iter().rev() {
            live = deep(|| self.command(command, live, left, next));
        }
        live
    }

    fn command(&mut self, command: &Command, mut live: Live, left: &Live, next: &Live) -> Live {
        match command {
            Command::Break => return left.clone(),
            Command::Continue => return next.clone(),
            Command::Return | Command::Fail { .. } => return Live::new(),
            Command::If {
                then, otherwise, ..
            } => {
                let first = self.list(then, live.clone(), left, next);
                live = self.list(otherwise, live, left, next);
                live.extend(first);
            }
            Command::Switch { cases, .. } => {
                let behind = std::mem::take(&mut live);
                for case in cases {
                    live.extend(self.list(case, behind.clone(), left, next));
                }
            }
            Command::For { body, .. } => live = self.rounds(body, live.clone(), &live),
            Command::Loop { body, .. } => live = self.rounds(body, Live::new(), &live),
            Command::Allocate { pointer, .. } => {
                live.remove(pointer);
                let found = self.found.entry(*pointer).or_default();
                found.extend(live.iter().copied());
            }
            Command::Declare { variable, .. } | Command::Assign { variable, .. } => {
                live.remove(variable);
            }
            Command::Local { pointer, .. }
            | Command::Shared { pointer, .. }
            | Command::Spare { pointer, .. } => {
                live.remove(pointer);
            }
            // What is only written through is used; what gets a new value otherwise may keep the old one.
            others => writes(others, &mut |v| {
                live.insert(v);
            }),
        }
        reads(command, &mut |expression| variables(expression, &mut live));
        live
    }

    /// What is live before the first round of a loop, where `head` is before each and `behind` behind it.
    fn rounds(&mut self, body: &[Command], mut head: Live, behind: &Live) -> Live {
        loop {
            let found = self.list(body, head.clone(), behind, &head);
            let before = head.len();
            head.extend(found);
            if head.len() == before {
                return head;
            }
        }
    }
}

fn variables(expression: &Expression, into: &mut Live) {
    expression.each_variable(&mut |v| {
        into.insert(v);
    });
}
