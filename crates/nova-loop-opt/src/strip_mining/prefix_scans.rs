//! Prefix scans in vector registers. The loop works in strips of as many iterations as
//! [`Command::PrefixScan`] takes. In each strip a loop computes the values that are combined,
//! `PrefixScan` computes their prefix scan, and the next loop uses the results. The iterations of
//! an incomplete strip are done as before. No loop is needed where the values are consecutive
//! elements, or where the results are only written to consecutive elements.
//!
//! A large result of the program is written with non-temporal stores, where strips are lines of it
//! ([`super::non_temporal`]).

use super::lines::of_side;
use super::non_temporal::{Plan, Target, chosen, when};
use super::recurrences::Recurrences;
use super::stages::Stages;
use super::{Map, Strips};
use nova_core::ScalarOperation;
use nova_loop::copies;
use nova_loop::ir::{Command, Expression, PREFIX_WIDTH, Type, Variable};
use nova_machine::PROCESSOR;
use nova_plan::Choice;
use std::collections::{BTreeMap, BTreeSet};

/// Pointers that replace those through which iterations write, where results may be written with
/// non-temporal stores.
#[derive(Default)]
struct Places {
    of: BTreeMap<Variable, Variable>,
    stride: i64,
}

impl Strips<'_> {
    /// Returns the commands that replace a loop and compute its recurrences a few iterations at a time.
    pub(super) fn prefix_scans(&mut self, map: &Map) -> Option<Vec<Command>> {
        if map
            .count
            .as_index()
            .is_some_and(|n| n < i64::from(PREFIX_WIDTH))
        {
            return None;
        }
        let recurrences =
            Recurrences::of(map, &|v| self.program.variable(v).ty, self.program.strict)?;
        if !self.program.plan.allows(map.place, Choice::PrefixScan) {
            return None;
        }
        let stages = self.stages(map, &recurrences);
        let mut made = Vec::new();
        let count = self.simple("count", map.count.clone(), &mut made);
        match self.large_target(map) {
            Some(target) => {
                let mut lines = Vec::new();
                let long = count.clone();
                let long = long.compare(ScalarOperation::GreaterEqual, width());
                self.scan_lines(map, &stages, &target, count, &mut lines);
                made.push(Command::If {
                    condition: long,
                    then: lines,
                    otherwise: vec![self.short(map)],
                });
            }
            None => {
                let strips = count.clone().compare(ScalarOperation::Divide, width());
                let strips = self.simple("strips", strips, &mut made);
                let (strip, begin) = (self.add_index("strip"), self.add_index("begin"));
                let mut body = vec![Command::declare(
                    begin,
                    Expression::Variable(strip).times(width()),
                )];
                self.scan_strip(map, &stages, begin, &Places::default(), &mut body);
                made.push(map.counted(strip, strips.clone(), body));
                let done = self.add_index("done");
                made.push(Command::declare(done, strips.times(width())));
                let left = count.minus(Expression::Variable(done));
                made.push(self.rest(map, done, left));
            }
        }
        Some(made)
    }

    /// Returns what a loop writes, if that may be written with non-temporal stores in strips of
    /// prefix scans.
    fn large_target(&self, map: &Map) -> Option<Target> {
        let target = self
            .target(map)
            .filter(|_| map.work() <= PROCESSOR.memory_bound_work)?;
        let sources = self.reads(map).sources;
        let defined = target.start.is_total() && sources.iter().all(|s| s.address.is_total());
        (defined && PREFIX_WIDTH.is_multiple_of(target.lines)).then_some(target)
    }

    /// Adds the loops of a result that is written with non-temporal stores if it is large enough:
    /// the iterations before its first line, the lines, and the iterations after the last.
    fn scan_lines(
        &mut self,
        map: &Map,
        stages: &Stages,
        target: &Target,
        count: Expression,
        made: &mut Vec<Command>,
    ) {
        let mut plan = self.plan(target, count, PREFIX_WIDTH, made);
        let prefetches = self.prefetches(&self.reads(map).sources, PREFIX_WIDTH, made);
        let before = match stages
            .recurrences
            .iter()
            .any(|recurrence| recurrence.element.is_float())
        {
            true => self.without_shift(&mut plan, made),
            false => self.before(&plan, made),
        };
        let whole = plan.count.clone().minus(before.clone());
        let strips = whole.compare(ScalarOperation::Divide, width());
        let strips = self.simple("strips", strips, made);
        let done = before.clone().plus(strips.clone().times(width()));
        let done = self.simple("done", done, made);

        let (side, from) = (self.add_index("side"), self.add_index("from"));
        let either = |first, second| of_side(side, first, second);
        let mut body = vec![Command::declare(from, either(Expression::index(0), done))];
        let end = either(before.clone(), plan.count.clone());
        body.push(self.rest(map, from, end.minus(Expression::Variable(from))));

        let (strip, begin) = (self.add_index("strip"), self.add_index("begin"));
        let first = before.plus(Expression::Variable(strip).times(width()));
        let mut lines = vec![Command::declare(begin, first)];
        lines.extend(
            prefetches
                .iter()
                .map(|prefetches| self.prefetch(map, prefetches, begin)),
        );
        self.scan_line(map, stages, target, &plan, begin, &mut lines);
        body.push(map.counted(strip, either(strips, Expression::index(0)), lines));
        made.push(map.counted(side, Expression::index(2), body));
        self.needs_fence = true;
    }

    /// Restricts non-temporal stores to results that begin at the start of a line, since the start
    /// of the strips must not decide in which order floats are combined. Returns the number of
    /// iterations before the first strip, which is 0.
    fn without_shift(&mut self, plan: &mut Plan, made: &mut Vec<Command>) -> Expression {
        let none = || Expression::index(0);
        let aligned = copies::copy_of(self.program, plan.non_temporal);
        let is_none = plan.shift.clone().compare(ScalarOperation::Equal, none());
        made.push(Command::declare(aligned, is_none));
        plan.non_temporal = aligned;
        none()
    }

    /// Adds a strip that is written with non-temporal stores, or directly to the result.
    fn scan_line(
        &mut self,
        map: &Map,
        stages: &Stages,
        target: &Target,
        plan: &Plan,
        begin: Variable,
        made: &mut Vec<Command>,
    ) {
        let ty = Type::Pointer(target.element);
        let stride = target.fields.len() as i64;
        let buffer = self.program.add_variable("chunk", ty);
        made.push(Command::Local {
            pointer: buffer,
            count: PREFIX_WIDTH * stride as u32,
        });
        let first = Expression::Variable(begin).times(Expression::index(stride));
        let start = plan.start.clone().plus(first);
        let mut places = Places {
            of: BTreeMap::new(),
            stride,
        };
        for (field, k) in target.fields.iter().zip(0..) {
            let place = self.program.add_variable("to", ty);
            let local = Expression::offset(buffer, Expression::index(k));
            let there = Expression::offset(*field, start.clone());
            made.push(Command::declare(
                place,
                chosen(plan.non_temporal, local, there),
            ));
            places.of.insert(*field, place);
        }
        self.scan_strip(map, stages, begin, &places, made);
        let store = Command::NonTemporalStore {
            fields: target.fields.clone(),
            start,
            from: Expression::Variable(buffer),
            count: width(),
            lines: true,
        };
        made.push(when(Expression::Variable(plan.non_temporal), vec![store]));
    }

    /// Adds the loops over a strip, each followed by the prefix scans of its stage.
    fn scan_strip(
        &mut self,
        map: &Map,
        stages: &Stages,
        begin: Variable,
        places: &Places,
        made: &mut Vec<Command>,
    ) {
        let locals = stages.ends.iter().filter(|ends| ends.is_local());
        let locals = locals.map(|ends| ends.local);
        made.extend(
            locals
                .chain(stages.expanded.values().copied())
                .map(|pointer| {
                    let count = PREFIX_WIDTH;
                    Command::Local { pointer, count }
                }),
        );
        let at_begin = |(pointer, start): &(Variable, Expression)| {
            Expression::offset(*pointer, start.clone().plus(Expression::Variable(begin)))
        };
        for at in 0..stages.loops.len() {
            made.extend(self.scan_stage(map, stages, at, begin, places));
            for (recurrence, ends) in stages.recurrences.iter().zip(&stages.ends) {
                if recurrence.stage != at {
                    continue;
                }
                let local = || Expression::Variable(ends.local);
                let place = ends.to.as_ref().map(|to| match places.of.get(&to.0) {
                    Some(place) => Expression::Variable(*place),
                    None => at_begin(to),
                });
                made.push(Command::PrefixScan {
                    to: place.unwrap_or_else(local),
                    from: ends.from.as_ref().map_or_else(local, at_begin),
                    element: recurrence.element,
                    operation: recurrence.operation,
                    exclusive: recurrence.exclusive,
                    last: recurrence.last,
                });
            }
        }
    }

    /// Returns one of the loops over a strip, unless it has nothing to do.
    fn scan_stage(
        &mut self,
        map: &Map,
        stages: &Stages,
        at: usize,
        begin: Variable,
        places: &Places,
    ) -> Option<Command> {
        let stage = stages.loops.get(at)?;
        let offset = self.add_index("k");
        let here = || Expression::Variable(offset);
        let index = copies::copy_of(self.program, map.index);
        let mut renamed = BTreeMap::from([(map.index, index)]);
        let mut body = Vec::new();
        for (variable, array) in &stages.expanded {
            if stage.loaded.contains(variable) {
                let copy = copies::copy_of(self.program, *variable);
                renamed.insert(*variable, copy);
                body.push(Command::declare(copy, Expression::load(*array, here())));
            }
        }
        for (k, (recurrence, ends)) in stages.recurrences.iter().zip(&stages.ends).enumerate() {
            if stage.recurrences.contains(&k) {
                let copy = copies::copy_of(self.program, recurrence.last);
                renamed.extend(
                    recurrence
                        .result
                        .into_iter()
                        .chain([recurrence.last])
                        .map(|v| (v, copy)),
                );
                body.push(Command::declare(copy, Expression::load(ends.local, here())));
            }
        }
        let stores = self.stage_commands(map, stages, at, offset, places);
        if !stores.iter().any(|c| matches!(c, Command::Store { .. })) {
            return None;
        }
        body.extend(copies::copy(self.program, &stores, &mut renamed));
        Some(match at + 1 < stages.loops.len() || writes_apart(map) {
            true => map.independent((index, begin), offset, width(), body),
            false => map.over_strip((index, begin), offset, width(), body),
        })
    }

    /// Returns the commands of a stage, in the order of the body, followed by the stores to local
    /// arrays.
    fn stage_commands(
        &self,
        map: &Map,
        stages: &Stages,
        at: usize,
        offset: Variable,
        places: &Places,
    ) -> Vec<Command> {
        let here = || Expression::Variable(offset);
        let Some(stage) = stages.loops.get(at) else {
            return Vec::new();
        };
        let commands = stage.commands.iter().filter_map(|k| map.body.get(*k));
        let mut made: Vec<Command> = commands.cloned().collect();
        for command in &mut made {
            if let Command::Store { pointer, index, .. } = command
                && let Some(place) = places.of.get(pointer)
            {
                *pointer = *place;
                *index = here().times(Expression::index(places.stride));
            }
        }
        for (variable, array) in &stages.expanded {
            if stage.stored.contains(variable) {
                made.push(Command::Store {
                    pointer: *array,
                    index: here(),
                    value: Expression::Variable(*variable),
                });
            }
        }
        for (recurrence, ends) in stages.recurrences.iter().zip(&stages.ends) {
            if recurrence.stage == at && ends.from.is_none() {
                made.push(Command::Store {
                    pointer: ends.local,
                    index: here(),
                    value: recurrence.value.clone(),
                });
            }
        }
        made
    }

    /// Returns a copy of a loop that has too few iterations for a strip; nothing is prepared for
    /// it.
    fn short(&mut self, map: &Map) -> Command {
        let index = copies::copy_of(self.program, map.index);
        let mut renamed = BTreeMap::from([(map.index, index)]);
        let body = copies::copy(self.program, map.body, &mut renamed);
        map.counted(index, map.count.clone(), body)
    }

    /// Returns a loop over the iterations of an incomplete strip.
    fn rest(&mut self, map: &Map, from: Variable, count: Expression) -> Command {
        let offset = self.add_index("k");
        map.over_strip((map.index, from), offset, count, map.body.to_vec())
    }
}

/// True if no two iterations write the same element.
fn writes_apart(map: &Map) -> bool {
    let mut pointers = BTreeSet::new();
    map.body.iter().all(|command| match command {
        Command::Store { pointer, index, .. } => {
            let address = map.definitions.linear(index);
            pointers.insert(*pointer) && address.is_some_and(|address| address.factor != 0)
        }
        _others => true,
    })
}

fn width() -> Expression {
    Expression::index(i64::from(PREFIX_WIDTH))
}
