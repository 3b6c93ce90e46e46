//! Non-temporal stores for large results. A loop that writes every element of a large result once,
//! and computes little, is limited by memory. With ordinary stores, each line is read from memory
//! before it is written, and everything else is displaced from the caches. So strips of some lines
//! are written to a local array and moved from there to memory with non-temporal stores. What the
//! next strips read is prefetched in time.
//!
//! Whether the result is large enough, and where its lines begin, is determined at run time. Loops
//! that read each array at one place are split at the lines of the result ([`super::lines`]). For
//! other loops there is one strip if the result is not large enough. This strip lies in the result
//! itself, so that the loop's body occurs only once in the code.

use super::linear::Linear;
use super::{Map, Strips};
use crate::limits::FIELDS_OF_A_STRUCTURE;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Type, Variable};
use nova_loop::walk;
use nova_machine::PROCESSOR;
use nova_plan::Choice;

/// Bytes of a line.
const LINE: u32 = PROCESSOR.line_bytes as u32;

/// The structures in the memory of the result that a loop writes.
pub(crate) struct Target {
    /// The pointers to their fields, in order.
    pub(crate) fields: Vec<Variable>,
    pub(super) element: Scalar,
    /// The start of the first one.
    pub(super) start: Linear,
    /// The least number of structures that fills whole lines.
    pub(super) lines: u32,
    /// The size of a structure in bytes.
    pub(crate) size: u32,
}

impl Target {
    /// Returns the number of structures in a strip of a loop that is set up anew for each strip.
    pub(crate) fn width(&self) -> u32 {
        (PROCESSOR.non_temporal_strip_bytes / self.size / self.lines).max(1) * self.lines
    }
}

/// Facts that are known before the loop over the strips.
pub(crate) struct Plan {
    /// The start of the first structure.
    pub(crate) start: Expression,
    /// The number of structures.
    pub(crate) count: Expression,
    /// The number of structures in a strip, which is a whole number of lines.
    pub(crate) width: u32,
    /// The number of structures that the first strip lacks.
    pub(crate) shift: Expression,
    /// The variable of the program that is true if strips are written with non-temporal stores.
    pub(crate) non_temporal: Variable,
    /// True if the loop over the strips only runs in that case.
    pub(crate) is_certain: bool,
}

/// An array that a loop reads from front to back.
pub(super) struct Source {
    pointer: Variable,
    pub(super) address: Linear,
    /// The size of an element in bytes.
    size: i64,
}

/// The prefetches of a strip for an array that a later strip reads.
pub(super) struct Prefetches {
    pointer: Variable,
    /// The index that the first iteration reads.
    start: Expression,
    /// The distance to the index that the next iteration reads.
    factor: i64,
    /// The distance of the prefetched elements from those that are read now, in elements.
    ahead: i64,
    /// The number of elements in a line.
    line: i64,
    /// The number of lines to prefetch.
    lines: i64,
}

/// The reads of a loop.
#[derive(Default)]
pub(super) struct Reads {
    /// The arrays that are read from front to back.
    pub(super) sources: Vec<Source>,
    /// The pointers, each with the places at which elements are read.
    places: Vec<(Variable, Linear)>,
    /// True if a pointer is read at several places, or at an address that has no linear form.
    scattered: bool,
}

