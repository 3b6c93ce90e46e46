//! Per-iteration result buffers. A table is a block of numbers, which identify the blocks of the
//! buffers.

use super::commands::exhausted;
use super::heap::BlockId;
use super::machine::Machine;
use super::{Cell, Pointer, Step, wrong};
use crate::ir::{Command, Variable};
use crate::ir::{bulk_commands, calls, errors, jumps, remarks, structures, variable_commands};
use nova_core::{Scalar, ScalarValue};

impl<'p> Machine<'p> {
    /// Executes a command on result buffers.
    pub(super) fn result_buffers(&mut self, command: &'p Command) -> Step<()> {
        match command {
            Command::MaySplit { splits } => {
                // The answer alternates, so that both cases are tested.
                self.splits = !self.splits;
                let answer = ScalarValue::Bool(self.splits);
                self.set(*splits, Cell::Scalar(answer))
            }
            Command::ResultBuffers {
                pieces,
                count,
                place,
            } => {
                let count = self.evaluate(count)?.index()?;
                let id = self.heap.allocate(Scalar::I64, count);
                let id = id.map_err(|e| exhausted(e, place))?;
                self.set(*pieces, Cell::Block(Some(id)))
            }
            Command::StoreBuffer {
                pieces,
                index,
                block,
                pointer,
                element,
                count,
                place,
            } => {
                let table = self.table(*pieces)?;
                let index = self.evaluate(index)?.index()?;
                let count = self.evaluate(count)?.index()?;
                let from = self.evaluate(pointer)?.pointer()?;
                self.evaluate(block)?.block()?;
                let id = self.heap.allocate(*element, count);
                let id = id.map_err(|e| exhausted(e, place))?;
                self.heap.copy(Pointer::start(id), from, count)?;
                let code = ScalarValue::I64(id.code());
                self.heap.store(table, index, code)
            }
            Command::Buffer {
                pointer,
                pieces,
                index,
                ..
            } => {
                let table = self.table(*pieces)?;
                let index = self.evaluate(index)?.index()?;
                let buffer = self.buffer(table, index)?;
                self.set(*pointer, Cell::Pointer(Pointer::start(buffer)))
            }
            Command::DropBuffers { pieces, count } => {
                let table = self.table(*pieces)?;
                let count = self.evaluate(count)?.index()?;
                for index in 0..count {
                    let buffer = self.buffer(table, index)?;
                    self.heap.release(buffer)?;
                }
                match table.block {
                    Some(id) => self.heap.release(id),
                    None => Ok(()),
                }
            }
            Command::Store { .. }
            | Command::Contend { .. }
            | Command::Allocate { .. }
            | Command::Reserve { .. }
            | Command::Unique { .. }
            | Command::Retain(_)
            | Command::Release(_)
            | bulk_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => wrong("no command on pieces"),
        }
    }

    fn table(&self, handle: Variable) -> Step<Pointer> {
        match self.get(handle)?.block()? {
            Some(id) => Ok(Pointer::start(id)),
            None => wrong("a table of result buffers that is not there"),
        }
    }

    fn buffer(&self, table: Pointer, index: i64) -> Step<BlockId> {
        match self.heap.load(table, index)? {
            ScalarValue::I64(code) => Ok(BlockId::of_code(code)),
            _no_number => wrong("a table of something else than pieces"),
        }
    }
}
