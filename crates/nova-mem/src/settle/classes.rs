//! The classes of blocks between which arrays flow, and the choice of those that can become one block.

use super::found::{Found, State, block};
use crate::alias::Rebasing;
use crate::mistakes::{Mistake, Mistakes};
use crate::uses::{Kind, Span, Uses};
use nova_flat::ir::{Program, Variable};
use nova_flat::memory::{Lmad, Memory};
use std::collections::{BTreeMap, BTreeSet};

/// A flow of an array to another one.
#[derive(Clone, Copy)]
struct Flow {
    from: Variable,
    to: Variable,
    how: FlowKind,
    /// True if the array is passed on. An array that goes through `Unique` or stays in its block is
    /// not.
    hands: bool,
}

/// The ways in which an array flows on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FlowKind {
    /// Into a loop, as the start of the state with this number.
    Start(usize),
    /// To the next iteration.
    Next,
    /// Out of a conditional.
    Case,
    /// Through `Unique`.
    Sole,
}

/// The treatment of a state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// It stays at the memory of its start.
    Whole,
    /// It stays at the memory of a copy of its start.
    Copied,
    /// It is left as it is.
    Off,
}

/// Blocks between which arrays flow.
#[derive(Default)]
pub(super) struct Class {
    pub(super) blocks: BTreeSet<Variable>,
    flows: Vec<Flow>,
    /// The blocks that are bound by the flows.
    bound: BTreeSet<Variable>,
    /// The states of the class, and those of them whose start is copied.
    states: Vec<usize>,
    copied: Vec<usize>,
    /// The results of its uses of `Unique`.
    pub(super) soles: BTreeSet<Variable>,
}

impl Class {
    /// Returns the number of flows that hand its arrays on.
    pub(super) fn flows_handed(&self) -> usize {
        self.flows.iter().filter(|flow| flow.hands).count()
    }
}

/// The memory in which the arrays of a class are to lie.
pub(super) enum Home {
    /// An existing block, and the map of its arrays to the first array there.
    Block(Variable, Rebasing),
    /// A new block, into which the start of a state is copied first.
    CopyOf(usize),
}

/// The facts from which classes are built.
pub(super) struct Classes<'a> {
    pub(super) program: &'a Program,
    pub(super) uses: &'a Uses,
    pub(super) found: &'a Found,
    pub(super) mistakes: Mistakes,
}

