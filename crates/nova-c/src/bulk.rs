//! Commands of Loop that move or combine many elements, as calls of the runtime.

use crate::ast::{Expression, Statement};
use crate::function::FunctionEmitter;
use crate::scalar::memory_type;
use nova_loop::ir::Command;
use nova_loop::ir::{
    block_commands, calls, errors, few_commands, jumps, remarks, structures, variable_commands,
};

impl FunctionEmitter<'_, '_> {
    /// Commands that move or combine many elements.
    pub fn bulk(&mut self, command: &Command) {
        match command {
            Command::Copy {
                to,
                from,
                element,
                count,
            } => {
                let arguments = vec![
                    self.expression(to),
                    self.expression(from),
                    self.assigned(count),
                    Expression::SizeOf(memory_type(*element)),
                ];
                self.push(Statement::call("nova_copy", arguments));
            }
            Command::PlanStream { .. } | Command::Stream { .. } => self.stream(command),
            few_commands!() => self.few(command),
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
