//! Nodes of recursive data that functions make and read.

use crate::context::function::Emitter;
use crate::emit::exits::leave_if_failed;
use crate::emit::expression::assigned;
use crate::emit::nodes::{
    add_function, constant_link, node_of, node_table, payload_fields, stored_values,
};
use crate::emit::variables::assign;
use crate::syntax::{context, int64, literal};
use nova_c_ast::ast::{Binary, Expression, Name, Statement};
use nova_core::SumId;
use nova_diag::Place;
use nova_loop::ir::{self, Variable};

/// Emits a new node, whose link becomes the value of a variable.
pub(crate) fn new_node(
    code: &mut Emitter,
    sum: SumId,
    constructor: u32,
    payload: &[ir::Expression],
    link: Variable,
    place: &Place,
) {
    if let Some(constant) = constant_link(code.unit, sum, constructor) {
        return assign(code, link, constant);
    }
    // The payload is evaluated before the table may move.
    let values = payload_values(code, payload);
    let value = appended(code, sum, constructor, place);
    // The payload may read the old value of the link.
    let again = payload.iter().any(|p| mentions(p, link));
    let name = match again {
        true => code.fresh("node"),
        false => code.name(link),
    };
    if again {
        let ty = int64();
        code.push(Statement::declare(ty, name.clone(), value));
    } else {
        assign(code, link, value);
    }
    let new = Expression::Name(name);
    if code.is_on_device() {
        leave_if_failed(code);
        let tag = node_of(code.unit, sum, new.clone()).member("tag");
        let constructor = literal(constructor);
        code.push(Statement::assign(tag, constructor));
    }
    fill_node(code, (sum, constructor), &new, values, payload);
    if again {
        assign(code, link, new);
    }
}

/// Returns the components of a payload.
pub(crate) fn payload_values(code: &mut Emitter, payload: &[ir::Expression]) -> Vec<Expression> {
    payload.iter().map(|p| assigned(code, p)).collect()
}

/// Emits the assignments of the components of a payload to the node of a link.
pub(crate) fn fill_node(
    code: &mut Emitter,
    (sum, constructor): (SumId, u32),
    link: &Expression,
    values: Vec<Expression>,
    payload: &[ir::Expression],
) {
    let fields = payload_fields(code.unit, sum, constructor);
    let stored = stored_values(code.unit, sum, constructor, values.iter().cloned());
    let values = values.into_iter().zip(stored);
    for ((field, (value, stored)), source) in fields.into_iter().zip(values).zip(payload) {
        let target = fields_of(node_of(code.unit, sum, link.clone()), &field);
        code.push(Statement::assign(target, stored));
        if let ir::Expression::Variable(variable) = source
            && code.program().variable(*variable).ty == ir::Type::Block
        {
            code.push(Statement::call("nova_retain", vec![value]));
        }
    }
}

/// Returns the call that appends a node and gives its link. In kernels the node has no tag yet.
fn appended(code: &mut Emitter, sum: SumId, constructor: u32, place: &Place) -> Expression {
    if code.is_on_device() {
        let growth = node_table(code.unit, sum).member("growth").address();
        return Expression::call("nova_new_node_on_device", vec![context(), growth]);
    }
    let add = add_function(code.unit, sum);
    let arguments = vec![
        context(),
        literal(constructor),
        Expression::text(place.to_string()),
    ];
    Expression::call(add, arguments)
}

/// Emits assignments of the components of a node's payload to variables.
pub(crate) fn node_payload(
    code: &mut Emitter,
    sum: SumId,
    constructor: u32,
    link: &ir::Expression,
    results: &[Variable],
) {
    let fields = payload_fields(code.unit, sum, constructor);
    let link = match link {
        ir::Expression::Variable(variable) if !results.contains(variable) => code.named(*variable),
        _computed => {
            let value = assigned(code, link);
            code.variable(int64(), "link", value)
        }
    };
    for (field, result) in fields.into_iter().zip(results) {
        let value = fields_of(node_of(code.unit, sum, link.clone()), &field);
        match code.is_on_device() {
            true => component_on_device(code, sum, value, *result),
            false => assign(code, *result, value),
        }
    }
}

/// Assigns a component of a payload in a kernel. `field` is its field in the nodes of kernels.
pub(crate) fn component_on_device(
    code: &mut Emitter,
    sum: SumId,
    field: Expression,
    result: Variable,
) {
    match code.program().variable(result).ty {
        ir::Type::Scalar(_) => assign(code, result, field),
        // The bytes of all arrays live longer than the kernel.
        ir::Type::Block if code.counts => assign(code, result, literal(0)),
        ir::Type::Block => {}
        ir::Type::Pointer(_) => {
            let bytes = node_table(code.unit, sum).member("bytes");
            let at = Expression::binary(Binary::Add, bytes, field);
            let ty = code.type_of_variable(result);
            assign(code, result, at.cast(ty));
        }
    }
}

/// True if an expression mentions a variable.
fn mentions(expression: &ir::Expression, variable: Variable) -> bool {
    let mut found = false;
    expression.each_variable(&mut |v| found |= v == variable);
    found
}

/// Returns a field within fields.
fn fields_of(node: Expression, path: &[Name]) -> Expression {
    path.iter().fold(node, |e, field| e.member(field.clone()))
}
