//! Streaming: a loop that writes every element of a large result once, and computes little, is
//! limited by memory. Written as usual, each line is read from memory before it is written, and
//! everything else leaves the caches for it. So strips of some lines are written to a local array,
//! and moved from there past the caches; what the next strips read is asked for in time.
//!
//! Whether the result is large enough, and where its lines begin, is found out when the program
//! runs. Loops that read each array at one place are cut at the lines of the result ([`super::lines`]).
//! For the others there is one strip if the result is not large enough, which lies in the result
//! itself: the text of the loop's body stands once.

use super::cost::work_of;
use super::linear::Linear;
use super::{Map, STREAM_MOST_WORK, Strips};
use crate::ir::{Command, Expression, Type, Variable};
use crate::translate::prefetch::{self, AHEAD};
use crate::walk;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;

/// Bytes that go to memory together.
const LINE: u32 = prefetch::LINE as u32;
/// Bytes of a strip that the loop is prepared for anew, at least: longer ones hold up what is read,
/// shorter ones the loop.
const STRIP: u32 = 256;
/// Iterations of a strip with the loop's length known, at least: what vectors hold.
const LEAST_ITERATIONS: u32 = 16;
/// Structures of more fields than this are not streamed.
const MOST_FIELDS: u32 = 8;
/// What is read is asked for, of so many arrays,
const MOST_SOURCES: usize = 4;
/// whose elements lie no further apart.
const MOST_APART: i64 = 8;

/// What a loop writes: structures in the memory of the result.
pub(crate) struct Target {
    /// The pointers to their fields, in order.
    pub(crate) fields: Vec<Variable>,
    pub(super) element: Scalar,
    /// Where the first one begins.
    pub(super) start: Linear,
    /// The least number of them that fills lines.
    pub(super) lines: u32,
    /// Bytes of one.
    pub(crate) size: u32,
}

impl Target {
    /// How many structures make a strip of a loop that is prepared for each anew.
    pub(crate) fn width(&self) -> u32 {
        (STRIP / self.size / self.lines).max(1) * self.lines
    }
}

/// What is known before the loop over the strips.
pub(crate) struct Plan {
    /// Where the first structure begins.
    pub(crate) start: Expression,
    /// How many there are.
    pub(crate) count: Expression,
    /// The number of make a strip, which is a number of lines.
    pub(crate) width: u32,
    /// How many the first strip lacks.
    pub(crate) shift: Expression,
    /// True if strips are streamed.
    pub(crate) streams: Variable,
    /// True if the loop over the strips only runs if they are.
    pub(crate) is_certain: bool,
}

/// An array that a loop reads from front to back.
pub(super) struct Source {
    pointer: Variable,
    pub(super) address: Linear,
    /// In bytes.
    size: i64,
}

/// What strips ask for of an array that a later strip reads.
pub(super) struct Asked {
    pointer: Variable,
    /// The address that the first iteration reads,
    start: Expression,
    /// and how far the next one is.
    factor: i64,
    /// How far ahead, in elements.
    ahead: i64,
    /// Elements in a line.
    line: i64,
    /// How many lines.
    lines: i64,
}

/// What a loop reads.
#[derive(Default)]
pub(super) struct Reads {
    /// The arrays whose elements it reads one behind the other.
    pub(super) sources: Vec<Source>,
    /// Each pointer with the places at which it is read.
    places: Vec<(Variable, Linear)>,
    /// True if a pointer is read at several places, or where no sum tells.
    scattered: bool,
}

