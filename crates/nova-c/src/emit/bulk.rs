//! Emits commands of Loop that move or combine many elements, as calls of the runtime.

use crate::context::function::Emitter;
use crate::context::writer::Writer;
use crate::emit::expression::{assigned, expression};
use crate::emit::fixed_blocks::fixed_block;
use crate::emit::non_temporal::non_temporal;
use crate::scalar::memory_type;
use crate::syntax::{context, int64};
use nova_c_ast::ast::{Expression, Statement};
use nova_loop::ir::{
    Command, block_commands, calls, errors, fixed_block_commands, jumps, remarks, structures,
    variable_commands,
};

/// Emits a command that moves or combines many elements.
pub(crate) fn bulk(code: &mut Emitter, command: &Command) {
    match command {
        Command::Copy {
            to,
            from,
            element,
            count,
        } => {
            let places = [expression(code, to), expression(code, from)];
            let count = assigned(code, count);
            if code.is_on_device() {
                let [to, from] = places;
                return copy_on_device(code, to, from, count);
            }
            let mut arguments = Vec::from(places);
            arguments.extend([count, Expression::SizeOf(memory_type(*element))]);
            let name = match code.unit.has_kernels {
                true => {
                    arguments.insert(0, context());
                    "nova_copy_arrays"
                }
                false => "nova_copy",
            };
            code.push(Statement::call(name, arguments));
        }
        Command::PlanNonTemporal { .. } | Command::NonTemporalStore { .. } => {
            non_temporal(code, command)
        }
        fixed_block_commands!() => fixed_block(code, command),
        block_commands!()
        | variable_commands!()
        | structures!()
        | jumps!()
        | errors!()
        | calls!()
        | remarks!() => {}
    }
}

/// Emits a copy of elements in a kernel.
pub(crate) fn copy_on_device(
    code: &mut Writer,
    to: Expression,
    from: Expression,
    count: Expression,
) {
    let count = match count {
        Expression::Name(_) | Expression::Literal(_) => count,
        others => code.variable(int64(), "count", others),
    };
    let i = code.fresh("i");
    let at = |array: Expression| array.index(Expression::Name(i.clone()));
    let body = vec![Statement::assign(at(to), at(from))];
    code.push(Statement::For {
        ty: int64(),
        variable: i,
        count,
        body: body.into(),
    });
}
