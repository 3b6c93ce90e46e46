//! The steps of the threads of a work-group, in order, and the barriers between them. If different threads
//! use one array and one of them writes it, a barrier must stand on every control-flow path from the one use
//! to the other.
//!
//! Outside of the loops that they share, all threads of a group run the same commands and read the same
//! values. No variable is assigned in a loop that they share ([`Rule::Scalars`]). All threads write
//! their arrays on the stack alike. Other memory that they read is not written at the same time. So they
//! take the same branches, and reach a barrier together, whatever conditions and loops stand around it.
//!
//! A loop comes to the same command several times. The uses of an iteration are compared with those of the
//! next one by the origins of blocks alone, since a pointer may lead elsewhere in the next iteration.
//! An array of a group has one place, however often it is made ([`Rule::Places`]).

use crate::bases::Bases;
use crate::blocks::{Root, RootSet};
use crate::loop_nest::ParallelLoop;
use crate::refusal::Rule;
use crate::stale;
use crate::state::State;
use crate::steps::{Access, Step};
use crate::walk::Walk;
use nova_diag::deep;
use nova_loop::ir::{Command, Level};
use nova_loop::print::print_variable;
use std::collections::{BTreeMap, BTreeSet};

/// Begins a parallel loop. If it is over groups, returns the steps of the enclosing loop over groups.
pub(crate) fn enter_threads(walk: &mut Walk, level: Level) -> Option<Vec<Vec<Step>>> {
    match level {
        Level::Block => walk.waits.0.replace(vec![Vec::new()]),
        Level::Sequential
        | Level::Grid
        | Level::Thread
        | Level::Vector
        | Level::Independent
        | Level::Unrolled
        | Level::Rank => {
            walk.waits.open();
            None
        }
    }
}

/// Ends the innermost parallel loop.
pub(crate) fn leave_threads(
    walk: &mut Walk,
    level: Level,
    body: &[Command],
    outer: Option<Vec<Vec<Step>>>,
) {
    let steps = walk.waits.close();
    let Some(parallel_loop) = walk.nest.last() else {
        return;
    };
    match level {
        Level::Block => {
            let mut refused = refused(&walk.state, parallel_loop, &steps, body);
            refused.extend(stale::refused(&walk.state, body));
            walk.waits.0 = outer;
            if let Some(parallel_loop) = walk.nest.last_mut() {
                parallel_loop.refused.extend(refused);
            }
        }
        Level::Thread => {
            let mut found = BTreeSet::new();
            accesses(&steps, &mut found);
            found.retain(|access| !is_own(&walk.state.bases, parallel_loop, access));
            walk.waits.step(Step::Threads(found));
        }
        Level::Sequential
        | Level::Grid
        | Level::Vector
        | Level::Independent
        | Level::Unrolled
        | Level::Rank => {
            let first_base = parallel_loop.first_base;
            walk.waits.step(Step::Iterations {
                steps,
                may_skip: true,
                first_base,
            });
        }
    }
}

/// True if an iteration of a loop has itself made the block that it accesses.
fn is_own(bases: &Bases, parallel_loop: &ParallelLoop, access: &Access) -> bool {
    let roots = &bases[access.base].roots;
    access.base.index() >= parallel_loop.first_base && roots.is_subset(&parallel_loop.sites)
}

/// Adds all accesses of some steps.
fn accesses(steps: &[Step], found: &mut BTreeSet<Access>) {
    for step in steps {
        match step {
            Step::Access(access) => {
                found.insert(*access);
            }
            Step::Threads(all) => found.extend(all),
            Step::Branches(lists) => lists.iter().for_each(|list| deep(|| accesses(list, found))),
            Step::Iterations { steps, .. } => deep(|| accesses(steps, found)),
            Step::Barrier | Step::Ordered(_) | Step::Break | Step::Continue => {}
        }
    }
}

/// The accesses since the last barrier. Each has the first base that each iteration makes anew, if the access
/// is of an earlier iteration.
type Pending = BTreeMap<Access, usize>;

/// The pending accesses on the exit edges and back edges of a loop, if there are such edges.
#[derive(Default)]
struct Edges {
    exit: Option<Pending>,
    back: Option<Pending>,
}

struct Flow<'w, 'p> {
    state: &'w State<'p>,
    /// The arrays that each thread of the group has for itself.
    own: RootSet,
    loops: Vec<Edges>,
    in_ordered: bool,
    refused: BTreeSet<(Rule, String)>,
}

/// Returns the conflicting accesses of the threads of a group.
fn refused(
    state: &State,
    parallel_loop: &ParallelLoop,
    steps: &[Step],
    body: &[Command],
) -> BTreeSet<(Rule, String)> {
    let (mut own, mut shared) = (RootSet::new(), RootSet::new());
    arrays(body, &mut own, &mut shared);
    let mut flow = Flow {
        state,
        own,
        loops: Vec::new(),
        in_ordered: false,
        refused: BTreeSet::new(),
    };
    let end = flow.list(steps, Pending::new());
    // The next iteration of the group may use its arrays again. Iterations share no other memory.
    let mut again = aged(end.unwrap_or_default(), parallel_loop.first_base);
    again.retain(|access, _| {
        let roots = &state.bases[access.base].roots;
        state.bases.blocks.meet(roots, &shared)
    });
    flow.list(steps, again);
    flow.refused
}

