//! Execution of commands.

use super::heap::Exhausted;
use super::machine::{Machine, Node};
use super::{Cell, Pointer, Step, runtime, wrong};
use crate::ir::{Command, Expression, Extent, Use, Variable};
use crate::ir::{
    block_commands, bulk_commands, calls, errors, fixed_block_commands, jumps, memory_commands,
    remarks, structures, variable_commands,
};
use crate::result_buffer_commands;
use crate::uses::accesses;
use nova_core::{ErrorKind, Scalar, ScalarValue, SumId};
use nova_diag::Place;

impl<'p> Machine<'p> {
    /// Executes one command. A command with lists only opens one of them.
    pub(super) fn execute(&mut self, command: &'p Command) -> Step<()> {
        match command {
            Command::Declare { variable, value } => match value {
                Some(value) => self.assign(*variable, value),
                None => self.unset(*variable),
            },
            Command::Local { pointer, count } => self.local(*pointer, *count),
            Command::Shared { pointer, count } => self.shared(*pointer, count),
            Command::Spare {
                pointer,
                places,
                count,
                apart,
            } => self.spare(*pointer, places, count, apart),
            Command::Assign { variable, value } => self.assign(*variable, value),
            memory_commands!() => self.memory(command),
            Command::If {
                condition,
                then,
                otherwise,
            } => {
                let holds = self.evaluate(condition)?.bool()?;
                self.open(if holds { then } else { otherwise });
                Ok(())
            }
            Command::Switch { scrutinee, cases } => self.switch(scrutinee, cases),
            Command::For {
                variable,
                count,
                level,
                body,
                ..
            } => {
                let count = self.evaluate(count)?.index()?;
                self.open_for(*variable, count, *level, body);
                Ok(())
            }
            Command::Loop { body, .. } => {
                self.open_loop(body);
                Ok(())
            }
            Command::Break => self.jump(true),
            Command::Continue => self.jump(false),
            Command::Return => {
                self.leave_call();
                Ok(())
            }
            Command::Call {
                function,
                arguments,
                results,
            } => {
                let arguments = self.evaluate_all(arguments)?;
                self.call(*function, arguments, results)
            }
            errors!() => self.error(command),
            Command::Foreign { .. }
            | Command::NodeNew { .. }
            | Command::NodePayload { .. }
            | Command::Trace { .. } => self.outside(command),
            Command::Table(command) => self.table_command(command),
            Command::BeginOrdered(_) => {
                self.heap.iterations.begin_ordered();
                Ok(())
            }
            Command::EndOrdered(_) => {
                self.heap.iterations.end_ordered();
                Ok(())
            }
            Command::Barrier(_)
            | Command::StoreFence
            | Command::Prefetch { .. }
            | Command::OnHost { .. }
            | Command::Comment(_) => Ok(()),
        }
    }

    fn assign(&mut self, variable: Variable, value: &Expression) -> Step<()> {
        let value = self.evaluate(value)?;
        self.set(variable, value)
    }

    /// Opens the case of a number, or the last one.
    fn switch(&mut self, scrutinee: &'p Expression, cases: &'p [Vec<Command>]) -> Step<()> {
        let ScalarValue::I32(case) = self.evaluate(scrutinee)?.scalar()? else {
            return wrong("a switch on another type");
        };
        let chosen = usize::try_from(case).ok().and_then(|k| cases.get(k));
        if let Some(case) = chosen.or(cases.last()) {
            self.open(case);
        }
        Ok(())
    }

