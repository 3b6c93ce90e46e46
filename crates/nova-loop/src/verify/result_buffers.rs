//! The rules of per-iteration result buffers: a table is a handle with one reference, and its buffers have
//! the type with which they are read.

use super::{INDEX, Verifier};
use crate::ir::{Command, Type, Variable};
use crate::ir::{bulk_commands, calls, errors, jumps, remarks, structures, variable_commands};
use nova_core::Scalar;

impl<'p> Verifier<'p> {
    /// Checks a command on the result buffers of a loop.
    pub(super) fn result_buffers(&mut self, command: &'p Command) {
        match command {
            Command::MaySplit { splits } => {
                let wanted = Type::Scalar(Scalar::Bool);
                if self.target(*splits).is_some_and(|ty| ty != wanted) {
                    self.error("an answer that is no bool");
                }
                self.flow.assign(*splits);
            }
            Command::ResultBuffers { pieces, count, .. } => {
                self.expect(count, INDEX);
                if self.target(*pieces).is_some_and(|ty| ty != Type::Block) {
                    self.error("result buffers without a handle");
                }
                self.give_reference(*pieces);
            }
            Command::StoreBuffer {
                pieces,
                index,
                block,
                pointer,
                element,
                count,
                ..
            } => {
                self.table(*pieces);
                self.expect(index, INDEX);
                self.expect(block, Type::Block);
                self.expect(pointer, Type::Pointer(*element));
                self.expect(count, INDEX);
            }
            Command::Buffer {
                pointer,
                pieces,
                element,
                index,
            } => {
                self.table(*pieces);
                self.expect(index, INDEX);
                let wanted = Type::Pointer(*element);
                if self.target(*pointer).is_some_and(|ty| ty != wanted) {
                    self.error("a result buffer without a pointer to its elements");
                }
                self.flow.assign(*pointer);
            }
            Command::DropBuffers { pieces, count } => {
                self.expect(count, INDEX);
                self.table(*pieces);
                self.take_reference(*pieces, "dropped");
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
            | remarks!() => {}
        }
    }

    fn table(&mut self, handle: Variable) {
        if self.read(handle).is_some_and(|ty| ty != Type::Block) {
            self.error("result buffers of something else than a table");
        }
    }
}
