//! What threads of a work-group do, one after the other, and where they wait for each other: between two
//! uses of one array by different threads, one of which writes it, stands a barrier, on every way from the
//! one to the other.
//!
//! Outside of the loops that they share, all threads of a group run the same commands. They read the same
//! values there, since no variable is assigned in a loop that they share ([`Rule::Scalars`]), each array on
//! the stack is written alike, and what is read elsewhere nobody writes meanwhile. So they decide alike, and
//! reach a barrier together, whatever conditions and loops of their own stand around it.
//!
//! A place in the order of commands is not one moment: a loop comes to it again. What a round has used is
//! compared with what the next one uses by where blocks come from alone, since a pointer of the next round
//! may lead elsewhere. An array of a group has one place, however often it is made ([`Rule::Places`]).

use super::Rule;
use super::blocks::{Root, RootSet};
use super::frames::Frame;
use super::stale;
use super::values::Base;
use super::walk::Walk;
use crate::ir::{Command, Level, Variable};
use crate::print::print_variable;
use nova_diag::deep;
use std::collections::{BTreeMap, BTreeSet};

/// A use of elements of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Access {
    pub(super) base: Base,
    pub(super) writes: bool,
    /// The pointer, for messages.
    pub(super) pointer: Variable,
}

/// What threads of a group do next.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// All of them use elements.
    Access(Access),
    /// They share a loop, whose iterations use these.
    Threads(BTreeSet<Access>),
    /// They wait for each other.
    Barrier,
    /// The turn of the group begins, in which one does what stands there, or ends. All meet there.
    Turn(bool),
    /// They leave the loop around, or come to its next round.
    Break,
    Continue,
    /// They do one of these.
    Branches(Vec<Vec<Step>>),
    /// They do this again and again; `may_skip` if the loop may end before each round. Bases from the
    /// first one on are made in each round anew.
    Rounds {
        steps: Vec<Step>,
        may_skip: bool,
        first_base: usize,
    },
}

impl Walk<'_> {
    /// Takes a step, if a work-group is around.
    pub(super) fn step(&mut self, step: Step) {
        if let Some(list) = self.waits.as_mut().and_then(|lists| lists.last_mut()) {
            list.push(step);
        }
    }

    /// What comes next stands in a list of its own.
    pub(super) fn open(&mut self) {
        if let Some(lists) = &mut self.waits {
            lists.push(Vec::new());
        }
    }

    /// The list that ends here.
    pub(super) fn close(&mut self) -> Vec<Step> {
        let list = self.waits.as_mut().and_then(Vec::pop);
        list.unwrap_or_default()
    }

    /// The beginning of a parallel loop; gives what is known of the loop over groups around.
    pub(super) fn enter_threads(&mut self, level: Level) -> Option<Vec<Vec<Step>>> {
        match level {
            Level::Block => self.waits.replace(vec![Vec::new()]),
            Level::Sequential
            | Level::Grid
            | Level::Thread
            | Level::Vector
            | Level::Independent
            | Level::WrittenOut
            | Level::Rank => {
                self.open();
                None
            }
        }
    }

    /// The end of the innermost parallel loop.
    pub(super) fn leave_threads(
        &mut self,
        level: Level,
        body: &[Command],
        around: Option<Vec<Vec<Step>>>,
    ) {
        let steps = self.close();
        let Some(frame) = self.frames.last() else {
            return;
        };
        match level {
            Level::Block => {
                let mut refused = refused(self, frame, &steps, body);
                refused.extend(stale::refused(self, body));
                self.waits = around;
                if let Some(frame) = self.frames.last_mut() {
                    frame.refused.extend(refused);
                }
            }
            Level::Thread => {
                let mut found = BTreeSet::new();
                accesses(&steps, &mut found);
                found.retain(|access| !self.is_own(frame, access));
                self.step(Step::Threads(found));
            }
            Level::Sequential
            | Level::Grid
            | Level::Vector
            | Level::Independent
            | Level::WrittenOut
            | Level::Rank => {
                let first_base = frame.first_base;
                self.step(Step::Rounds {
                    steps,
                    may_skip: true,
                    first_base,
                });
            }
        }
    }

    /// True if an iteration of a loop has made what it uses.
    fn is_own(&self, frame: &Frame, access: &Access) -> bool {
        let roots = &self.bases[access.base.index()].roots;
        access.base.index() >= frame.first_base && roots.is_subset(&frame.sites)
    }
}

/// All that is used in some steps.
fn accesses(steps: &[Step], found: &mut BTreeSet<Access>) {
    for step in steps {
        match step {
            Step::Access(access) => {
                found.insert(*access);
            }
            Step::Threads(all) => found.extend(all),
            Step::Branches(lists) => lists.iter().for_each(|list| deep(|| accesses(list, found))),
            Step::Rounds { steps, .. } => deep(|| accesses(steps, found)),
            Step::Barrier | Step::Turn(_) | Step::Break | Step::Continue => {}
        }
    }
}