    /// Executes a command on blocks.
    fn memory(&mut self, command: &'p Command) -> Step<()> {
        match command {
            Command::Store {
                pointer,
                index,
                value,
            } => {
                let pointer = self.get(*pointer)?.pointer()?;
                let index = self.evaluate(index)?.index()?;
                let value = self.evaluate(value)?.scalar()?;
                self.heap.store(pointer, index, value)
            }
            Command::Contend {
                pointer,
                index,
                value,
                stays,
            } => {
                let pointer = self.get(*pointer)?.pointer()?;
                let index = self.evaluate(index)?.index()?;
                let value = self.evaluate(value)?.scalar()?;
                self.heap.contend(pointer, index, value, *stays)
            }
            Command::Allocate {
                block,
                pointer,
                element,
                count,
                destination,
                place,
            } => {
                let count = self.evaluate(count)?.index()?;
                let stride = destination.as_ref().map(|d| i64::from(d.stride));
                self.allocate((*block, *pointer), *element, count, stride, place)
            }
            Command::Reserve {
                block,
                pointer,
                element,
                used,
                count,
                place,
            } => {
                let used = self.evaluate(used)?.index()?;
                let count = self.evaluate(count)?.index()?;
                self.reserve((*block, *pointer), *element, used, count, place)
            }
            Command::Unique {
                block,
                pointer,
                element,
                count,
                place,
            } => {
                let count = self.evaluate(count)?.index()?;
                self.unique((*block, *pointer), *element, count, place)
            }
            bulk_commands!() => self.bulk(command),
            result_buffer_commands!() => self.result_buffers(command),
            Command::Retain(variable) => match self.get(*variable)?.block()? {
                Some(block) => self.heap.retain(block),
                None => Ok(()),
            },
            Command::Release(variable) => match self.get(*variable)?.block()? {
                Some(block) => self.heap.release(block),
                None => Ok(()),
            },
            Command::Declare { .. }
            | Command::Local { .. }
            | Command::Shared { .. }
            | Command::Spare { .. }
            | Command::Assign { .. } => wrong("no command on blocks"),
            structures!() | jumps!() | errors!() | calls!() | remarks!() => {
                wrong("no command on blocks")
            }
        }
    }

    /// Makes a block. With a stride of its elements, it is where the caller gets the result.
    fn allocate(
        &mut self,
        (block, pointer): (Variable, Variable),
        element: Scalar,
        count: i64,
        stride: Option<i64>,
        place: &Place,
    ) -> Step<()> {
        let Some(stride) = stride else {
            let id = self.heap.allocate(element, count);
            let id = id.map_err(|e| exhausted(e, place))?;
            return self.set_block(block, pointer, id);
        };
        let room = count.checked_mul(stride);
        let id = self.heap.result(element, room.unwrap_or(-1));
        let id = id.map_err(|e| exhausted(e, place))?;
        self.set(block, Cell::Block(None))?;
        self.set(pointer, Cell::Pointer(Pointer::start(id)))
    }

    /// Returns the pointers through which a command itself uses elements, in the order of its operands. They
    /// lead only to the elements that the table of commands states, and allow only the stated use.
    pub(super) fn addresses<const N: usize>(&mut self, command: &'p Command) -> Step<[Pointer; N]> {
        let mut found = Vec::with_capacity(N);
        for access in accesses(command) {
            let mut pointer = self.evaluate(&access.pointer)?.pointer()?;
            let count = match access.extent {
                Extent::Count(count) => Some(self.evaluate(count)?.index()?),
                Extent::Groups(count, size) => Some(
                    self.evaluate(count)?
                        .index()?
                        .saturating_mul(i64::from(size)),
                ),
                Extent::Fixed(count) => Some(count),
                Extent::At(_) | Extent::Any => None,
            };
            if let Some(count) = count {
                let (begin, end) = pointer.bounds.unwrap_or((i64::MIN, i64::MAX));
                let last = pointer.index.saturating_add(count);
                pointer.bounds = Some((begin.max(pointer.index), end.min(last)));
            }
            pointer.read_only = access.used == Use::Read;
            found.push(pointer);
        }
        match found.try_into() {
            Ok(found) => Ok(found),
            Err(_) => wrong("a command uses elements in another number of places"),
        }
    }

