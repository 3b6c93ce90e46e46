//! Leaves functions: at their end, and after a failure.

use crate::context::function::Emitter;
use crate::context::writer::Writer;
use crate::emit::accesses::trace_return;
use crate::emit::expression::plain;
use crate::syntax::{context, literal};
use nova_c_ast::ast::{Expression, Statement};
use nova_core::{ErrorKind, Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_loop::ir::{self, Command};

/// Emits the end of the function. `last` is true where control would end there anyway.
pub(crate) fn leave(code: &mut Emitter, last: bool) {
    trace_return(code);
    if let Some(variable) = code.returned {
        let name = code.name(variable);
        code.push(Statement::Return(Some(Expression::Name(name))));
        return;
    }
    for (variable, out) in code.results.clone() {
        let name = code.name(variable);
        let target = Expression::Name(out).dereference();
        code.push(Statement::assign(target, Expression::Name(name)));
    }
    if !last {
        code.push(Statement::Return(None));
    }
}

/// Returns a call of the function that reports an error.
pub(crate) fn failure(
    code: &mut Writer,
    error: ErrorKind,
    arguments: Vec<Expression>,
    place: &Place,
) -> Statement {
    let name = code.unit.error(error);
    let mut all = vec![context(), Expression::text(place.to_string())];
    all.extend(arguments);
    Statement::call(name, all)
}

/// Returns the statements of a failure.
pub(crate) fn fail(
    code: &mut Emitter,
    error: ErrorKind,
    arguments: &[ir::Expression],
    place: &Place,
) -> Vec<Statement> {
    let (mut statements, fail) = code.apart(|code| {
        let arguments = arguments.iter().map(|a| error_argument(code, a)).collect();
        match code.is_on_device() {
            true => fail_on_device(code, error, arguments, place),
            false => vec![failure(code, error, arguments, place)],
        }
    });
    statements.extend(fail);
    statements
}

/// Returns an integer for a message. A `uint64` beyond the range of `int64` becomes the largest
/// `int64`.
fn error_argument(code: &mut Emitter, argument: &ir::Expression) -> Expression {
    if !is_uint64(code, argument) {
        return plain(code, argument);
    }
    let largest = ScalarValue::U64(i64::MAX as u64);
    let shown = ir::Expression::Scalar {
        operation: ScalarOperation::Minimum,
        operand: Scalar::U64,
        arguments: vec![argument.clone(), ir::Expression::Constant(largest)],
    };
    plain(code, &shown)
}

fn is_uint64(code: &Writer, expression: &ir::Expression) -> bool {
    let of_type = |ty: ir::Type| {
        matches!(
            ty,
            ir::Type::Scalar(Scalar::U64) | ir::Type::Pointer(Scalar::U64)
        )
    };
    match expression {
        ir::Expression::Constant(value) => value.scalar() == Scalar::U64,
        ir::Expression::Variable(variable) => of_type(code.program().variable(*variable).ty),
        ir::Expression::Scalar {
            operation, operand, ..
        } => operation.result(*operand) == Scalar::U64,
        ir::Expression::Select { then: inner, .. }
        | ir::Expression::Load { pointer: inner, .. }
        | ir::Expression::Offset { pointer: inner, .. } => is_uint64(code, inner),
        ir::Expression::Bytes(_)
        | ir::Expression::Data(..)
        | ir::Expression::NullPointer(_)
        | ir::Expression::NullBlock
        | ir::Expression::NodeTag { .. } => false,
    }
}

/// In code for a device, leaves the function if something in it has failed.
pub(crate) fn leave_if_failed(code: &mut Emitter) {
    if code.is_on_device() {
        let leave = leave_failed(code);
        let failed = context().arrow("failed");
        code.push(Statement::when(failed, vec![leave]));
    }
}

/// Returns the statement that leaves a function of the device after a failure.
pub(crate) fn leave_failed(code: &mut Emitter) -> Statement {
    if let Some((label, used)) = &mut code.device.after_threads {
        *used = true;
        return Statement::Goto(label.clone());
    }
    Statement::Return(code.device.failed_value.clone())
}

/// Returns the statements of a failure on the device.
pub(crate) fn fail_on_device(
    code: &mut Emitter,
    error: ErrorKind,
    arguments: Vec<Expression>,
    place: &Place,
) -> Vec<Statement> {
    let site = code.unit.kernels.site(error, place);
    let mut all = vec![context(), literal(site)];
    all.extend(arguments);
    all.resize(4, literal(0));
    vec![Statement::call("nova_fail_at", all), leave_failed(code)]
}

/// True if control never reaches the command after this one.
pub fn leaves(command: &Command) -> bool {
    matches!(
        command,
        Command::Fail { .. } | Command::Return | Command::Break | Command::Continue
    )
}
