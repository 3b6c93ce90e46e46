//! Emits commands on per-iteration result buffers of parallel loops, as calls of the runtime.

use crate::context::expressions::context;
use crate::context::function::FunctionEmitter;
use crate::scalar::memory_type;
use nova_c_ast::ast::{Expression, Statement};
use nova_core::Scalar;
use nova_loop::ir::{
    self, Command, Variable, bulk_commands, calls, errors, jumps, remarks, structures,
    variable_commands,
};

impl FunctionEmitter<'_, '_> {
    /// Emits a command on result buffers.
    pub fn result_buffers(&mut self, command: &Command) {
        match command {
            Command::MaySplit { splits } if self.unit.traces() => {
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
                let function = self.of_table(
                    *pieces,
                    "nova_make_kernel_result_buffers",
                    "nova_make_result_buffers",
                );
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
                true => self.store_on_device(*pieces, index, pointer, *element, count),
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
                    self.push(Statement::call("nova_store_buffer", arguments));
                }
            },
            Command::Buffer {
                pointer,
                pieces,
                index,
                ..
            } => self.buffer(*pointer, *pieces, index),
            Command::DropBuffers { pieces, count } => {
                let function = self.of_table(
                    *pieces,
                    "nova_drop_kernel_result_buffers",
                    "nova_drop_result_buffers",
                );
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

    /// Emits the store of an array into a result buffer by a thread of a kernel. It is a copy, since
    /// the memory of the thread ends earlier.
    fn store_on_device(
        &mut self,
        buffers: Variable,
        index: &ir::Expression,
        pointer: &ir::Expression,
        element: Scalar,
        count: &ir::Expression,
    ) {
        let arguments = vec![
            context(),
            self.table(buffers).address(),
            self.assigned(index),
            self.expression(pointer),
            self.assigned(count),
            Expression::SizeOf(memory_type(element)),
        ];
        self.push(Statement::call("nova_store_on_device", arguments));
        self.leave_if_failed();
    }

    /// Emits the address of the result buffer of an iteration.
    fn buffer(&mut self, pointer: Variable, buffers: Variable, index: &ir::Expression) {
        let table = self.table(buffers);
        let index = self.assigned(index);
        let buffer = match (self.is_on_device(), self.is_of_kernels(buffers)) {
            (true, _) => {
                Expression::call("nova_result_buffer_on_device", vec![table.address(), index])
            }
            (false, true) => {
                Expression::call("nova_kernel_result_buffer", vec![context(), table, index])
            }
            (false, false) => Expression::call("nova_result_buffer", vec![table, index]),
        };
        let ty = self.type_of_variable(pointer);
        self.assign(pointer, buffer.cast(ty));
    }

    fn table(&mut self, buffers: Variable) -> Expression {
        Expression::Name(self.name(buffers))
    }

    /// Chooses the function of the host for result buffers of kernels, or for those of the host.
    fn of_table(
        &self,
        buffers: Variable,
        of_kernels: &'static str,
        of_host: &'static str,
    ) -> &'static str {
        match self.is_of_kernels(buffers) {
            true => of_kernels,
            false => of_host,
        }
    }

    /// True if result buffers belong to a kernel.
    fn is_of_kernels(&self, buffers: Variable) -> bool {
        self.unit.kernels.tables.contains(&buffers)
    }
}
