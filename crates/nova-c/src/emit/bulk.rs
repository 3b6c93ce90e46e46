//! Emits commands of Loop that move or combine many elements, as calls of the runtime.

use crate::context::expressions::context;
use crate::context::function::FunctionEmitter;
use crate::scalar::memory_type;
use nova_c_ast::ast::{Expression, Statement};
use nova_loop::ir::{
    Command, block_commands, calls, errors, fixed_block_commands, jumps, remarks, structures,
    variable_commands,
};

impl FunctionEmitter<'_, '_> {
    /// Emits a command that moves or combines many elements.
    pub fn bulk(&mut self, command: &Command) {
        match command {
            Command::Copy {
                to,
                from,
                element,
                count,
            } => {
                let places = [self.expression(to), self.expression(from)];
                let count = self.assigned(count);
                if self.is_on_device() {
                    let [to, from] = places;
                    return self.copy_on_device(to, from, count);
                }
                let mut arguments = Vec::from(places);
                arguments.extend([count, Expression::SizeOf(memory_type(*element))]);
                let name = match self.unit.has_kernels {
                    true => {
                        arguments.insert(0, context());
                        "nova_copy_arrays"
                    }
                    false => "nova_copy",
                };
                self.push(Statement::call(name, arguments));
            }
            Command::PlanNonTemporal { .. } | Command::NonTemporalStore { .. } => {
                self.non_temporal(command)
            }
            fixed_block_commands!() => self.fixed_block(command),
            block_commands!()
            | variable_commands!()
            | structures!()
            | jumps!()
            | errors!()
            | calls!()
            | remarks!() => {}
        }
    }
}