impl Strips<'_> {
    /// The commands that do what a loop does, in strips that are streamed.
    pub(super) fn stream(&mut self, map: &Map) -> Option<Vec<Command>> {
        if work_of(map) > STREAM_MOST_WORK || self.scattered.contains(&map.index) {
            return None;
        }
        let target = self.target(map)?;
        let Reads {
            sources, scattered, ..
        } = self.reads(map);
        let width = match scattered {
            true => target.width(),
            false => target.lines.max(LEAST_ITERATIONS),
        };
        let fills = |count: i64| count >= i64::from(width);
        if !map.count.as_index().is_none_or(fills) {
            return None;
        }
        let defined = target.start.is_total() && sources.iter().all(|s| s.address.is_total());
        let mut commands = Vec::new();
        let runs = at_least_one(map.count);
        let count = self.simple("count", map.count.clone(), &mut commands);
        let plan = self.plan(&target, count, width, &mut commands);
        let asked = self.asked(&sources, width, &mut commands);
        commands.extend(match scattered {
            true => self.strips(map, &target, &plan, asked),
            false => self.lines(map, &target, &plan, asked),
        });
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
    pub(crate) fn target(&self, map: &Map) -> Option<Target> {
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
        Some(Target {
            fields: stores.into_iter().map(|(_, pointer, _)| pointer).collect(),
            element,
            start,
            lines: LINE >> size.trailing_zeros().min(LINE.trailing_zeros()),
            size,
        })
    }

    /// What a loop reads; of many arrays the last.
    pub(super) fn reads(&self, map: &Map) -> Reads {
        let mut reads = Reads::default();
        for command in map.body {
            walk::reads(command, &mut |e| self.add_reads(e, map, &mut reads));
        }
        let many = reads.sources.len().saturating_sub(MOST_SOURCES);
        reads.sources.drain(..many);
        reads
    }

    fn add_reads(&self, expression: &Expression, map: &Map, reads: &mut Reads) {
        if let Expression::Load { pointer, index } = expression {
            let address = map.definitions.linear(index);
            match (&**pointer, address) {
                (Expression::Variable(pointer), Some(address)) => {
                    self.add_place(*pointer, address, reads);
                }
                _ => reads.scattered = true,
            }
        }
        if let Expression::Select {
            condition,
            then,
            otherwise,
        } = expression
        {
            // What only a branch reads is not asked for.
            reads.scattered |= then.reads_memory() || otherwise.reads_memory();
            return deep(|| self.add_reads(condition, map, reads));
        }
        for child in expression.children() {
            deep(|| self.add_reads(child, map, reads));
        }
    }

    /// Takes in that an array is read at an address.
    fn add_place(&self, pointer: Variable, address: Linear, reads: &mut Reads) {
        let place = |(known, at): &&(Variable, Linear)| *known == pointer && !at.is_same(&address);
        reads.scattered |= reads.places.iter().find(place).is_some();
        if let Type::Pointer(element) = self.program.variable(pointer).ty
            && (1..=MOST_APART).contains(&address.factor)
        {
            let pointer = self.structures.get(&pointer).copied().unwrap_or(pointer);
            let known = |s: &Source| s.pointer == pointer && s.address.is_near(&address);
            if !reads.sources.iter().any(known) {
                reads.sources.push(Source {
                    pointer,
                    address: address.clone(),
                    size: bytes(element),
                });
            }
        }
        reads.places.push((pointer, address));
    }

    /// A constant or variable for an expression.
    pub(crate) fn simple(
        &mut self,
        name: &str,
        expression: Expression,
        made: &mut Vec<Command>,
    ) -> Expression {
        if expression.is_simple() {
            return expression;
        }
        let variable = self.add_index(name);
        made.push(Command::declare(variable, expression));
        Expression::Variable(variable)
    }

    /// Finds out whether strips of so many structures are streamed, and where they begin.
    pub(super) fn plan(
        &mut self,
        target: &Target,
        count: Expression,
        width: u32,
        made: &mut Vec<Command>,
    ) -> Plan {
        let start = self.simple("start", target.start.start(), made);
        let shift = self.add_index("shift");
        made.push(Command::Declare {
            variable: shift,
            value: None,
        });
        made.push(Command::PlanNonTemporal {
            shift,
            fields: target.fields.clone(),
            start: start.clone(),
            count: count.clone(),
            total: self.total(target),
            width,
        });
        let shift = Expression::Variable(shift);
        let streams = self
            .program
            .add_variable("streams", Type::Scalar(Scalar::Bool));
        let condition = shift
            .clone()
            .compare(ScalarOperation::GreaterEqual, Expression::index(0));
        made.push(Command::declare(streams, condition));
        Plan {
            start,
            count,
            width,
            shift,
            streams,
            is_certain: false,
        }
    }

    /// What is asked for of each source when a strip of so many structures begins: a function of
    /// where it begins.
    pub(super) fn asked(
        &mut self,
        sources: &[Source],
        width: u32,
        made: &mut Vec<Command>,
    ) -> Vec<Asked> {
        let mut asked = Vec::new();
        for source in sources {
            let read = i64::from(width) * source.size * source.address.factor;
            asked.push(Asked {
                pointer: source.pointer,
                start: self.simple("row", source.address.start(), made),
                factor: source.address.factor,
                ahead: AHEAD / source.size,
                line: i64::from(LINE) / source.size,
                lines: (read + i64::from(LINE) - 1) / i64::from(LINE),
            });
        }
        asked
    }

    /// The loop over the strips.
    fn strips(
        &mut self,
        map: &Map,
        target: &Target,
        plan: &Plan,
        asked: Vec<Asked>,
    ) -> Vec<Command> {
        let filled = self.filled(map, target);
        self.over_strips(map, plan, |strips, bounds, made| {
            let asked = asked.iter().map(|a| strips.ask(map, a, bounds.0));
            made.extend(plan.streamed(asked.collect()));
            strips.strip(map, target, plan, filled, bounds, made);
        })
    }

    /// Asks for what a later strip than the one from `begin` on will read of an array.
    pub(super) fn ask(&mut self, map: &Map, asked: &Asked, begin: Variable) -> Command {
        let line = self.add_index("line");
        let first = Expression::Variable(begin).times(Expression::index(asked.factor));
        let lines = Expression::Variable(line).times(Expression::index(asked.line));
        let prefetch = Command::Prefetch {
            pointer: asked.pointer,
            index: asked
                .start
                .clone()
                .plus(first)
                .plus(lines.plus(Expression::index(asked.ahead))),
            only_streams: false,
        };
        map.counted(line, Expression::index(asked.lines), vec![prefetch])
    }

    /// How many structures the whole result has.
    pub(crate) fn total(&mut self, target: &Target) -> Expression {
        match target.fields.first() {
            Some(first) => Expression::Variable(self.totals.of(self.program, *first)),
            None => Expression::index(0),
        }
    }
}

fn bytes(element: Scalar) -> i64 {
    i64::from(element.bits().max(8) / 8)
}

pub(super) fn chosen(condition: Variable, then: Expression, otherwise: Expression) -> Expression {
    Expression::Select {
        condition: Box::new(Expression::Variable(condition)),
        then: Box::new(then),
        otherwise: Box::new(otherwise),
    }
}

pub(crate) fn when(condition: Expression, then: Vec<Command>) -> Command {
    Command::If {
        condition,
        then,
        otherwise: Vec::new(),
    }
}

fn at_least_one(count: &Expression) -> Expression {
    let count = count.clone();
    count.compare(ScalarOperation::GreaterEqual, Expression::index(1))
}
