//! The blocks between which arrays flow, and which of them can be one.

use super::found::{Found, State, block};
use crate::mistakes::{Mistake, Mistakes};
use crate::places::Rebasing;
use crate::uses::{Kind, Span, Uses};
use nova_flat::ir::{Program, Variable};
use nova_flat::memory::{Lmad, Memory};
use std::collections::{BTreeMap, BTreeSet};

/// An array that flows on.
#[derive(Clone, Copy)]
struct Flow {
    from: Variable,
    to: Variable,
    how: How,
    /// True where it is handed on: what goes through `Unique` and what stays in its block is not.
    hands: bool,
}

/// The ways in which an array flows on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// Into a loop: the number of the state.
    Start(usize),
    /// To the next round.
    Next,
    /// Out of a conditional.
    Case,
    /// Through `Unique`.
    Sole,
}

/// The fates of a state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// It stays where its start lies.
    Whole,
    /// It stays where a copy of its start lies.
    Copied,
    /// It is left as it is.
    Off,
}

/// Blocks between which arrays flow.
#[derive(Default)]
pub(super) struct Class {
    pub(super) blocks: BTreeSet<Variable>,
    flows: Vec<Flow>,
    /// The blocks that are bound by what flows.
    bound: BTreeSet<Variable>,
    /// Which states it has, and those whose start is copied.
    states: Vec<usize>,
    copied: Vec<usize>,
    /// What its uses of `Unique` make.
    pub(super) soles: BTreeSet<Variable>,
}

impl Class {
    /// The number of times that flows hand its arrays on.
    pub(super) fn flows_handed(&self) -> usize {
        self.flows.iter().filter(|flow| flow.hands).count()
    }
}

/// Where the arrays of a class are to lie.
pub(super) enum Home {
    /// In a block that is there, where its first array lies.
    Block(Variable, Rebasing),
    /// In a new block, in which the start of a state is copied first.
    CopyOf(usize),
}

/// What a class is asked with.
pub(super) struct Classes<'a> {
    pub(super) program: &'a Program,
    pub(super) uses: &'a Uses,
    pub(super) found: &'a Found,
    pub(super) mistakes: Mistakes,
}

