//! Arrays that the iterations of a parallel loop keep, as calls of the runtime.

use crate::ast::{Expression, Statement};
use crate::function::FunctionEmitter;
use crate::scalar::memory_type;
use nova_loop::ir::Command;
use nova_loop::ir::{bulk_commands, calls, errors, jumps, remarks, structures, variable_commands};

impl FunctionEmitter<'_, '_> {
    /// Commands on the pieces of a loop.
    pub fn pieces(&mut self, command: &Command) {
        match command {
            Command::MaySplit { splits } => {
                let arguments = vec![Expression::name("context")];
                self.assign(*splits, Expression::call("nova_may_split", arguments));
            }
            Command::Pieces {
                pieces,
                count,
                place,
            } => {
                let arguments = vec![
                    Expression::name("context"),
                    self.assigned(count),
                    Expression::text(place.to_string()),
                ];
                self.assign(*pieces, Expression::call("nova_expect_pieces", arguments));
            }
            Command::Keep {
                pieces,
                index,
                block,
                pointer,
                element,
                count,
                place,
            } => {
                let arguments = vec![
                    Expression::name("context"),
                    Expression::Name(self.name(*pieces)),
                    self.assigned(index),
                    self.expression(block),
                    self.expression(pointer),
                    self.assigned(count),
                    Expression::SizeOf(memory_type(*element)),
                    Expression::text(place.to_string()),
                ];
                self.push(Statement::call("nova_keep", arguments));
            }
            Command::Piece {
                pointer,
                pieces,
                element,
                index,
            } => {
                let arguments = vec![Expression::Name(self.name(*pieces)), self.assigned(index)];
                let piece = Expression::call("nova_piece", arguments);
                let ty = memory_type(*element).pointer();
                self.assign(*pointer, piece.cast(ty));
            }
            Command::DropPieces { pieces, count } => {
                let arguments = vec![
                    Expression::name("context"),
                    Expression::Name(self.name(*pieces)),
                    self.assigned(count),
                ];
                self.push(Statement::call("nova_drop_pieces", arguments));
            }
            Command::Store { .. }
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
}