impl Classes<'_> {
    /// Returns the classes that can be settled. A state that prevents this starts with a copy, or is
    /// removed from its class.
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

    /// True if the start of a state is copied in any case, since it has another holder: by the first
    /// iteration, or for the caller. The loop must run only once, so that a copy costs little if there
    /// is no iteration.
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

    /// Returns the classes of the blocks between which arrays flow.
    fn classes(&self, modes: &[Mode]) -> Vec<Class> {
        let mut flows = Flows::default();
        let states = self.found.states.iter().enumerate();
        let states: Vec<_> = states.filter(|(k, _)| modes[*k] != Mode::Off).collect();
        let mut wanted = Vec::new();
        for (k, state) in &states {
            if modes[*k] == Mode::Whole {
                flows.add(self, state.start, state.parameter, FlowKind::Start(*k));
                wanted.push(state.start);
            }
            flows.add(self, state.result, state.parameter, FlowKind::Next);
            wanted.push(state.result);
            if let [Some(parameter), Some(last)] =
                [state.parameter, state.last].map(|v| self.block(v))
            {
                flows.union.join(parameter, last);
                flows.bound.extend([parameter, last]);
            }
        }
        for (of, sole) in &self.found.soles {
            flows.add(self, *of, *sole, FlowKind::Sole);
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

    /// Adds the flows through conditionals to arrays that are wanted.
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
                flows.add(self, *from, *to, FlowKind::Case);
                wanted.push(*from);
            }
        }
    }

    /// Returns the home of a class. An error names the state that prevents it, if that is known.
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
                && self.is_at_start(flow, home)
                && self.is_dead_after(flow, class)
                && self.reaches(since, flow.to);
            if !fine {
                return Err(match flow.how {
                    FlowKind::Start(state) => Some(state),
                    FlowKind::Next | FlowKind::Case | FlowKind::Sole => None,
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

    /// Returns a state of a class whose start has a block that the class neither binds nor allocates.
    fn starts_elsewhere(&self, class: &Class) -> Option<usize> {
        let elsewhere = |k: &usize| {
            let block = self.block(self.found.states[*k].start);
            let known = |b: Variable| class.bound.contains(&b) || self.is_allocated(b);
            !class.copied.contains(k) && !block.is_some_and(known)
        };
        class.states.iter().copied().find(elsewhere)
    }

    /// Returns the map from the start of a block of its own to the arrays that flow out of the home of
    /// a class. All of these arrays must have the same LMAD.
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

    /// True if an array has the type of the one it flows to.
    fn is_alike(&self, flow: &Flow) -> bool {
        self.program.ty(flow.from) == self.program.ty(flow.to)
    }

    /// True if an array lies at the start of its block, as the one that it flows to does. The map of a class
    /// allows for another place in its home.
    fn is_at_start(&self, flow: &Flow, home: Option<Variable>) -> bool {
        let Some(memory) = self.memory(flow.from) else {
            return false;
        };
        let dense = Lmad::of_shape(self.program.ty(flow.from).shape());
        Some(memory.block) == home
            || dense == Some(memory.lmad)
            || self.mistakes.make(Mistake::SettledElsewhere)
    }

    /// True if the last state has the extents of the others, and is bound in the scope of the home.
    fn keeps_extents(&self, state: usize, home: Span) -> bool {
        let State {
            parameter, last, ..
        } = &self.found.states[state];
        self.program.ty(*parameter) == self.program.ty(*last) && self.reaches(home, *last)
    }

    /// True if a variable bound at `home` is in scope where `array` is bound.
    fn reaches(&self, home: Span, array: Variable) -> bool {
        let array = self.uses.span(array);
        array.is_some_and(|array| {
            home.enter < array.enter && self.uses.is_within(array.scope, home.scope)
        })
    }

    /// True if nothing uses an array, or another array in its block, once it has flowed on.
    fn is_dead_after(&self, flow: &Flow, class: &Class) -> bool {
        let (Some(block), Some(to)) = (self.block(flow.from), self.uses.span(flow.to)) else {
            return false;
        };
        if self.mistakes.make(Mistake::SettledUsedLater) {
            return true;
        }
        match flow.how {
            // The rules of `Unique` require it.
            FlowKind::Sole => true,
            // A case gives the arrays that it binds itself at its end.
            FlowKind::Case => {
                let bound = self.uses.span(block);
                let is_outside = bound.is_none_or(|b| self.uses.is_within(to.scope, b.scope));
                !is_outside || self.uses.later(block, to).is_none()
            }
            // It must be an array of the iteration, not one from outside of the loop.
            FlowKind::Next => {
                let bound = self.uses.span(block);
                let here = bound.is_some_and(|b| self.uses.is_within(b.scope, to.scope));
                class.bound.contains(&block) && (here || self.block(flow.to) == Some(block))
            }
            FlowKind::Start(state) => {
                let span = self.found.states[state].span;
                self.uses.later(block, span).is_none() && self.is_only_start(block, span)
            }
        }
    }

    /// True if a loop uses the arrays in a block as the start of one state, and for nothing else.
    fn is_only_start(&self, block: Variable, span: Span) -> bool {
        let inside = self.uses.events(block, span.enter + 1..=span.exit);
        let at_start = self.uses.events(block, span.enter..=span.enter);
        let (handed, read): (Vec<_>, Vec<_>) = at_start.partition(|e| e.kind == Kind::Handed);
        // An operation has the starts of its carries among its operands, too.
        inside.count() == 0 && handed.len() == 1 && read.len() <= 1
    }

    /// True if arrays of a class are passed on elsewhere only when nothing is changed any more: after
    /// all uses of `Unique`, and in no loop that begins after the home.
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

/// The flows, and the blocks that they connect.
#[derive(Default)]
struct Flows {
    all: Vec<Flow>,
    union: Union,
    bound: Vec<Variable>,
}

impl Flows {
    fn add(&mut self, context: &Classes, from: Variable, to: Variable, how: FlowKind) {
        if let (Some(a), Some(b)) = (context.block(from), context.block(to)) {
            self.union.join(a, b);
            let hands = a != b && how != FlowKind::Sole;
            self.all.push(Flow {
                from,
                to,
                how,
                hands,
            });
        }
    }

    /// Returns the classes, by one of their blocks.
    fn classes(&mut self, context: &Classes) -> BTreeMap<Variable, Class> {
        let mut classes: BTreeMap<Variable, Class> = BTreeMap::new();
        for flow in &self.all {
            let blocks = [flow.from, flow.to].map(|v| context.block(v));
            let Some(block) = blocks[1] else { continue };
            let class = classes.entry(self.union.root(block)).or_default();
            class.blocks.extend(blocks.into_iter().flatten());
            class.flows.push(*flow);
            if flow.how == FlowKind::Sole {
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

/// A union-find over blocks.
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