impl Strips<'_> {
    /// Returns the commands that replace a loop, in strips with non-temporal stores.
    pub(super) fn non_temporal(&mut self, map: &Map) -> Option<Vec<Command>> {
        if map.work() > PROCESSOR.memory_bound_work || self.scattered.contains(&map.index) {
            return None;
        }
        let target = self.target(map)?;
        if !self.program.plan.allows(map.place, Choice::Stream) {
            return None;
        }
        let Reads {
            sources, scattered, ..
        } = self.reads(map);
        let width = match scattered {
            true => target.width(),
            false => target.lines.max(PROCESSOR.lanes(4)),
        };
        let fills = |count: i64| count >= i64::from(width);
        if !map.count.as_index().is_none_or(fills) {
            return None;
        }
        let defined = target.start.is_total() && sources.iter().all(|s| s.address.is_total());
        let mut commands = Vec::new();
        let runs = at_least_one(map.count);
        let mut count = map.count.clone();
        if let Expression::Scalar { .. } = count {
            // Of a loop that was split, what is left between the ends may be less than nothing.
            count = Expression::on_index(ScalarOperation::Maximum, count, Expression::index(0));
        }
        let count = self.simple("count", count, &mut commands);
        let plan = self.plan(&target, count, width, &mut commands);
        let prefetches = self.prefetches(&sources, width, &mut commands);
        commands.extend(match scattered {
            true => self.strips(map, &target, &plan, prefetches),
            false => self.lines(map, &target, &plan, prefetches),
        });
        self.needs_fence = true;
        if !defined {
            commands = vec![Command::If {
                condition: runs,
                then: commands,
                otherwise: Vec::new(),
            }];
        }
        Some(commands)
    }

    /// Returns what a loop writes, if it writes all fields of consecutive structures.
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
            let destination: &nova_loop::ir::Destination = destination;
            destination.component as usize == first.component as usize + k
                && destination.stride == first.stride
                && self.program.variable(*pointer).ty == Type::Pointer(element)
                && address.factor == i64::from(first.stride)
                && address.constant == start.constant
                && address.is_near(&start)
        };
        let complete =
            stores.len() == first.stride as usize && first.stride <= FIELDS_OF_A_STRUCTURE;
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

    /// Returns what a loop reads. If there are too many arrays, the last ones are returned.
    pub(super) fn reads(&self, map: &Map) -> Reads {
        let mut reads = Reads::default();
        for command in map.body {
            walk::reads(command, &mut |e| self.add_reads(e, map, &mut reads));
        }
        let many = reads
            .sources
            .len()
            .saturating_sub(PROCESSOR.prefetched_arrays);
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
            // What only one branch reads is not prefetched.
            reads.scattered |= then.reads_memory() || otherwise.reads_memory();
            return deep(|| self.add_reads(condition, map, reads));
        }
        for child in expression.children() {
            deep(|| self.add_reads(child, map, reads));
        }
    }

    /// Notes that an array is read at an address.
    fn add_place(&self, pointer: Variable, address: Linear, reads: &mut Reads) {
        let place = |(known, at): &&(Variable, Linear)| *known == pointer && !at.is_same(&address);
        reads.scattered |= reads.places.iter().find(place).is_some();
        if let Type::Pointer(element) = self.program.variable(pointer).ty
            && (1..=PROCESSOR.neighbour_stride()).contains(&address.factor)
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

    /// Returns a constant or variable for an expression, which is declared if need be.
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

    /// Adds the commands that decide whether strips of so many structures are written with
    /// non-temporal stores, and where the strips begin.
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
        let non_temporal = self
            .program
            .add_variable("streams", Type::Scalar(Scalar::Bool));
        let condition = shift
            .clone()
            .compare(ScalarOperation::GreaterEqual, Expression::index(0));
        made.push(Command::declare(non_temporal, condition));
        Plan {
            start,
            count,
            width,
            shift,
            non_temporal,
            is_certain: false,
        }
    }

    /// Returns the prefetches of each source for a strip of so many structures, as functions of the
    /// start of the strip.
    pub(super) fn prefetches(
        &mut self,
        sources: &[Source],
        width: u32,
        made: &mut Vec<Command>,
    ) -> Vec<Prefetches> {
        let mut prefetches = Vec::new();
        for source in sources {
            let read = i64::from(width) * source.size * source.address.factor;
            prefetches.push(Prefetches {
                pointer: source.pointer,
                start: self.simple("row", source.address.start(), made),
                factor: source.address.factor,
                ahead: PROCESSOR.prefetch_bytes / source.size,
                line: i64::from(LINE) / source.size,
                lines: (read + i64::from(LINE) - 1) / i64::from(LINE),
            });
        }
        prefetches
    }

    /// Returns the loop over the strips.
    fn strips(
        &mut self,
        map: &Map,
        target: &Target,
        plan: &Plan,
        prefetches: Vec<Prefetches>,
    ) -> Vec<Command> {
        let filled = self.filled(map, target);
        self.over_strips(map, plan, |strips, bounds, made| {
            let prefetches = prefetches.iter().map(|a| strips.prefetch(map, a, bounds.0));
            made.extend(plan.when_non_temporal(prefetches.collect()));
            strips.strip(map, target, plan, filled, bounds, made);
        })
    }

    /// Returns the prefetches of what a strip later than the one from `begin` on reads of an array.
    pub(super) fn prefetch(
        &mut self,
        map: &Map,
        prefetches: &Prefetches,
        begin: Variable,
    ) -> Command {
        let line = self.add_index("line");
        let first = Expression::Variable(begin).times(Expression::index(prefetches.factor));
        let lines = Expression::Variable(line).times(Expression::index(prefetches.line));
        let prefetch = Command::Prefetch {
            pointer: prefetches.pointer,
            index: prefetches
                .start
                .clone()
                .plus(first)
                .plus(lines.plus(Expression::index(prefetches.ahead))),
            only_linear: false,
        };
        map.counted(line, Expression::index(prefetches.lines), vec![prefetch])
    }

    /// Returns the number of structures in the whole result.
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