/// Adds the arrays on the stack of each thread of a group, and those of the group.
fn arrays(commands: &[Command], own: &mut RootSet, shared: &mut RootSet) {
    for command in commands {
        match command {
            Command::Local { pointer, .. } => {
                own.insert(Root::Site(*pointer));
            }
            Command::Shared { pointer, .. } => {
                shared.insert(Root::Site(*pointer));
            }
            Command::For {
                level: Level::Thread,
                ..
            } => continue,
            _others => {}
        }
        for list in command.lists() {
            deep(|| arrays(list, own, shared));
        }
    }
}

/// Turns the accesses that are pending at the end of an iteration into those at the start of the next one.
fn aged(mut pending: Pending, first_base: usize) -> Pending {
    for (access, other) in &mut pending {
        if access.base.index() >= first_base {
            *other = first_base.min(*other);
        }
    }
    pending
}

fn add(pending: &mut Pending, more: Pending) {
    for (access, other) in more {
        let known = pending.entry(access).or_insert(other);
        *known = other.min(*known);
    }
}

fn add_edge(edge: &mut Option<Pending>, pending: Pending) {
    add(edge.get_or_insert_with(Pending::new), pending);
}

impl Flow<'_, '_> {
    /// Returns the accesses that are pending after some steps, if threads reach their end.
    fn list(&mut self, steps: &[Step], mut pending: Pending) -> Option<Pending> {
        for step in steps {
            pending = deep(|| self.step(step, pending))?;
        }
        Some(pending)
    }

    fn step(&mut self, step: &Step, mut pending: Pending) -> Option<Pending> {
        match step {
            // One thread runs the ordered region, between two barriers.
            Step::Access(_) if self.in_ordered => {}
            Step::Access(access) if self.is_own(access) => {}
            Step::Access(access) => {
                if access.writes {
                    self.refuse(Rule::Waits, access, "all threads of a group write");
                }
                self.compare(&pending, access);
                pending.insert(*access, usize::MAX);
            }
            Step::Threads(all) => {
                for access in all {
                    match self.is_own(access) {
                        true if access.writes => {
                            let message = "threads write together what each has for itself:";
                            self.refuse(Rule::Places, access, message);
                        }
                        true => {}
                        false => self.compare(&pending, access),
                    }
                }
                let others = all.iter().filter(|access| !self.is_own(access));
                pending.extend(others.map(|access| (*access, usize::MAX)));
            }
            Step::Barrier => pending.clear(),
            Step::Ordered(begins) => {
                self.in_ordered = *begins;
                pending.clear();
            }
            Step::Break | Step::Continue => {
                let is_break = matches!(step, Step::Break);
                if let Some(edges) = self.loops.last_mut() {
                    let edge = match is_break {
                        true => &mut edges.exit,
                        false => &mut edges.back,
                    };
                    add_edge(edge, pending);
                }
                return None;
            }
            Step::Branches(lists) => {
                let mut after = None;
                for list in lists {
                    let end = self.list(list, pending.clone());
                    end.into_iter().for_each(|end| add_edge(&mut after, end));
                }
                return after;
            }
            Step::Iterations {
                steps,
                may_skip,
                first_base,
            } => return self.iterations(steps, *may_skip, *first_base, pending),
        }
        Some(pending)
    }

    /// Analyses the steps of a loop until the back edges add nothing; returns the accesses that are pending
    /// after the loop.
    fn iterations(
        &mut self,
        steps: &[Step],
        may_skip: bool,
        first_base: usize,
        mut head: Pending,
    ) -> Option<Pending> {
        loop {
            self.loops.push(Edges::default());
            let end = self.list(steps, head.clone());
            let edges = self.loops.pop().unwrap_or_default();
            let before = head.clone();
            for back in [end, edges.back].into_iter().flatten() {
                add(&mut head, aged(back, first_base));
            }
            if head == before {
                let mut after = edges.exit;
                if may_skip {
                    add_edge(&mut after, head);
                }
                return after;
            }
        }
    }

    /// True if each thread has the array for itself.
    fn is_own(&self, access: &Access) -> bool {
        let roots = &self.state.bases[access.base].roots;
        !roots.is_empty() && roots.is_subset(&self.own)
    }

    /// Refuses an access that may meet a pending one, if one of them writes.
    fn compare(&mut self, pending: &Pending, access: &Access) {
        let meets = |(other, first): (&Access, &usize)| {
            (access.writes || other.writes) && self.may_meet(access, other, *first)
        };
        if pending.iter().any(meets) {
            let message = match access.writes {
                true => "threads write what others may still use:",
                false => "threads read what others may still write:",
            };
            self.refuse(Rule::Waits, access, message);
        }
    }

    /// True if two accesses may be to one block. Bases from `first` on are made anew in each iteration.
    fn may_meet(&self, access: &Access, before: &Access, first: usize) -> bool {
        let roots = |access: &Access| &self.state.bases[access.base].roots;
        let is_other = before.base.index() >= first && access.base.index() >= first;
        let by_base = is_other || self.state.bases.meet(before.base, access.base);
        by_base && self.state.bases.blocks.meet(roots(before), roots(access))
    }

    fn refuse(&mut self, rule: Rule, access: &Access, message: &str) {
        let name = print_variable(self.state.program, access.pointer);
        self.refused.insert((rule, format!("{message} {name}")));
    }
}
