//! Barriers for the threads of a work-group. A barrier stands between two commands that use the
//! same memory, if one of them writes it and threads share one of them. All threads reach a barrier
//! together, since all of them compute the commands that enclose it alike.

use super::accesses::{Origins, Roots, Touched};
use super::{holds_threads, is_of_threads};
use nova_diag::deep;
use nova_loop::ir::{Command, FunctionId, Level, Variable};
use nova_loop::ordered_commands;
use nova_loop::walk::each_command;
use std::collections::BTreeSet;

/// Puts barriers into the body of a loop over work-groups, only where they are needed.
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

/// The memory used since the last barrier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pending {
    /// Memory that was read, by the threads that share a loop or by all threads.
    reads: BTreeSet<Variable>,
    /// Memory that was written by threads that share a loop.
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

/// The pending uses where threads leave a loop from inside, and where they continue with its next
/// iteration. `None` if that never happens.
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
    /// The enclosing loops that all threads run.
    loops: Vec<Ways>,
}

impl Walk<'_> {
    /// Adds barriers to the body of a loop over groups. The next iteration of a group may use the
    /// arrays of the group again. Iterations share no other memory.
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

    /// Puts barriers into commands. Returns the uses pending after them, if threads reach their
    /// end.
    fn list(&mut self, commands: &mut Vec<Command>, pending: Pending) -> Option<Pending> {
        let mut out = Vec::with_capacity(commands.len());
        let mut way = Some(pending);
        let mut in_ordered_region = false;
        for mut command in std::mem::take(commands) {
            if let ordered_commands!() = command {
                // All threads of a group have met at the beginning and the end of an ordered
                // region.
                in_ordered_region = !in_ordered_region;
                way = way.map(|_| Pending::default());
            }
            if let Some(pending) = way.take() {
                way = match in_ordered_region {
                    true => Some(pending),
                    false => deep(|| self.command(&mut command, pending, &mut out)),
                };
            }
            out.push(command);
        }
        *commands = out;
        way
    }

    /// Returns the uses pending after a command. A barrier before the command is added to `out`.
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
        // The reads of its condition or count.
        let mut touched = Touched::default();
        nova_loop::walk::reads(command, &mut |e| self.roots.loads(e, &mut touched.reads));
        self.wait(&touched, &mut pending, out);
        match command {
            Command::For { body, .. } => self.iterations(body, pending, true),
            Command::Loop { body, .. } => self.iterations(body, pending, false),
            others => {
                let mut after = None;
                for list in others.lists_mut() {
                    let end = self.list(list, pending.clone());
                    end.into_iter().for_each(|end| add_way(&mut after, end));
                }
                after
            }
        }
    }

    /// Adds barriers to the body of a loop that all threads run. The body may follow itself, so it
    /// is walked until a fixed point is reached. The loop may end before each iteration if
    /// `may_skip`, or where it is left.
    fn iterations(
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
                let mut after = ways.left;
                if may_skip {
                    add_way(&mut after, head);
                }
                return after;
            }
        }
    }

    /// Notes the uses pending where commands leave the enclosing loop or continue with its next
    /// iteration.
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

    /// Adds a barrier before a command, if it uses what others have used since the last one.
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
