//! Arrays that the iterations of a parallel loop keep, as calls of the runtime.

use crate::ast::{Expression, Statement};
use crate::command::context;
use crate::function::FunctionEmitter;
use crate::scalar::memory_type;
use nova_core::Scalar;
use nova_loop::ir::{self, Command, Variable};
use nova_loop::ir::{bulk_commands, calls, errors, jumps, remarks, structures, variable_commands};

impl FunctionEmitter<'_, '_> {
    /// Commands on the pieces of a loop.
    pub fn pieces(&mut self, command: &Command) {
        match command {
            Command::MaySplit { splits } if self.traces() => {
                self.assign(*splits, Expression::call("nova_race_may_split", Vec::new()));
            }
            Command::MaySplit { splits } => {
                self.assign(*splits, Expression::call("nova_may_split", vec![context()]));
            }
            Command::ResultBuffers {
                pieces,
                count,
                place,
            } => {
                let function = self.of_table(*pieces, "nova_expect_kept", "nova_expect_pieces");
                let place = Expression::text(place.to_string());
                let arguments = vec![context(), self.assigned(count), place];
                self.assign(*pieces, Expression::call(function, arguments));
            }
            Command::StoreBuffer {
                pieces,
                index,
                block,
                pointer,
                element,
                count,
                place,
            } => match self.is_on_device() {
                true => self.keep_on_device(*pieces, index, pointer, *element, count),
                false => {
                    let arguments = vec![
                        context(),
                        self.table(*pieces),
                        self.assigned(index),
                        self.expression(block),
                        self.expression(pointer),
                        self.assigned(count),
                        Expression::SizeOf(memory_type(*element)),
                        Expression::text(place.to_string()),
                    ];
                    self.push(Statement::call("nova_keep", arguments));
                }
            },
            Command::Buffer {
                pointer,
                pieces,
                index,
                ..
            } => self.piece(*pointer, *pieces, index),
            Command::DropBuffers { pieces, count } => {
                let function = self.of_table(*pieces, "nova_drop_kept", "nova_drop_pieces");
                let mut arguments = vec![context(), self.table(*pieces)];
                if !self.is_of_kernels(*pieces) {
                    arguments.push(self.assigned(count));
                }
                self.push(Statement::call(function, arguments));
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

    /// An array kept by a thread of a kernel: a copy, since the thread's own memory ends before.
    fn keep_on_device(
        &mut self,
        pieces: Variable,
        index: &ir::Expression,
        pointer: &ir::Expression,
        element: Scalar,
        count: &ir::Expression,
    ) {
        let arguments = vec![
            context(),
            self.table(pieces).address(),
            self.assigned(index),
            self.expression(pointer),
            self.assigned(count),
            Expression::SizeOf(memory_type(element)),
        ];
        self.push(Statement::call("nova_keep_on_device", arguments));
        self.leave_if_failed();
    }

    /// Where the array of an iteration is.
    fn piece(&mut self, pointer: Variable, pieces: Variable, index: &ir::Expression) {
        let table = self.table(pieces);
        let index = self.assigned(index);
        let piece = match (self.is_on_device(), self.is_of_kernels(pieces)) {
            (true, _) => Expression::call("nova_piece_on_device", vec![table.address(), index]),
            (false, true) => Expression::call("nova_kept_piece", vec![context(), table, index]),
            (false, false) => Expression::call("nova_piece", vec![table, index]),
        };
        let ty = self.type_of_variable(pointer);
        self.assign(pointer, piece.cast(ty));
    }

    fn table(&mut self, pieces: Variable) -> Expression {
        Expression::Name(self.name(pieces))
    }

    /// The function of the host for a table of kernels, or for one of its own.
    fn of_table(
        &self,
        pieces: Variable,
        of_kernels: &'static str,
        of_host: &'static str,
    ) -> &'static str {
        match self.is_of_kernels(pieces) {
            true => of_kernels,
            false => of_host,
        }
    }

    /// True if a table is for the arrays that the threads of a kernel keep.
    fn is_of_kernels(&self, pieces: Variable) -> bool {
        self.unit.kernels.tables.contains(&pieces)
    }
}
