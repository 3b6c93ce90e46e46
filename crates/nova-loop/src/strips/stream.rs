//! Streaming: a loop that writes every element of a large result once, and computes little, is
//! limited by memory. Written as usual, each line is read from memory before it is written, and
//! everything else leaves the caches for it. So strips of some lines are written to a local array,
//! and moved from there past the caches; what the next strips read is asked for in time.
//!
//! Whether the result is large enough, and where its lines begin, is found out when the program
//! runs. If not, there is one strip, which lies in the result itself: the text of the loop's body
//! stands once.

use super::cost::work_of;
use super::linear::Linear;
use super::{Map, STREAM_MOST_WORK, Strips, at_least, at_most, declare};
use crate::ir::{Command, Expression, Level, Type, Variable};
use crate::walk;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;

/// Bytes that go to memory together.
const LINE: u32 = 64;
/// Bytes of a strip, at least: longer ones hold up what is read, shorter ones the loop.
const STRIP: u32 = 512;
/// Structures of more fields than this are not streamed.
const MOST_FIELDS: u32 = 8;
/// Asking for what is read: so many bytes ahead,
const AHEAD: i64 = 8192;
/// of so many arrays,
const MOST_SOURCES: usize = 4;
/// whose elements lie no further apart.
const MOST_APART: i64 = 8;

/// What a loop writes: structures in the memory of the result.
struct Target {
    /// The pointers to their fields, in order.
    fields: Vec<Variable>,
    element: Scalar,
    /// Where the first one begins.
    start: Linear,
    /// How many make a strip, which is a number of lines.
    width: u32,
}

/// An array that a loop reads from front to back.
struct Source {
    pointer: Variable,
    address: Linear,
    /// In bytes.
    size: i64,
}

