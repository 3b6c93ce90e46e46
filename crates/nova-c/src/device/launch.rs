//! Launches of kernels, and their arguments.

use crate::context::expressions::type_of;
use crate::context::function::Emitter;
use crate::context::writer::Writer;
use crate::scalar::memory_type;
use crate::syntax::{context, literal, null, truth};
use nova_c_ast::ast::{Expression, Statement, Type};
use nova_loop::ir::{self, Variable};
use std::sync::Arc;

/// Returns the argument that the host passes for a variable.
pub(crate) fn kernel_argument(code: &mut Emitter, variable: Variable, written: bool) -> Expression {
    let name = code.named(variable);
    match code.program().variable(variable).ty {
        ir::Type::Pointer(element) => array_argument(name, memory_type(element), written),
        ir::Type::Block => Expression::call("nova_result_buffers_of", vec![context(), name]),
        ty @ ir::Type::Scalar(_) => {
            let size = Expression::SizeOf(type_of(ty));
            Expression::call("nova_value", vec![name.address(), size])
        }
    }
}

/// Returns the argument that the host passes for an array.
pub(crate) fn array_argument(array: Expression, element: Type, written: bool) -> Expression {
    let writes = truth(written);
    let arguments = vec![context(), array, Expression::SizeOf(element), writes];
    Expression::call("nova_array", arguments)
}

/// Emits a launch: a call of the runtime with the kernel, the number of iterations, and a list of
/// arguments. `more` holds further arguments of the runtime: the number of threads of a group,
/// whether threads allocate memory, whether the kernel may fail.
pub(crate) fn push_launch(
    code: &mut Writer,
    (launch, kernel): (&str, Expression),
    count: Expression,
    more: Vec<Expression>,
    arguments: Vec<Expression>,
) {
    let length = arguments.len();
    let list = if arguments.is_empty() {
        null()
    } else {
        let name = code.fresh("arguments");
        let ty = Type::Array(Arc::new(Type::name("nova_argument")), length as u32);
        let value = Expression::Braces(arguments);
        code.push(Statement::declare(ty, name.clone(), value));
        Expression::Name(name)
    };
    let mut all = vec![context(), kernel, count];
    all.extend(more);
    all.extend([list, literal(length)]);
    code.push(Statement::call(launch, all));
}