    /// Executes a command that moves or combines many elements.
    fn bulk(&mut self, command: &'p Command) -> Step<()> {
        match command {
            Command::Copy { count, .. } => {
                let [to, from] = self.addresses(command)?;
                let count = self.evaluate(count)?.index()?;
                self.heap.copy(to, from, count)
            }
            Command::PlanNonTemporal {
                shift,
                start,
                count,
                total,
                width,
                ..
            } => {
                self.evaluate(start)?.index()?;
                self.evaluate(total)?.index()?;
                self.plan_non_temporal(*shift, count, *width)
            }
            Command::NonTemporalStore {
                fields,
                start,
                from,
                count,
                lines: _,
            } => self.non_temporal_store(fields, start, from, count),
            fixed_block_commands!() => self.fixed_block(command),
            block_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => wrong("no command on blocks"),
        }
    }

    /// Decides about non-temporal stores. The interpreter always chooses them, for results that do not begin
    /// at a cache line.
    fn plan_non_temporal(&mut self, shift: Variable, count: &Expression, width: u32) -> Step<()> {
        let count = self.evaluate(count)?.index()?;
        let missing = count.rem_euclid(i64::from(width).max(1));
        self.set(shift, Cell::Scalar(ScalarValue::I64(missing)))
    }

    fn non_temporal_store(
        &mut self,
        fields: &[Variable],
        start: &Expression,
        from: &Expression,
        count: &Expression,
    ) -> Step<()> {
        let start = self.evaluate(start)?.index()?;
        let from = self.evaluate(from)?.pointer()?;
        let count = self.evaluate(count)?.index()?;
        let stride = fields.len() as i64;
        for (field, k) in fields.iter().zip(0..) {
            let to = self.get(*field)?.pointer()?;
            for structure in 0..count {
                let value = self.heap.load(from, structure * stride + k)?;
                self.heap.store(to, start + structure * stride, value)?;
            }
        }
        Ok(())
    }

    fn set_block(
        &mut self,
        block: Variable,
        pointer: Variable,
        id: super::heap::BlockId,
    ) -> Step<()> {
        self.set(block, Cell::Block(Some(id)))?;
        self.set(pointer, Cell::Pointer(Pointer::start(id)))
    }

    fn reserve(
        &mut self,
        (block, pointer): (Variable, Variable),
        element: Scalar,
        used: i64,
        count: i64,
        place: &Place,
    ) -> Step<()> {
        let id = match self.get(block)?.block()? {
            Some(id) => self.heap.grow(id, used, count)?,
            None => self.heap.allocate(element, count),
        };
        let id = id.map_err(|e| exhausted(e, place))?;
        self.set_block(block, pointer, id)
    }

    fn unique(
        &mut self,
        (block, pointer): (Variable, Variable),
        element: Scalar,
        count: i64,
        place: &Place,
    ) -> Step<()> {
        let held = self.get(block)?.block()?;
        if let Some(id) = held
            && self.heap.is_held_once(id)?
        {
            return Ok(());
        }
        let from = self.get(pointer)?.pointer()?;
        let id = self.heap.allocate(element, count);
        let id = id.map_err(|e| exhausted(e, place))?;
        let to = Pointer::start(id);
        self.heap.copy(to, from, count)?;
        if let Some(id) = held {
            self.heap.release(id)?;
        }
        self.set_block(block, pointer, id)
    }

