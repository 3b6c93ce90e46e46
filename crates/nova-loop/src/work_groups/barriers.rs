//! Where the threads of a work-group wait for each other: between two commands that use the same memory,
//! if one of them writes it and threads share one of them. All threads come to such a place together,
//! since what stands around it is computed alike by all of them.

use super::accesses::{Origins, Roots, Touched};
use super::{holds_threads, is_of_threads};
use crate::ir::{Command, FunctionId, Level, Variable};
use crate::ordered_commands;
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
    let mut walk = Walk {
        origins,
        roots,
        writing,
        loops: Vec::new(),
    };
    walk.group(body);
}

/// What has been used since threads last waited for each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pending {
    /// Read, by the threads that share a loop or by all.
    reads: BTreeSet<Variable>,
    /// Written by threads that share a loop.
    writes: BTreeSet<Variable>,
}

impl Pending {
    fn add(&mut self, other: Pending) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
    }

    fn clear(&mut self) {
        *self = Pending::default();
    }

    fn uses(&mut self, touched: &Touched) {
        self.reads.extend(touched.reads.iter().copied());
        self.writes.extend(touched.writes.iter().copied());
    }
}

/// What is pending where threads leave a loop from inside, and where they come to its next round so; `None`
/// where no way leads.
#[derive(Default)]
struct Ways {
    left: Option<Pending>,
    next: Option<Pending>,
}

fn add_way(way: &mut Option<Pending>, pending: Pending) {
    way.get_or_insert_with(Pending::default).add(pending);
}

struct Walk<'a> {
    origins: &'a Origins,
    roots: &'a Roots,
    writing: &'a BTreeSet<FunctionId>,
    /// The loops around that all threads run.
    loops: Vec<Ways>,
}

impl Walk<'_> {
    /// The body of a loop over groups: what a group does next may use its arrays again. Other memory
    /// its iterations do not share.
    fn group(&mut self, body: &mut Vec<Command>) {
        let mut shared = BTreeSet::new();
        each_command(body, |command| {
            if let Command::Shared { pointer, .. } = command {
                shared.insert(*pointer);
            }
        });
        let end = self.list(&mut body.clone(), Pending::default());
        let mut pending = end.unwrap_or_default();
        pending.reads.retain(|v| shared.contains(v));
        pending.writes.retain(|v| shared.contains(v));
        self.list(body, pending);
    }

    /// Puts barriers into commands; gives what is pending behind them, if threads come to their end.
    fn list(&mut self, commands: &mut Vec<Command>, pending: Pending) -> Option<Pending> {
        let mut out = Vec::with_capacity(commands.len());
        let mut way = Some(pending);
        let mut in_turn = false;
        for mut command in std::mem::take(commands) {
            if let ordered_commands!() = command {
                // All threads of a group have met where it has had its turn.
                in_turn = !in_turn;
                way = way.map(|_| Pending::default());
            }
            if let Some(pending) = way.take() {
                way = match in_turn {
                    true => Some(pending),
                    false => deep(|| self.command(&mut command, pending, &mut out)),
                };
            }
            out.push(command);
        }
        *commands = out;
        way
    }

    /// A command, and what is pending behind it; a barrier before it is added to what is before it.
    fn command(
        &mut self,
        command: &mut Command,
        mut pending: Pending,
        out: &mut Vec<Command>,
    ) -> Option<Pending> {
        if let Command::Barrier(Level::Thread) = command {
            pending.clear();
            return Some(pending);
        }
        let together = command.lists().iter().any(|list| holds_threads(list));
        if is_of_threads(command) || !together {
            let commands = std::slice::from_ref(&*command);
            let touched = self.roots.touched(self.writing, commands);
            self.wait(&touched, &mut pending, out);
            self.jumps(commands, &pending);
            let is_left = matches!(command, Command::Break | Command::Continue);
            return (!is_left).then_some(pending);
        }
        // What its condition or count reads.
        let mut touched = Touched::default();
        crate::walk::reads(command, &mut |e| self.roots.loads(e, &mut touched.reads));
        self.wait(&touched, &mut pending, out);
        match command {
            Command::For { body, .. } => self.rounds(body, pending, true),
            Command::Loop { body, .. } => self.rounds(body, pending, false),
            others => {
                let mut behind = None;
                for list in others.lists_mut() {
                    let end = self.list(list, pending.clone());
                    end.into_iter().for_each(|end| add_way(&mut behind, end));
                }
                behind
            }
        }
    }

    /// The body of a loop that all threads run, which comes after itself until nothing is added; such a
    /// loop may end before each round, or where it is left.
    fn rounds(
        &mut self,
        body: &mut Vec<Command>,
        mut head: Pending,
        may_skip: bool,
    ) -> Option<Pending> {
        loop {
            let mut placed = body.clone();
            self.loops.push(Ways::default());
            let end = self.list(&mut placed, head.clone());
            let ways = self.loops.pop().unwrap_or_default();
            let before = head.clone();
            for back in [end, ways.next].into_iter().flatten() {
                head.add(back);
            }
            if head == before {
                *body = placed;
                let mut behind = ways.left;
                if may_skip {
                    add_way(&mut behind, head);
                }
                return behind;
            }
        }
    }

    /// Notes what is pending where commands leave the loop around them, or come to its next round.
    fn jumps(&mut self, commands: &[Command], pending: &Pending) {
        for command in commands {
            let ways = self.loops.last_mut();
            match (command, ways) {
                (Command::Break, Some(ways)) => add_way(&mut ways.left, pending.clone()),
                (Command::Continue, Some(ways)) => add_way(&mut ways.next, pending.clone()),
                (Command::For { .. } | Command::Loop { .. }, _) => {}
                (others, _) => {
                    for list in others.lists() {
                        deep(|| self.jumps(list, pending));
                    }
                }
            }
        }
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
        pending.uses(touched);
    }
}