impl Classes<'_> {
    /// The classes that can be settled. Where one cannot, the state that stands in the way starts with a
    /// copy, or is taken out of it.
    pub(super) fn settled(&self) -> Vec<(Class, Home)> {
        let mut modes = vec![Mode::Whole; self.found.states.len()];
        if self.found.soles.is_empty() {
            return Vec::new();
        }
        loop {
            let mut settled = Vec::new();
            let mut refused = Vec::new();
            for class in self.classes(&modes) {
                if class.states.is_empty() {
                    continue;
                }
                match self.home(&class) {
                    Ok(home) => settled.push((class, home)),
                    Err(state) => refused.extend(state.or(class.states.last().copied())),
                }
            }
            if refused.is_empty() {
                settled.retain(|(class, _)| !class.soles.is_empty());
                return settled;
            }
            for state in refused {
                modes[state] = match modes[state] {
                    Mode::Whole if self.may_be_copied(state) => Mode::Copied,
                    Mode::Whole | Mode::Copied | Mode::Off => Mode::Off,
                };
            }
        }
    }

    /// True if the start of a state is copied anyway, since somebody else holds it: by the first round, or for
    /// the caller. Only of a loop that runs once, so that it costs one copy where there is no round.
    fn may_be_copied(&self, state: usize) -> bool {
        let State {
            start,
            span,
            changes,
            is_result,
            ..
        } = &self.found.states[state];
        let held = self.block(*start).is_some_and(|block| {
            self.found.borrowed.contains(&block)
                || self.found.allocated.contains(&block) && self.uses.later(block, *span).is_some()
        });
        (*changes || *is_result) && held && !self.found.is_in_loop_since(span.enter, 0)
    }

    /// The classes of the blocks between which arrays flow.
    fn classes(&self, modes: &[Mode]) -> Vec<Class> {
        let mut flows = Flows::default();
        let states = self.found.states.iter().enumerate();
        let states: Vec<_> = states.filter(|(k, _)| modes[*k] != Mode::Off).collect();
        let mut wanted = Vec::new();
        for (k, state) in &states {
            if modes[*k] == Mode::Whole {
                flows.add(self, state.start, state.parameter, How::Start(*k));
                wanted.push(state.start);
            }
            flows.add(self, state.result, state.parameter, How::Next);
            wanted.push(state.result);
            if let [Some(parameter), Some(last)] =
                [state.parameter, state.last].map(|v| self.block(v))
            {
                flows.union.join(parameter, last);
                flows.bound.extend([parameter, last]);
            }
        }
        for (of, sole) in &self.found.soles {
            flows.add(self, *of, *sole, How::Sole);
            flows.bound.extend(self.block(*sole));
        }
        self.add_cases(wanted, &mut flows);
        let mut classes = flows.classes(self);
        for (k, state) in states {
            let root = self.block(state.parameter).map(|b| flows.union.root(b));
            if let Some(class) = root.and_then(|root| classes.get_mut(&root)) {
                class.states.push(k);
                if modes[k] == Mode::Copied {
                    class.copied.push(k);
                }
            }
        }
        classes.into_values().collect()
    }

    /// Adds what flows through conditionals to arrays that are wanted.
    fn add_cases(&self, mut wanted: Vec<Variable>, flows: &mut Flows) {
        let by_block = |to: &Variable| Some((self.block(*to)?, *to));
        let cases = &self.found.cases;
        let conditionals: BTreeMap<Variable, Variable> =
            cases.keys().filter_map(by_block).collect();
        let mut seen = BTreeSet::new();
        while let Some(array) = wanted.pop() {
            let to = self.block(array).and_then(|block| conditionals.get(&block));
            let Some(to) = to.filter(|to| seen.insert(**to)) else {
                continue;
            };
            let own = self.block(*to);
            flows.bound.extend(own.filter(|b| !self.is_allocated(*b)));
            for from in cases.get(to).into_iter().flatten() {
                flows.add(self, *from, *to, How::Case);
                wanted.push(*from);
            }
        }
    }

    /// The home of a class; an error is the state that stands in the way, where that is known.
    fn home(&self, class: &Class) -> Result<Home, Option<usize>> {
        let mut homes = class.blocks.iter().filter(|b| self.is_allocated(**b));
        let (home, since, dense) = match (homes.next(), homes.next(), class.copied.as_slice()) {
            (Some(home), None, []) => (Some(*home), self.uses.span(*home).ok_or(None)?, None),
            (None, None, [copied]) => {
                let span = self.found.states[*copied].span;
                let before = Span {
                    enter: span.enter.saturating_sub(1),
                    exit: span.enter.saturating_sub(1),
                    ..span
                };
                (None, before, Some(*copied))
            }
            (_, _, _) => return Err(self.starts_elsewhere(class)),
        };
        let all_bound = |block: &Variable| Some(*block) == home || class.bound.contains(block);
        if !class.blocks.iter().all(all_bound) {
            return Err(self.starts_elsewhere(class));
        }
        for flow in &class.flows {
            let fine = self.is_alike(flow)
                && self.is_dead_after(flow, class)
                && self.reaches(since, flow.to);
            if !fine {
                return Err(match flow.how {
                    How::Start(state) => Some(state),
                    How::Next | How::Case | How::Sole => None,
                });
            }
        }
        let fine = class.states.iter().all(|k| self.keeps_extents(*k, since))
            && self.is_handed_on_last(class, since.enter);
        match (fine, home, dense) {
            (true, Some(home), _) => {
                let rebasing = self.rebasing(class, home).ok_or(None)?;
                Ok(Home::Block(home, rebasing))
            }
            (true, None, Some(copied)) => Ok(Home::CopyOf(copied)),
            (_, _, _) => Err(None),
        }
    }

    /// A state of a class that starts with what the class does not bind, and did not allocate.
    fn starts_elsewhere(&self, class: &Class) -> Option<usize> {
        let elsewhere = |k: &usize| {
            let block = self.block(self.found.states[*k].start);
            let known = |b: Variable| class.bound.contains(&b) || self.is_allocated(b);
            !class.copied.contains(k) && !block.is_some_and(known)
        };
        class.states.iter().copied().find(elsewhere)
    }

    /// How what lies at the start of a block of its own comes to where the arrays are that flow out of the
    /// home of a class: all of them have to lie in one place.
    fn rebasing(&self, class: &Class, home: Variable) -> Option<Rebasing> {
        let out = |flow: &&Flow| self.block(flow.from) == Some(home);
        let mut found: Option<(Lmad, Rebasing)> = None;
        for flow in class.flows.iter().filter(out) {
            let lmad = self.memory(flow.from)?.lmad;
            if let Some((other, _)) = &found {
                if *other != lmad {
                    return None;
                }
                continue;
            }
            let dense = Lmad::of_shape(self.program.ty(flow.from).shape())?;
            let rebasing = Rebasing::between(&dense, &lmad)?;
            found = Some((lmad, rebasing.keeps_order().then_some(rebasing)?));
        }
        Some(found?.1)
    }

    /// True if an array has the extents of the one it flows to.
    fn is_alike(&self, flow: &Flow) -> bool {
        self.program.ty(flow.from) == self.program.ty(flow.to)
    }

    /// True if the last state has the extents of the others, and is bound where the home is in scope.
    fn keeps_extents(&self, state: usize, home: Span) -> bool {
        let State {
            parameter, last, ..
        } = &self.found.states[state];
        self.program.ty(*parameter) == self.program.ty(*last) && self.reaches(home, *last)
    }

    /// True if what is bound at a place is in scope where an array is bound.
    fn reaches(&self, home: Span, array: Variable) -> bool {
        let array = self.uses.span(array);
        array.is_some_and(|array| {
            home.enter < array.enter && self.uses.is_within(array.scope, home.scope)
        })
    }

    /// True if nothing uses an array, or what lies where it does, once it has flowed on.
    fn is_dead_after(&self, flow: &Flow, class: &Class) -> bool {
        let (Some(block), Some(to)) = (self.block(flow.from), self.uses.span(flow.to)) else {
            return false;
        };
        if self.mistakes.make(Mistake::SettledUsedLater) {
            return true;
        }
        match flow.how {
            // The rules of `Unique` say so.
            How::Sole => true,
            // What a case binds itself, it gives at its end.
            How::Case => {
                let bound = self.uses.span(block);
                let around = bound.is_none_or(|b| self.uses.is_within(to.scope, b.scope));
                !around || self.uses.later(block, to).is_none()
            }
            // It is an array of the round, not one of what is around it.
            How::Next => {
                let bound = self.uses.span(block);
                let here = bound.is_some_and(|b| self.uses.is_within(b.scope, to.scope));
                class.bound.contains(&block) && (here || self.block(flow.to) == Some(block))
            }
            How::Start(state) => {
                let span = self.found.states[state].span;
                self.uses.later(block, span).is_none() && self.is_only_start(block, span)
            }
        }
    }

    /// True if a loop uses what lies in a block as the start of one state, and for nothing else.
    fn is_only_start(&self, block: Variable, span: Span) -> bool {
        let inside = self.uses.events(block, span.enter + 1..=span.exit);
        let at_start = self.uses.events(block, span.enter..=span.enter);
        let (handed, read): (Vec<_>, Vec<_>) = at_start.partition(|e| e.kind == Kind::Handed);
        // An operation has the starts of its carries among its operands, too.
        inside.count() == 0 && handed.len() == 1 && read.len() <= 1
    }

    /// True if what a class hands on to elsewhere is handed on when nothing is changed any more: after
    /// all uses of `Unique`, and in no loop that its home is not in.
    fn is_handed_on_last(&self, class: &Class, since: u32) -> bool {
        let ends = |sole: &Variable| self.uses.span(*sole).map_or(u32::MAX, |span| span.exit);
        let changed = class.soles.iter().map(ends).max().unwrap_or(0);
        let mut flows: BTreeMap<Variable, usize> = BTreeMap::new();
        for flow in class.flows.iter().filter(|flow| flow.hands) {
            *flows.entry(flow.from).or_default() += 1;
        }
        let mut handed: BTreeMap<Variable, Vec<u32>> = BTreeMap::new();
        for block in &class.blocks {
            for (time, array) in self.uses.handed(*block) {
                handed.entry(array).or_default().push(time);
            }
        }
        handed.iter().all(|(array, times)| {
            let flows = flows.get(array).copied().unwrap_or(0);
            let last = |time: &u32| *time > changed && !self.found.is_in_loop_since(*time, since);
            let wrong = self.mistakes.make(Mistake::SettledHandedOn);
            wrong || times.len() <= flows || times.iter().all(last)
        })
    }

    fn is_allocated(&self, block: Variable) -> bool {
        self.found.allocated.contains(&block)
    }

    fn memory(&self, array: Variable) -> Option<Memory> {
        self.program.variables.get(array.index())?.memory.clone()
    }

    fn block(&self, array: Variable) -> Option<Variable> {
        block(self.program, array)
    }
}

