//! The rules of arrays that the iterations of a loop keep: a table is a handle with one reference, and
//! its pieces are of the type that they are read as.

use super::{INDEX, Verifier};
use crate::ir::{Command, Type, Variable};
use crate::ir::{bulk_commands, calls, errors, jumps, remarks, structures, variable_commands};
use nova_core::Scalar;

impl<'p> Verifier<'p> {
    /// Commands on the pieces of a loop.
    pub(super) fn pieces(&mut self, command: &'p Command) {
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
                    self.error("pieces without a handle");
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
                    self.error("a piece without a pointer to its elements");
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

    fn table(&mut self, pieces: Variable) {
        if self.read(pieces).is_some_and(|ty| ty != Type::Block) {
            self.error("pieces of something else than a table");
        }
    }
}