impl Strips<'_> {
    /// The commands that do what a loop does, in strips that are streamed.
    pub(super) fn stream(&mut self, map: &Map) -> Option<Vec<Command>> {
        if work_of(map) > STREAM_MOST_WORK {
            return None;
        }
        let target = self.target(map)?;
        let fills = |count: i64| count >= i64::from(target.width);
        if !map.count.as_index().is_none_or(fills) {
            return None;
        }
        let sources = self.sources(map);
        let defined = target.start.is_total() && sources.iter().all(|s| s.address.is_total());
        let mut commands = Vec::new();
        let runs = at_least_one(map.count);
        let count = self.simple("count", map.count.clone(), &mut commands);
        self.strips(map, &target, &sources, count, &mut commands);
        self.streamed = true;
        if !defined {
            commands = vec![Command::If {
                condition: runs,
                then: commands,
                otherwise: Vec::new(),
            }];
        }
        Some(commands)
    }

    /// What a loop writes, if that are all fields of structures one behind the other.
    fn target(&self, map: &Map) -> Option<Target> {
        let mut stores = Vec::new();
        for command in map.body {
            if let Command::Store { pointer, index, .. } = command {
                let destination = self.memory.result(*pointer)?;
                let address = map.definitions.linear(index)?;
                stores.push((destination, *pointer, address));
            }
        }
        stores.sort_by_key(|(destination, ..)| destination.component);
        let (first, pointer, start) = stores.first()?.clone();
        let Type::Pointer(element) = self.program.variable(pointer).ty else {
            return None;
        };
        let fits = |k: usize, (destination, pointer, address): &(_, Variable, Linear)| {
            let destination: &crate::ir::Destination = destination;
            destination.component as usize == first.component as usize + k
                && destination.stride == first.stride
                && self.program.variable(*pointer).ty == Type::Pointer(element)
                && address.factor == i64::from(first.stride)
                && address.constant == start.constant
                && address.is_near(&start)
        };
        let complete = stores.len() == first.stride as usize && first.stride <= MOST_FIELDS;
        if !complete || !stores.iter().enumerate().all(|(k, s)| fits(k, s)) {
            return None;
        }
        let size = bytes(element) as u32 * first.stride;
        let lines = LINE >> size.trailing_zeros().min(LINE.trailing_zeros());
        Some(Target {
            fields: stores.into_iter().map(|(_, pointer, _)| pointer).collect(),
            element,
            start,
            width: (STRIP / size / lines).max(1) * lines,
        })
    }

    /// The arrays whose elements a loop reads one behind the other; of many the last.
    fn sources(&self, map: &Map) -> Vec<Source> {
        let mut sources = Vec::new();
        for command in map.body {
            walk::reads(command, &mut |e| self.add_sources(e, map, &mut sources));
        }
        let many = sources.len().saturating_sub(MOST_SOURCES);
        sources.split_off(many)
    }

    fn add_sources(&self, expression: &Expression, map: &Map, sources: &mut Vec<Source>) {
        if let Expression::Select { condition, .. } = expression {
            return deep(|| self.add_sources(condition, map, sources));
        }
        if let Expression::Load { pointer, index } = expression
            && let Expression::Variable(pointer) = **pointer
            && let Type::Pointer(element) = self.program.variable(pointer).ty
            && let Some(address) = map.definitions.linear(index)
            && (1..=MOST_APART).contains(&address.factor)
        {
            let pointer = self.structures.get(&pointer).copied().unwrap_or(pointer);
            let known = |s: &Source| s.pointer == pointer && s.address.is_near(&address);
            if !sources.iter().any(known) {
                let size = bytes(element);
                sources.push(Source {
                    pointer,
                    address,
                    size,
                });
            }
        }
        for child in expression.children() {
            deep(|| self.add_sources(child, map, sources));
        }
    }

    /// A constant or variable for an expression.
    pub(super) fn simple(
        &mut self,
        name: &str,
        expression: Expression,
        made: &mut Vec<Command>,
    ) -> Expression {
        if expression.is_simple() {
            return expression;
        }
        let variable = self.add_index(name);
        made.push(declare(variable, expression));
        Expression::Variable(variable)
    }

    /// The loop over the strips, with what is known before it.
    fn strips(
        &mut self,
        map: &Map,
        target: &Target,
        sources: &[Source],
        count: Expression,
        made: &mut Vec<Command>,
    ) {
        let start = self.simple("start", target.start.start(), made);
        let mut starts = Vec::new();
        for source in sources {
            starts.push(self.simple("row", source.address.start(), made));
        }
        let shift = self.add_index("shift");
        made.push(Command::Declare {
            variable: shift,
            value: None,
        });
        made.push(Command::PlanStream {
            shift,
            fields: target.fields.clone(),
            start: start.clone(),
            count: count.clone(),
            total: self.total(target),
            width: target.width,
        });
        let shift = Expression::Variable(shift);
        let streams = self
            .program
            .add_variable("streams", Type::Scalar(Scalar::Bool));
        let condition = shift
            .clone()
            .compare(ScalarOperation::GreaterEqual, Expression::index(0));
        made.push(declare(streams, condition));
        let width = || Expression::index(i64::from(target.width));
        let reach = count.clone().plus(shift.clone());
        let strips = reach.plus(Expression::index(i64::from(target.width) - 1));
        let strips = strips.compare(ScalarOperation::Divide, width());
        let strips = self.simple(
            "strips",
            chosen(streams, strips, Expression::index(1)),
            made,
        );

        let strip = self.add_index("strip");
        let (begin, end) = (self.add_index("begin"), self.add_index("end"));
        let unshifted = Expression::Variable(strip).times(width()).minus(shift);
        let above = at_least(unshifted.clone(), 0);
        let mut body = vec![declare(begin, chosen(streams, above, Expression::index(0)))];
        let below = at_most(unshifted.plus(width()), count.clone());
        body.push(declare(end, chosen(streams, below, count)));
        self.strip(map, target, &start, (begin, end), streams, &mut body);
        let asked: Vec<Command> = sources
            .iter()
            .zip(starts)
            .map(|(source, start)| self.ask(map, source, start, begin, target.width))
            .collect();
        if !asked.is_empty() {
            body.insert(2, when(streams, asked));
        }
        made.push(map.counted(strip, strips, body));
    }

    /// The commands of a strip.
    fn strip(
        &mut self,
        map: &Map,
        target: &Target,
        start: &Expression,
        (begin, end): (Variable, Variable),
        streams: Variable,
        made: &mut Vec<Command>,
    ) {
        let ty = Type::Pointer(target.element);
        let part = self.program.add_variable("part", ty);
        let stride = target.fields.len() as i64;
        made.push(Command::Local {
            pointer: part,
            count: target.width * stride as u32,
        });
        let mut places = Vec::new();
        for (field, k) in target.fields.iter().zip(0..) {
            let place = self.program.add_variable("to", ty);
            let local = Expression::offset(part, Expression::index(k));
            let there = Expression::offset(*field, start.clone());
            made.push(declare(place, chosen(streams, local, there)));
            places.push((*field, place));
        }
        let offset = self.add_index("k");
        let mut body = map.body.to_vec();
        for command in &mut body {
            if let Command::Store { pointer, index, .. } = command
                && let Some((_, place)) = places.iter().find(|(field, _)| field == pointer)
            {
                *pointer = *place;
                *index = Expression::Variable(offset).times(Expression::index(stride));
            }
        }
        let length = Expression::Variable(end).minus(Expression::Variable(begin));
        let mut strip = map.over_strip((map.index, begin), offset, length.clone(), body);
        if let Command::For { level, .. } = &mut strip {
            // Each iteration writes structures of its own, in memory that the loop does not read.
            *level = Level::Independent;
        }
        made.push(strip);
        let first = Expression::Variable(begin).times(Expression::index(stride));
        let stream = Command::Stream {
            fields: target.fields.clone(),
            start: start.clone().plus(first),
            from: Expression::Variable(part),
            count: length,
        };
        made.push(when(streams, vec![stream]));
    }

    /// Asks for what a later strip will read of an array.
    fn ask(
        &mut self,
        map: &Map,
        source: &Source,
        start: Expression,
        begin: Variable,
        width: u32,
    ) -> Command {
        let line = self.add_index("line");
        let line_size = i64::from(LINE);
        let first = Expression::Variable(begin).times(Expression::index(source.address.factor));
        let lines = Expression::Variable(line).times(Expression::index(line_size / source.size));
        let ahead = lines.plus(Expression::index(AHEAD / source.size));
        let prefetch = Command::Prefetch {
            pointer: source.pointer,
            index: start.plus(first).plus(ahead),
        };
        let read = i64::from(width) * source.size * source.address.factor;
        let count = Expression::index((read + line_size - 1) / line_size);
        map.counted(line, count, vec![prefetch])
    }

    /// How many structures the whole result has.
    fn total(&mut self, target: &Target) -> Expression {
        let Some(first) = target.fields.first() else {
            return Expression::index(0);
        };
        if let Some(total) = self.totals.get(first) {
            return Expression::Variable(*total);
        }
        let total = self.add_index("total");
        self.totals.insert(*first, total);
        Expression::Variable(total)
    }
}

fn bytes(element: Scalar) -> i64 {
    i64::from(element.bits().max(8) / 8)
}

fn chosen(condition: Variable, then: Expression, otherwise: Expression) -> Expression {
    Expression::Select {
        condition: Box::new(Expression::Variable(condition)),
        then: Box::new(then),
        otherwise: Box::new(otherwise),
    }
}

fn when(condition: Variable, then: Vec<Command>) -> Command {
    Command::If {
        condition: Expression::Variable(condition),
        then,
        otherwise: Vec::new(),
    }
}

fn at_least_one(count: &Expression) -> Expression {
    let count = count.clone();
    count.compare(ScalarOperation::GreaterEqual, Expression::index(1))
}