/// What flows, and between which blocks.
#[derive(Default)]
struct Flows {
    all: Vec<Flow>,
    union: Union,
    bound: Vec<Variable>,
}

impl Flows {
    fn add(&mut self, asked: &Classes, from: Variable, to: Variable, how: How) {
        if let (Some(a), Some(b)) = (asked.block(from), asked.block(to)) {
            self.union.join(a, b);
            let hands = a != b && how != How::Sole;
            self.all.push(Flow {
                from,
                to,
                how,
                hands,
            });
        }
    }

    /// The classes, by one of their blocks.
    fn classes(&mut self, asked: &Classes) -> BTreeMap<Variable, Class> {
        let mut classes: BTreeMap<Variable, Class> = BTreeMap::new();
        for flow in &self.all {
            let blocks = [flow.from, flow.to].map(|v| asked.block(v));
            let Some(block) = blocks[1] else { continue };
            let class = classes.entry(self.union.root(block)).or_default();
            class.blocks.extend(blocks.into_iter().flatten());
            class.flows.push(*flow);
            if flow.how == How::Sole {
                class.soles.insert(flow.to);
            }
        }
        for block in &self.bound {
            if let Some(class) = classes.get_mut(&self.union.root(*block)) {
                class.blocks.insert(*block);
                class.bound.insert(*block);
            }
        }
        classes
    }
}

/// Which blocks are one.
#[derive(Default)]
struct Union {
    parents: BTreeMap<Variable, Variable>,
}

impl Union {
    fn root(&mut self, block: Variable) -> Variable {
        let mut root = block;
        while let Some(parent) = self.parents.get(&root) {
            root = *parent;
        }
        if root != block {
            self.parents.insert(block, root);
        }
        root
    }

    fn join(&mut self, a: Variable, b: Variable) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parents.insert(b, a);
        }
    }
}