/// What has been used since threads last waited for each other. Those of earlier rounds have the first base
/// that is another one in each round.
type Pending = BTreeMap<Access, usize>;

/// What is pending where a loop is left, and where its next round begins, if any way leads there.
#[derive(Default)]
struct Ways {
    left: Option<Pending>,
    next: Option<Pending>,
}

struct Flow<'w, 'p> {
    walk: &'w Walk<'p>,
    /// Arrays that each thread of the group has for itself.
    own: RootSet,
    loops: Vec<Ways>,
    in_turn: bool,
    refused: BTreeSet<(Rule, String)>,
}

/// What threads of a group do to each other.
fn refused(
    walk: &Walk,
    frame: &Frame,
    steps: &[Step],
    body: &[Command],
) -> BTreeSet<(Rule, String)> {
    let (mut own, mut shared) = (RootSet::new(), RootSet::new());
    arrays(body, &mut own, &mut shared);
    let mut flow = Flow {
        walk,
        own,
        loops: Vec::new(),
        in_turn: false,
        refused: BTreeSet::new(),
    };
    let end = flow.list(steps, Pending::new());
    // What a group does next may use its arrays again; other memory its iterations do not share.
    let mut again = aged(end.unwrap_or_default(), frame.first_base);
    again.retain(|access, _| {
        let roots = &walk.bases[access.base.index()].roots;
        walk.blocks.meet(roots, &shared)
    });
    flow.list(steps, again);
    flow.refused
}

/// The arrays on the stack of each thread of a group, and those of the group.
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

/// What has been pending at the end of a round, in the next one.
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

fn add_way(way: &mut Option<Pending>, pending: Pending) {
    add(way.get_or_insert_with(Pending::new), pending);
}

impl Flow<'_, '_> {
    /// What is pending behind some steps, if threads come to their end.
    fn list(&mut self, steps: &[Step], mut pending: Pending) -> Option<Pending> {
        for step in steps {
            pending = deep(|| self.step(step, pending))?;
        }
        Some(pending)
    }

    fn step(&mut self, step: &Step, mut pending: Pending) -> Option<Pending> {
        match step {
            // In its turn one thread does what stands there, between two barriers.
            Step::Access(_) if self.in_turn => {}
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
            Step::Turn(begins) => {
                self.in_turn = *begins;
                pending.clear();
            }
            Step::Break | Step::Continue => {
                let is_break = matches!(step, Step::Break);
                if let Some(ways) = self.loops.last_mut() {
                    let way = match is_break {
                        true => &mut ways.left,
                        false => &mut ways.next,
                    };
                    add_way(way, pending);
                }
                return None;
            }
            Step::Branches(lists) => {
                let mut behind = None;
                for list in lists {
                    let end = self.list(list, pending.clone());
                    end.into_iter().for_each(|end| add_way(&mut behind, end));
                }
                return behind;
            }
            Step::Rounds {
                steps,
                may_skip,
                first_base,
            } => return self.rounds(steps, *may_skip, *first_base, pending),
        }
        Some(pending)
    }

    /// Rounds, until no way leads to the next one with something more.
    fn rounds(
        &mut self,
        steps: &[Step],
        may_skip: bool,
        first_base: usize,
        mut head: Pending,
    ) -> Option<Pending> {
        loop {
            self.loops.push(Ways::default());
            let end = self.list(steps, head.clone());
            let ways = self.loops.pop().unwrap_or_default();
            let before = head.clone();
            for back in [end, ways.next].into_iter().flatten() {
                add(&mut head, aged(back, first_base));
            }
            if head == before {
                let mut behind = ways.left;
                if may_skip {
                    add_way(&mut behind, head);
                }
                return behind;
            }
        }
    }

    /// True if each thread has the array for itself.
    fn is_own(&self, access: &Access) -> bool {
        let roots = &self.walk.bases[access.base.index()].roots;
        !roots.is_empty() && roots.is_subset(&self.own)
    }

    /// An access waits for all that is pending which it may meet.
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

    /// True if two accesses may be to one block, where bases from one on are others in each round.
    fn may_meet(&self, access: &Access, before: &Access, first: usize) -> bool {
        let roots = |access: &Access| &self.walk.bases[access.base.index()].roots;
        let is_other = before.base.index() >= first && access.base.index() >= first;
        let by_base = is_other || self.walk.meet(before.base, access.base);
        by_base && self.walk.blocks.meet(roots(before), roots(access))
    }

    fn refuse(&mut self, rule: Rule, access: &Access, message: &str) {
        let name = print_variable(self.walk.program, access.pointer);
        self.refused.insert((rule, format!("{message} {name}")));
    }
}
