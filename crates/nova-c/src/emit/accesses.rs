//! Reports single accesses to elements and variables, in code that traces races.

use crate::context::function::Emitter;
use crate::context::writer::Writer;
use crate::scalar::{Value, memory_type};
use crate::syntax::literal;
use nova_c_ast::ast::{Expression, Statement, Type};
use nova_core::Scalar;
use nova_diag::deep;
use nova_loop::ir::{self, Stays, Variable};

/// Returns the description of an access in messages.
pub(crate) fn what(code: &Emitter, array: Option<Variable>) -> Expression {
    let name = array.map_or("an array", |v| &code.program().variable(v).name);
    Expression::text(match &code.tracing.place {
        Some(place) => format!("{name} ({place})"),
        None => format!("{name} in {}", code.function),
    })
}

/// Returns an element that is read, with its report.
pub(crate) fn traced_load(
    code: &mut Emitter,
    element: Expression,
    scalar: Scalar,
    pointer: &ir::Expression,
    depth: u32,
) -> Value {
    let Some(array) = array_of(pointer) else {
        return Value::exact(element, scalar, depth);
    };
    let ty = memory_type(scalar);
    let read = touched(code, "nova_race_read", element, ty, array);
    Value::exact(read, scalar, depth + 2)
}

/// Returns an element that is written, with its report.
pub(crate) fn traced_target(
    code: &mut Emitter,
    pointer: Variable,
    element: Expression,
) -> Expression {
    match code.unit.traces() {
        true => {
            let ty = memory_type(code.element_of(pointer));
            touched(code, "nova_race_write", element, ty, pointer)
        }
        false => element,
    }
}

/// Returns an element that is written while other iterations may write it, with its report.
pub(crate) fn traced_contention(
    code: &mut Emitter,
    pointer: Variable,
    element: Expression,
    stays: Stays,
) -> Expression {
    if !code.unit.traces() {
        return element;
    }
    let ty = memory_type(code.element_of(pointer));
    let way = match stays {
        Stays::Any => "NOVA_RACE_ANY",
        Stays::Greatest => "NOVA_RACE_GREATEST",
    };
    let arguments = vec![
        element.address(),
        Expression::SizeOf(ty.clone()),
        Expression::name(way),
        what(code, Some(pointer)),
    ];
    Expression::call("nova_race_contend", arguments)
        .cast(ty.pointer())
        .dereference()
}

/// Returns a variable that is read, with its report where it is shared.
pub(crate) fn read_variable(code: &mut Emitter, variable: Variable) -> Expression {
    let value = code.named(variable);
    match code.tracing.shared.contains(&variable) {
        true => {
            let ty = code.type_of_variable(variable);
            touched(code, "nova_race_read", value, ty, variable)
        }
        false => value,
    }
}

/// Memory that is accessed through a function which reports the access and returns the address.
fn touched(
    code: &mut Emitter,
    function: &str,
    place: Expression,
    ty: Type,
    array: Variable,
) -> Expression {
    let size = Expression::SizeOf(ty.clone());
    let arguments = vec![place.address(), size, what(code, Some(array))];
    Expression::call(function, arguments)
        .cast(ty.pointer())
        .dereference()
}

/// Reports assignments to variables.
pub(crate) fn trace_assigned(code: &mut Emitter, variables: &[Variable]) {
    for variable in variables {
        if code.tracing.shared.contains(variable) {
            let arguments = vec![
                code.named(*variable).address(),
                Expression::SizeOf(code.type_of_variable(*variable)),
                what(code, Some(*variable)),
            ];
            code.push(Statement::call("nova_race_write", arguments));
        }
    }
}

/// Reports the declaration of a variable.
pub(crate) fn trace_variable(code: &mut Emitter, variable: Variable) {
    if code.tracing.shared.contains(&variable) {
        let place = code.named(variable).address();
        let ty = code.type_of_variable(variable);
        trace_memory(code, "nova_race_local", place, literal(1), ty);
    }
}

/// Reports the declaration of a local array.
pub(crate) fn trace_local(code: &mut Emitter, pointer: Variable, count: u32) {
    if code.unit.traces() {
        let place = code.named(pointer);
        let ty = memory_type(code.element_of(pointer));
        let count = literal(count);
        trace_memory(code, "nova_race_local", place, count, ty);
    }
}

/// Reports memory: its address, the number of its elements, and their type.
pub(crate) fn trace_memory(
    code: &mut Writer,
    function: &str,
    place: Expression,
    count: Expression,
    ty: Type,
) {
    let arguments = vec![place, count, Expression::SizeOf(ty)];
    code.push(Statement::call(function, arguments));
}

/// Reports that control leaves the function, inside of a parallel loop.
pub(crate) fn trace_return(code: &mut Emitter) {
    if code.tracing.parallel > 0 {
        code.push(Statement::call("nova_race_return", Vec::new()));
    }
}

/// Returns the first variable of a pointer: one of the arrays that it may point into, `None` for
/// constants.
pub(crate) fn array_of(pointer: &ir::Expression) -> Option<Variable> {
    match pointer {
        ir::Expression::Variable(variable) => Some(*variable),
        ir::Expression::Offset { pointer, .. } | ir::Expression::Load { pointer, .. } => {
            deep(|| array_of(pointer))
        }
        ir::Expression::Select {
            then, otherwise, ..
        } => deep(|| array_of(then).or_else(|| array_of(otherwise))),
        ir::Expression::Constant(_)
        | ir::Expression::Bytes(_)
        | ir::Expression::Data(..)
        | ir::Expression::Scalar { .. }
        | ir::Expression::NullPointer(_)
        | ir::Expression::NullBlock
        | ir::Expression::NodeTag { .. } => None,
    }
}
