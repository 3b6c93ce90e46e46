//! Emits the declarations of variables, and assignments to them.

use crate::context::expressions::type_of;
use crate::context::function::{Emitter, LARGEST_PLAIN};
use crate::emit::accesses::{trace_assigned, trace_local, trace_variable};
use crate::scalar::memory_type;
use crate::syntax::declaration;
use nova_c_ast::ast::{Expression, Statement, Type};
use nova_loop::ir::{self, Variable};
use std::sync::Arc;

/// Emits the declaration of a variable that has a name.
pub(crate) fn declare_unset(code: &mut Emitter, variable: Variable) {
    let name = code.name(variable);
    let ty = code.type_of_variable(variable);
    code.push(declaration(ty, name));
    trace_variable(code, variable);
}

/// Declares a local array. A variable points to its first element.
pub(crate) fn local_array(code: &mut Emitter, pointer: Variable, count: u32) {
    code.declare(pointer);
    let pointer_name = code.name(pointer);
    let name = match count <= LARGEST_PLAIN {
        true => pointer_name.clone(),
        false => code.fresh(&format!("{pointer_name}_memory")),
    };
    let element = match code.unit.program.variable(pointer).ty {
        ir::Type::Pointer(element) => memory_type(element),
        ty @ (ir::Type::Scalar(_) | ir::Type::Block) => type_of(ty),
    };
    code.push(declaration(
        Type::Array(Arc::new(element.clone()), count),
        name.clone(),
    ));
    if count > LARGEST_PLAIN {
        code.push(Statement::declare(
            element.pointer(),
            pointer_name,
            Expression::Name(name),
        ));
    }
    trace_local(code, pointer, count);
}

/// Emits an assignment to a variable.
pub(crate) fn assign(code: &mut Emitter, variable: Variable, value: Expression) {
    let name = code.name(variable);
    trace_assigned(code, &[variable]);
    code.push(Statement::assign(Expression::Name(name), value));
}

/// Returns the addresses of variables that a call assigns.
pub(crate) fn addresses(code: &mut Emitter, results: &[Variable]) -> Vec<Expression> {
    trace_assigned(code, results);
    results
        .iter()
        .map(|result| code.named(*result).address())
        .collect()
}
