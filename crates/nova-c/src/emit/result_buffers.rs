//! Emits commands on per-iteration result buffers of parallel loops, as calls of the runtime.

use crate::context::function::Emitter;
use crate::context::writer::Writer;
use crate::emit::exits::leave_if_failed;
use crate::emit::expression::{assigned, expression};
use crate::emit::runtime_calls::runtime_call;
use crate::emit::variables::assign;
use crate::scalar::memory_type;
use crate::syntax::context;
use nova_c_ast::ast::{Expression, Statement};
use nova_core::Scalar;
use nova_loop::ir::{
    self, Command, Variable, bulk_commands, calls, errors, jumps, remarks, structures,
    variable_commands,
};

/// Emits a command on result buffers.
pub(crate) fn result_buffers(code: &mut Emitter, command: &Command) {
    match command {
        Command::MaySplit { .. } if code.unit.traces() => {
            runtime_call(code, "nova_race_may_split", Vec::new(), command);
        }
        Command::MaySplit { .. } => {
            runtime_call(code, "nova_may_split", vec![context()], command);
        }
        Command::ResultBuffers { pieces, .. } => {
            let function = of_table(
                code,
                *pieces,
                "nova_make_kernel_result_buffers",
                "nova_make_result_buffers",
            );
            runtime_call(code, function, vec![context()], command);
        }
        Command::StoreBuffer {
            pieces,
            index,
            block,
            pointer,
            element,
            count,
            place,
        } => match code.is_on_device() {
            true => store_on_device(code, *pieces, index, pointer, *element, count),
            false => {
                let arguments = vec![
                    context(),
                    code.named(*pieces),
                    assigned(code, index),
                    expression(code, block),
                    expression(code, pointer),
                    assigned(code, count),
                    Expression::SizeOf(memory_type(*element)),
                    Expression::text(place.to_string()),
                ];
                code.push(Statement::call("nova_store_buffer", arguments));
            }
        },
        Command::Buffer {
            pointer,
            pieces,
            index,
            ..
        } => buffer(code, *pointer, *pieces, index),
        Command::DropBuffers { pieces, count } => {
            let function = of_table(
                code,
                *pieces,
                "nova_drop_kernel_result_buffers",
                "nova_drop_result_buffers",
            );
            let mut arguments = vec![context(), code.named(*pieces)];
            if !is_of_kernels(code, *pieces) {
                arguments.push(assigned(code, count));
            }
            code.push(Statement::call(function, arguments));
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
    code: &mut Emitter,
    buffers: Variable,
    index: &ir::Expression,
    pointer: &ir::Expression,
    element: Scalar,
    count: &ir::Expression,
) {
    let arguments = vec![
        context(),
        code.named(buffers).address(),
        assigned(code, index),
        expression(code, pointer),
        assigned(code, count),
        Expression::SizeOf(memory_type(element)),
    ];
    code.push(Statement::call("nova_store_on_device", arguments));
    leave_if_failed(code);
}

/// Emits the address of the result buffer of an iteration.
fn buffer(code: &mut Emitter, pointer: Variable, buffers: Variable, index: &ir::Expression) {
    let table = code.named(buffers);
    let index = assigned(code, index);
    let buffer = match (code.is_on_device(), is_of_kernels(code, buffers)) {
        (true, _) => Expression::call("nova_result_buffer_on_device", vec![table.address(), index]),
        (false, true) => {
            Expression::call("nova_kernel_result_buffer", vec![context(), table, index])
        }
        (false, false) => Expression::call("nova_result_buffer", vec![table, index]),
    };
    let ty = code.type_of_variable(pointer);
    assign(code, pointer, buffer.cast(ty));
}

/// Chooses the function of the host for result buffers of kernels, or for those of the host.
fn of_table(
    code: &Writer,
    buffers: Variable,
    of_kernels: &'static str,
    of_host: &'static str,
) -> &'static str {
    match is_of_kernels(code, buffers) {
        true => of_kernels,
        false => of_host,
    }
}

/// True if result buffers belong to a kernel.
fn is_of_kernels(code: &Writer, buffers: Variable) -> bool {
    code.unit.kernels.tables.contains(&buffers)
}