    /// Stops the program with an error, unless a condition holds.
    fn error(&mut self, command: &'p Command) -> Step<()> {
        let (error, arguments, place) = match command {
            Command::Check { condition, .. } if self.evaluate(condition)?.bool()? => return Ok(()),
            Command::Check {
                error,
                arguments,
                place,
                ..
            }
            | Command::Fail {
                error,
                arguments,
                place,
            } => (error, arguments, place),
            _others => return wrong("no error"),
        };
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let Some(value) = self.evaluate(argument)?.scalar()?.as_integer() else {
                return wrong("an argument of an error that is no integer");
            };
            let value = value.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
            values.push(value as i64);
        }
        Err(runtime(*error, values, Some(place)))
    }

    /// Executes a command on node tables, a foreign call or a trace.
    fn outside(&mut self, command: &'p Command) -> Step<()> {
        match command {
            Command::Foreign {
                foreign,
                arguments,
                results,
                place,
            } => {
                let arguments = self.evaluate_all(arguments)?;
                let values = self.foreign(*foreign, arguments, place)?;
                self.set_all(results, values)
            }
            Command::NodeNew {
                sum,
                constructor,
                payload,
                link,
                ..
            } => {
                let node = self.new_node(*constructor, payload)?;
                let index = self.add_node(*sum, node)?;
                self.set(*link, Cell::Scalar(ScalarValue::I64(index)))
            }
            Command::NodePayload {
                sum,
                constructor,
                link,
                results,
            } => {
                let link = self.evaluate(link)?.index()?;
                let node = self.node(*sum, link)?;
                if node.constructor != *constructor {
                    return wrong("the payload of another constructor");
                }
                let mut payload = node.payload.clone();
                // Kernels have no handles of the arrays in nodes, and count no references to them.
                if self.program.nodes_by_threads && self.heap.iterations.is_inside() {
                    for cell in &mut payload {
                        if let Cell::Block(handle) = cell {
                            *handle = None;
                        }
                    }
                }
                self.set_all(results, payload)
            }
            Command::Trace {
                text,
                ty,
                components,
            } => {
                let components = self.evaluate_all(components)?;
                let value = self.value(&components, ty)?;
                let value = nova_core::text::print_value(&value, ty, &self.program.sums);
                let text = String::from_utf8_lossy(text);
                (self.options.trace)(&format!("{text} {value}"));
                Ok(())
            }
            Command::Call { .. } | Command::Table(_) => wrong("a call inside"),
            structures!()
            | variable_commands!()
            | memory_commands!()
            | jumps!()
            | errors!()
            | remarks!() => wrong("nothing outside"),
        }
    }

    pub(super) fn set_all(&mut self, variables: &[Variable], values: Vec<Cell>) -> Step<()> {
        if variables.len() != values.len() {
            return wrong("another number of results");
        }
        for (variable, value) in variables.iter().zip(values) {
            self.set(*variable, value)?;
        }
        Ok(())
    }

    /// Returns a node with a payload. It takes a reference of each array.
    pub(super) fn new_node(&mut self, constructor: u32, payload: &'p [Expression]) -> Step<Node> {
        let payload = self.evaluate_all(payload)?;
        for cell in &payload {
            if let Cell::Block(Some(block)) = cell {
                self.heap.retain(*block)?;
            }
        }
        Ok(Node {
            constructor,
            payload,
            maker: self.heap.iterations.current(),
        })
    }

    /// Returns a node of a table.
    pub(super) fn node(&self, sum: SumId, link: i64) -> Step<&Node> {
        let table = self.tables.get(sum.index());
        let index = usize::try_from(link).ok();
        match index.and_then(|index| table?.get(index)) {
            Some(Some(node)) => {
                self.heap.iterations.check_maker(node.maker)?;
                Ok(node)
            }
            Some(None) | None => wrong(format!("sum {} has no node {link}", sum.0)),
        }
    }

    /// Adds a node to a table and returns its link.
    pub(super) fn add_node(&mut self, sum: SumId, node: Node) -> Step<i64> {
        match self.tables.get_mut(sum.index()) {
            Some(table) => {
                table.push(Some(node));
                Ok(table.len() as i64 - 1)
            }
            None => wrong("there is no such sum"),
        }
    }
}

pub(super) fn exhausted(_: Exhausted, place: &Place) -> super::Stop {
    runtime(ErrorKind::Memory, Vec::new(), Some(place))
}
