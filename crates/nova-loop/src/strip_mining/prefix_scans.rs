//! Running results in vector registers: strips of as many iterations as [`Command::PrefixScan`] takes, in
//! each of which a loop computes the values that are combined, `PrefixScan` lets them run, and the next
//! loop uses what they have become. The iterations of an incomplete strip are done as before. Where
//! the values are elements that lie behind each other, or the results are only written so, they need
//! no loop.
//!
//! A large result of the program is written past the caches, where strips are lines of it
//! ([`super::non_temporal`]).

use super::cost::work_of;
use super::lines::of_side;
use super::non_temporal::{Plan, Target, chosen, when};
use super::runs::Runs;
use super::stages::Stages;
use super::{Map, STREAM_MOST_WORK, Strips};
use crate::copies;
use crate::ir::{Command, Expression, PREFIX_WIDTH, Type, Variable};
use nova_core::ScalarOperation;
use std::collections::{BTreeMap, BTreeSet};

/// Places for the pointers through which iterations write, where their results may be streamed, and
/// how far apart these lie.
#[derive(Default)]
struct Places {
    of: BTreeMap<Variable, Variable>,
    stride: i64,
}

impl Strips<'_> {
    /// The commands that do what a loop does, whose running results are those of a few iterations at
    /// a time.
    pub(super) fn running(&mut self, map: &Map) -> Option<Vec<Command>> {
        if map
            .count
            .as_index()
            .is_some_and(|n| n < i64::from(PREFIX_WIDTH))
        {
            return None;
        }
        let runs = Runs::of(map, &|v| self.program.variable(v).ty, self.program.strict)?;
        let stages = self.stages(map, &runs);
        let mut made = Vec::new();
        let count = self.simple("count", map.count.clone(), &mut made);
        match self.large_target(map) {
            Some(target) => {
                let mut lines = Vec::new();
                let long = count.clone();
                let long = long.compare(ScalarOperation::GreaterEqual, width());
                self.running_lines(map, &stages, &target, count, &mut lines);
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
                self.run_strip(map, &stages, begin, &Places::default(), &mut body);
                made.push(map.counted(strip, strips.clone(), body));
                let done = self.add_index("done");
                made.push(Command::declare(done, strips.times(width())));
                let left = count.minus(Expression::Variable(done));
                made.push(self.rest(map, done, left));
            }
        }
        Some(made)
    }

    /// What a loop writes, if that may be streamed in strips of running results.
    fn large_target(&self, map: &Map) -> Option<Target> {
        let target = self
            .target(map)
            .filter(|_| work_of(map) <= STREAM_MOST_WORK)?;
        let sources = self.reads(map).sources;
        let defined = target.start.is_total() && sources.iter().all(|s| s.address.is_total());
        (defined && PREFIX_WIDTH.is_multiple_of(target.lines)).then_some(target)
    }

    /// The loops of a result that is streamed if it is large enough: what stands before its first
    /// line, the lines, and what stands behind.
    fn running_lines(
        &mut self,
        map: &Map,
        stages: &Stages,
        target: &Target,
        count: Expression,
        made: &mut Vec<Command>,
    ) {
        let mut plan = self.plan(target, count, PREFIX_WIDTH, made);
        let asked = self.asked(&self.reads(map).sources, PREFIX_WIDTH, made);
        let before = match stages.runs.iter().any(|run| run.element.is_float()) {
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
        lines.extend(asked.iter().map(|asked| self.ask(map, asked, begin)));
        self.running_line(map, stages, target, &plan, begin, &mut lines);
        body.push(map.counted(strip, either(strips, Expression::index(0)), lines));
        made.push(map.counted(side, Expression::index(2), body));
        self.streamed = true;
    }

    /// Streams only what begins where a line does: where strips begin must not decide how floats are
    /// combined. Gives how many iterations stand before the first strip.
    fn without_shift(&mut self, plan: &mut Plan, made: &mut Vec<Command>) -> Expression {
        let none = || Expression::index(0);
        let aligned = copies::copy_of(self.program, plan.streams);
        let is_none = plan.shift.clone().compare(ScalarOperation::Equal, none());
        made.push(Command::declare(aligned, is_none));
        plan.streams = aligned;
        none()
    }

    /// A strip that is streamed, or written where it belongs.
    fn running_line(
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
        let part = self.program.add_variable("part", ty);
        made.push(Command::Local {
            pointer: part,
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
            let local = Expression::offset(part, Expression::index(k));
            let there = Expression::offset(*field, start.clone());
            made.push(Command::declare(place, chosen(plan.streams, local, there)));
            places.of.insert(*field, place);
        }
        self.run_strip(map, stages, begin, &places, made);
        let stream = Command::NonTemporalStore {
            fields: target.fields.clone(),
            start,
            from: Expression::Variable(part),
            count: width(),
            lines: true,
        };
        made.push(when(Expression::Variable(plan.streams), vec![stream]));
    }

    /// The loops over a strip, each with the running results behind it.
    fn run_strip(
        &mut self,
        map: &Map,
        stages: &Stages,
        begin: Variable,
        places: &Places,
        made: &mut Vec<Command>,
    ) {
        let locals = stages.ends.iter().filter(|ends| ends.is_local());
        let locals = locals.map(|ends| ends.local);
        made.extend(locals.chain(stages.kept.values().copied()).map(|pointer| {
            let count = PREFIX_WIDTH;
            Command::Local { pointer, count }
        }));
        let at_begin = |(pointer, start): &(Variable, Expression)| {
            Expression::offset(*pointer, start.clone().plus(Expression::Variable(begin)))
        };
        for at in 0..stages.loops.len() {
            made.extend(self.run_stage(map, stages, at, begin, places));
            for (run, ends) in stages.runs.iter().zip(&stages.ends) {
                if run.stage != at {
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
                    element: run.element,
                    operation: run.operation,
                    exclusive: run.exclusive,
                    last: run.last,
                });
            }
        }
    }

    /// One of the loops over a strip, unless there is nothing to do in it.
    fn run_stage(
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
        for (variable, array) in &stages.kept {
            if stage.loaded.contains(variable) {
                let copy = copies::copy_of(self.program, *variable);
                renamed.insert(*variable, copy);
                body.push(Command::declare(copy, Expression::load(*array, here())));
            }
        }
        for (k, (run, ends)) in stages.runs.iter().zip(&stages.ends).enumerate() {
            if stage.runs.contains(&k) {
                let copy = copies::copy_of(self.program, run.last);
                renamed.extend(run.result.into_iter().chain([run.last]).map(|v| (v, copy)));
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

    /// The commands of a stage, as the body has them, with what it leaves in local arrays.
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
        for (variable, array) in &stages.kept {
            if stage.kept.contains(variable) {
                made.push(Command::Store {
                    pointer: *array,
                    index: here(),
                    value: Expression::Variable(*variable),
                });
            }
        }
        for (run, ends) in stages.runs.iter().zip(&stages.ends) {
            if run.stage == at && ends.from.is_none() {
                made.push(Command::Store {
                    pointer: ends.local,
                    index: here(),
                    value: run.value.clone(),
                });
            }
        }
        made
    }

    /// A loop of too few iterations for a strip, for which nothing is prepared.
    fn short(&mut self, map: &Map) -> Command {
        let index = copies::copy_of(self.program, map.index);
        let mut renamed = BTreeMap::from([(map.index, index)]);
        let body = copies::copy(self.program, map.body, &mut renamed);
        map.counted(index, map.count.clone(), body)
    }

    /// The iterations of an incomplete strip.
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
