//! Where the threads of a work-group wait for each other: between two commands that use the same memory,
//! if one of them writes it and threads share one of them. All threads come to such a place together,
//! since what stands around it is computed alike by all of them.

use super::accesses::{Origins, Roots, Touched};
use super::{holds_threads, is_of_threads};
use crate::ir::{Command, FunctionId, Level, Variable};
use crate::turns;
use crate::walk::each_command;
use nova_diag::deep;
use std::collections::BTreeSet;

/// Puts barriers into the body of a loop over work-groups, where needed and nowhere else.
pub(super) fn place(
    origins: &Origins,
    roots: &Roots,
    writing: &BTreeSet<FunctionId>,
    body: &mut Vec<Command>,
) {
    let walk = Walk {
        origins,
        roots,
        writing,
    };
    walk.group(body);
}

/// What has been used since threads last waited for each other.
#[derive(Clone, Debug, Default)]
struct Pending {
    /// Read, by the threads that share a loop or by all.
    reads: BTreeSet<Variable>,
    /// Written by threads that share a loop.
    writes: BTreeSet<Variable>,
}

impl Pending {
    fn add(&mut self, other: &Pending) {
        self.reads.extend(other.reads.iter().copied());
        self.writes.extend(other.writes.iter().copied());
    }

    fn clear(&mut self) {
        *self = Pending::default();
    }
}

struct Walk<'a> {
    origins: &'a Origins,
    roots: &'a Roots,
    writing: &'a BTreeSet<FunctionId>,
}

impl Walk<'_> {
    /// The body of a loop over groups: what a group does next may use its arrays again. Other memory
    /// its iterations do not share.
    fn group(&self, body: &mut Vec<Command>) {
        let mut shared = BTreeSet::new();
        each_command(body, |command| {
            if let Command::Shared { pointer, .. } = command {
                shared.insert(*pointer);
            }
        });
        let mut pending = Pending::default();
        self.list(&mut body.clone(), &mut pending);
        pending.reads.retain(|v| shared.contains(v));
        pending.writes.retain(|v| shared.contains(v));
        self.list(body, &mut pending);
    }

    fn list(&self, commands: &mut Vec<Command>, pending: &mut Pending) {
        let mut out = Vec::with_capacity(commands.len());
        let mut in_turn = false;
        for mut command in std::mem::take(commands) {
            if let turns!() = command {
                // All threads of a group have met where it has had its turn.
                in_turn = !in_turn;
                pending.clear();
            }
            if in_turn {
                out.push(command);
                continue;
            }
            let together =
                !is_of_threads(&command) && command.lists().iter().any(|list| holds_threads(list));
            if !together {
                if matches!(command, Command::Barrier(Level::Thread)) {
                    pending.clear();
                    out.push(command);
                    continue;
                }
                let touched = self
                    .roots
                    .touched(self.writing, std::slice::from_ref(&command));
                self.wait(&touched, pending, &mut out);
                out.push(command);
                continue;
            }
            // What its condition or count reads.
            let mut touched = Touched::default();
            crate::walk::reads(&command, &mut |e| self.roots.loads(e, &mut touched.reads));
            self.wait(&touched, pending, &mut out);
            match &mut command {
                Command::For { body, .. } | Command::Loop { body, .. } => {
                    deep(|| self.round(body, pending));
                }
                others => {
                    let around = pending.clone();
                    for list in others.lists_mut() {
                        let mut own = around.clone();
                        deep(|| self.list(list, &mut own));
                        pending.add(&own);
                    }
                }
            }
            out.push(command);
        }
        *commands = out;
    }

    /// The body of a loop that all threads run, which comes after itself.
    fn round(&self, body: &mut Vec<Command>, pending: &mut Pending) {
        let around = pending.clone();
        let mut once = pending.clone();
        self.list(&mut body.clone(), &mut once);
        // What is used in a round before it is left.
        let used = self.roots.touched(self.writing, body);
        let used = Pending {
            reads: used.reads,
            writes: used.writes,
        };
        pending.add(&once);
        self.list(body, pending);
        pending.add(&around);
        pending.add(&used);
    }

    /// Waits before a command if it uses what others have used since.
    fn wait(&self, touched: &Touched, pending: &mut Pending, out: &mut Vec<Command>) {
        let meet = |mine: &BTreeSet<Variable>, theirs: &BTreeSet<Variable>| {
            let pairs = mine
                .iter()
                .flat_map(|a| theirs.iter().map(move |b| (*a, *b)));
            pairs.into_iter().any(|(a, b)| self.origins.may_meet(a, b))
        };
        if meet(&touched.reads, &pending.writes)
            || meet(&touched.writes, &pending.writes)
            || meet(&touched.writes, &pending.reads)
        {
            out.push(Command::Barrier(Level::Thread));
            pending.clear();
        }
        pending.reads.extend(touched.reads.iter().copied());
        pending.writes.extend(touched.writes.iter().copied());
    }
}
