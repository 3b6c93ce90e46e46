//! Emits calls of functions of Loop and of foreign functions.

use crate::context::function::{Emitter, returned};
use crate::emit::exits::leave_if_failed;
use crate::emit::expression::assigned;
use crate::emit::variables::{addresses, assign};
use crate::syntax::context;
use nova_c_ast::ast::{Expression, Name, Statement};
use nova_loop::ir::{self, FunctionId, Variable};

/// Emits a call of a function of Loop.
pub(crate) fn call(
    code: &mut Emitter,
    function: FunctionId,
    arguments: &[ir::Expression],
    results: &[Variable],
) {
    let info = match (code.is_on_device(), code.unit.kernels.infos.get(&function)) {
        (true, Some(info)) => info.clone(),
        (true, None) | (false, _) => code.unit.functions[function.0 as usize].clone(),
    };
    let mut all = Vec::new();
    if info.context {
        all.push(context());
    }
    let parameters = &code.program().functions[function.0 as usize].parameters;
    let counts = !code.is_on_device() || code.unit.kernels.memory_users.contains(&function);
    for (argument, parameter) in arguments.iter().zip(parameters) {
        if counts || code.program().variable(*parameter).ty != ir::Type::Block {
            all.push(assigned(code, argument));
        }
    }
    call_with(code, function, info.name.clone(), all, results);
    if info.context {
        leave_if_failed(code);
    }
}

fn call_with(
    code: &mut Emitter,
    function: FunctionId,
    name: Name,
    mut all: Vec<Expression>,
    results: &[Variable],
) {
    let callee = &code.program().functions[function.0 as usize];
    if let (Some(_), [result]) = (returned(code.program(), callee), results) {
        assign(code, *result, Expression::call(name, all));
        return;
    }
    all.extend(addresses(code, results));
    code.push(Statement::call(name, all));
}

/// Emits a call of the wrapper of a foreign function.
pub(crate) fn foreign_call(
    code: &mut Emitter,
    foreign: u32,
    arguments: &[ir::Expression],
    results: &[Variable],
) {
    let (name, mut all) = match code.is_on_device() {
        true => (code.unit.device_function(foreign), Vec::new()),
        false => (code.unit.foreign_name(foreign), vec![context()]),
    };
    all.extend(arguments.iter().map(|a| assigned(code, a)));
    all.extend(addresses(code, results));
    code.push(Statement::call(name, all));
}
