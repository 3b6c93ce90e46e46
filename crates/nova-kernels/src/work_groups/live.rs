//! Liveness of pointers after the allocation of an array, as a backward analysis of the body of a
//! loop over work-groups. Loops are walked until a fixed point is reached.

use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Variable};
use nova_loop::walk::{reads, writes};
use std::collections::{BTreeMap, BTreeSet};

type Live = BTreeSet<Variable>;

/// Returns the variables that are live after each allocation of a body, by the pointer that the
/// allocation assigns.
pub(super) fn after_allocations(body: &[Command]) -> BTreeMap<Variable, Live> {
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
    /// Returns the variables that are live before commands. The others are those that are live
    /// after the commands (`after`), where a break leads (`left`), and where a continue leads
    /// (`next`).
    fn list(&mut self, commands: &[Command], after: Live, left: &Live, next: &Live) -> Live {
        let mut live = after;
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
                let after = std::mem::take(&mut live);
                for case in cases {
                    live.extend(self.list(case, after.clone(), left, next));
                }
            }
            Command::For { body, .. } => live = self.iterations(body, live.clone(), &live),
            Command::Loop { body, .. } => live = self.iterations(body, Live::new(), &live),
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
            // A pointer that is written through is used. A variable that is assigned in another way
            // may keep its old value.
            others => writes(others, &mut |v| {
                live.insert(v);
            }),
        }
        reads(command, &mut |expression| variables(expression, &mut live));
        live
    }

    /// Returns the variables that are live before the first iteration of a loop. `head` are those
    /// live before each iteration, and `after` those live after the loop.
    fn iterations(&mut self, body: &[Command], mut head: Live, after: &Live) -> Live {
        loop {
            let found = self.list(body, head.clone(), after, &head);
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
