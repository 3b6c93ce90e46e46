//! Arrays that the iterations of a parallel loop keep, as calls of the runtime.

use crate::ast::{Expression, Statement};
use crate::function::FunctionEmitter;
use crate::scalar::memory_type;
use nova_loop::ir::{Command, Variable};
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
                let function = match self.is_of_kernels(*pieces) {
                    true => "nova_expect_kept",
                    false => "nova_expect_pieces",
                };
                self.assign(*pieces, Expression::call(function, arguments));
            }
            Command::Keep {
                pieces,
                index,
                block,
                pointer,
                element,
                count,
                place,
            } if !self.is_on_device() => {
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
            Command::Keep {
                pieces,
                index,
                pointer,
                element,
                count,
                ..
            } => {
                let arguments = vec![
                    Expression::name("context"),
                    Expression::Name(self.name(*pieces)).address(),
                    self.assigned(index),
                    self.expression(pointer),
                    self.assigned(count),
                    Expression::SizeOf(memory_type(*element)),
                ];
                self.push(Statement::call("nova_keep_on_device", arguments));
                self.leave_if_failed();
            }
            Command::Piece {
                pointer,
                pieces,
                index,
                ..
            } => {
                let table = Expression::Name(self.name(*pieces));
                let index = self.assigned(index);
                let kept = self.is_of_kernels(*pieces);
                let piece = match (self.is_on_device(), kept) {
                    (true, _) => {
                        Expression::call("nova_piece_on_device", vec![table.address(), index])
                    }
                    (false, true) => {
                        let arguments = vec![Expression::name("context"), table, index];
                        Expression::call("nova_kept_piece", arguments)
                    }
                    (false, false) => Expression::call("nova_piece", vec![table, index]),
                };
                let ty = self.type_of_variable(*pointer);
                self.assign(*pointer, piece.cast(ty));
            }
            Command::DropPieces { pieces, count } => {
                let mut arguments = vec![
                    Expression::name("context"),
                    Expression::Name(self.name(*pieces)),
                ];
                let function = match self.is_of_kernels(*pieces) {
                    true => "nova_drop_kept",
                    false => {
                        arguments.push(self.assigned(count));
                        "nova_drop_pieces"
                    }
                };
                self.push(Statement::call(function, arguments));
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

    /// Whether a table is for the arrays that the threads of a kernel keep.
    fn is_of_kernels(&self, pieces: Variable) -> bool {
        self.unit.kernels.tables.contains(&pieces)
    }
}
