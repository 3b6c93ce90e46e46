//! Emits expressions of Loop as C expressions of bounded depth. Expressions that nest deeper are put
//! into variables before the statement.

use crate::context::expressions::empty;
use crate::context::function::Emitter;
use crate::context::writer::Writer;
use crate::emit::accesses::{read_variable, traced_load};
use crate::emit::nodes::node_of;
use crate::scalar::{self, Raw, Value, constant, memory_type};
use crate::syntax::{context, declaration, literal, null};
use nova_c_ast::ast::{Binary, Expression, Item, Name, Statement, Type, not};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::{self, Variable};

/// The largest depth of an expression. Compilers limit the nesting of brackets, some to 256 in all.
const DEPTH: u32 = 24;

/// Returns an expression in its own type.
pub(crate) fn expression(code: &mut Emitter, expression: &ir::Expression) -> Expression {
    value(code, expression).own()
}

/// Returns an expression that C converts to the type that is needed.
pub(crate) fn plain(code: &mut Emitter, expression: &ir::Expression) -> Expression {
    value(code, expression).plain()
}

/// Returns an expression whose value is assigned to something of its type.
pub(crate) fn assigned(code: &mut Emitter, expression: &ir::Expression) -> Expression {
    value(code, expression).expression
}

/// Emits an expression as a value.
pub(crate) fn value(code: &mut Emitter, expression: &ir::Expression) -> Value {
    let value = deep(|| unbounded(code, expression));
    if value.depth > DEPTH {
        stored(code, value)
    } else {
        value
    }
}

/// Stores a value in a new variable.
fn stored(code: &mut Writer, value: Value) -> Value {
    let name = code.fresh("part");
    let ty = value.ty();
    let read = Expression::Name(name.clone());
    let stored = Value {
        expression: read,
        raw: Raw::Own,
        depth: 1,
        ..value.clone()
    };
    code.push(Statement::declare(ty, name, value.expression));
    stored
}

/// Returns a constant array outside of functions.
fn data(code: &mut Emitter, element: Scalar, values: &[ScalarValue]) -> Value {
    let name = code.unit.names.fresh("constants", None);
    let size = Expression::SizeOf(memory_type(element));
    code.unit.structures.push(Item::Variable {
        prefix: vec!["static".into(), "const".into()],
        ty: memory_type(element),
        name: format!("{name}[{}]", values.len()).into(),
        value: Some(Expression::Braces(
            values.iter().map(|value| constant(*value)).collect(),
        )),
    });
    let mut data = Expression::Name(name);
    if code.unit.has_kernels && !code.is_on_device() {
        let count = literal(values.len());
        let bytes = Expression::binary(Binary::Multiply, count, size);
        let text = data.cast(Type::name("char").constant().pointer());
        data = Expression::call("nova_constant", vec![context(), text, bytes]);
    }
    Value::pointer(data.cast(memory_type(element).pointer()), element, 2)
}

fn unbounded(code: &mut Emitter, expression: &ir::Expression) -> Value {
    if let Some((index, count)) = range_check(expression) {
        let arguments = [index, count].map(|operand| plain(code, operand));
        let check = Expression::pure("nova_in_range", arguments.to_vec());
        return Value::exact(check, Scalar::Bool, 2);
    }
    match expression {
        ir::Expression::Constant(value) => Value::constant(*value),
        ir::Expression::Bytes(bytes) => {
            let text = match code.unit.has_kernels && !code.is_on_device() {
                // Kernels may read it once it is registered.
                true => {
                    let count = literal(bytes.len());
                    let arguments = vec![context(), Expression::text(bytes), count];
                    Expression::call("nova_constant", arguments)
                }
                false => Expression::text(bytes),
            };
            let pointer = memory_type(Scalar::U8).pointer();
            Value::pointer(text.cast(pointer), Scalar::U8, 2)
        }
        ir::Expression::Data(element, values) => data(code, *element, values),
        ir::Expression::Variable(variable) => variable_value(code, *variable),
        ir::Expression::Scalar {
            operation,
            operand,
            arguments,
        } => scalar_operation(code, *operation, *operand, arguments),
        ir::Expression::Select {
            condition,
            then,
            otherwise,
        } => select(code, condition, then, otherwise),
        ir::Expression::Load { pointer, index } => {
            let what = pointer;
            let pointer = value(code, pointer);
            let index = value(code, index);
            let depth = pointer.depth.max(index.depth) + 1;
            let scalar = pointer.scalar;
            let element = pointer.own().index(index.plain());
            match code.unit.traces() {
                true => traced_load(code, element, scalar, what, depth),
                false => Value::exact(element, scalar, depth),
            }
        }
        ir::Expression::Offset { pointer, index, .. } => {
            let pointer = value(code, pointer);
            let index = value(code, index);
            let depth = pointer.depth.max(index.depth) + 1;
            let element = pointer.scalar;
            let sum = Expression::binary(Binary::Add, pointer.own(), index.plain());
            Value::pointer(sum, element, depth)
        }
        ir::Expression::NullPointer(element) if code.is_on_device() => {
            let element_type = memory_type(*element);
            let ty = code
                .unit
                .options
                .dialect
                .shared_type(element_type)
                .pointer();
            Value::pointer(literal(0).cast(ty), *element, 1)
        }
        ir::Expression::NullPointer(element) => Value::pointer(empty(*element), *element, 1),
        ir::Expression::NullBlock if code.is_on_device() => Value::block(literal(0), 1),
        ir::Expression::NullBlock => Value::block(null(), 1),
        ir::Expression::NodeTag { sum, link } => {
            let link = value(code, link);
            let depth = link.depth + 1;
            let node = node_of(code.unit, *sum, link.own());
            Value::exact(node.member("tag"), Scalar::I32, depth)
        }
    }
}

/// Returns a variable.
pub(crate) fn variable_value(code: &mut Emitter, variable: Variable) -> Value {
    let expression = read_variable(code, variable);
    match code.program().variable(variable).ty {
        ir::Type::Scalar(scalar) => Value {
            index: code.is_index(variable) || code.unit.is_counter(variable),
            ..Value::exact(expression, scalar, 1)
        },
        ir::Type::Pointer(element) => Value::pointer(expression, element, 1),
        ir::Type::Block => Value::block(expression, 1),
    }
}

fn scalar_operation(
    code: &mut Emitter,
    operation: ScalarOperation,
    operand: Scalar,
    arguments: &[ir::Expression],
) -> Value {
    if operation == ScalarOperation::Not
        && let [argument] = arguments
    {
        return negated(code, argument);
    }
    let values: Vec<Value> = arguments.iter().map(|a| value(code, a)).collect();
    debug_assert!(values.iter().all(|v| v.scalar == operand));
    scalar::apply(operation, values, code.functions())
}

/// Returns the negation of a condition.
pub(crate) fn negated(code: &mut Emitter, condition: &ir::Expression) -> Value {
    use ScalarOperation as O;
    if let ir::Expression::Scalar {
        operation,
        operand,
        arguments,
    } = condition
    {
        if *operation == O::Not {
            return deep(|| first(code, arguments));
        }
        let opposites = [(O::Less, O::GreaterEqual), (O::LessEqual, O::Greater)];
        let mut both = opposites.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]);
        let opposite = both.find(|(of, _)| of == operation).map(|(_, to)| to);
        // Neither `a < b` nor `a >= b` holds of a nan.
        if let Some(opposite) = opposite.filter(|_| !operand.is_float()) {
            return scalar_operation(code, opposite, *operand, arguments);
        }
    }
    if let Some((is_and, left, right)) = junction(condition) {
        let operator = if is_and { Binary::Or } else { Binary::And };
        return junction_of(code, operator, left, right, true);
    }
    let value = value(code, condition);
    let depth = value.depth + 1;
    Value::exact(not(value.own()), Scalar::Bool, depth)
}

fn first(code: &mut Emitter, arguments: &[ir::Expression]) -> Value {
    match arguments.first() {
        Some(argument) => value(code, argument),
        None => Value::exact(Expression::name("false"), Scalar::Bool, 1),
    }
}

fn select(
    code: &mut Emitter,
    condition: &ir::Expression,
    then: &ir::Expression,
    otherwise: &ir::Expression,
) -> Value {
    if let (Some(false), Some(true)) = (truth(then), truth(otherwise)) {
        return negated(code, condition);
    }
    if let (Some(true), Some(false)) = (truth(then), truth(otherwise)) {
        return value(code, condition);
    }
    match (truth(then), truth(otherwise)) {
        (None, Some(false)) => return junction_of(code, Binary::And, condition, then, false),
        (Some(true), None) => {
            return junction_of(code, Binary::Or, condition, otherwise, false);
        }
        _ => {}
    }
    let condition = value(code, condition);
    let (before_then, then) = code.apart(|code| value(code, then));
    let (before_otherwise, otherwise) = code.apart(|code| value(code, otherwise));
    let depth = condition.depth.max(then.depth).max(otherwise.depth) + 1;
    if before_then.is_empty() && before_otherwise.is_empty() && depth <= DEPTH {
        let joined = Value {
            depth,
            raw: Value::joint(&then, &otherwise),
            index: false,
            ..then.clone()
        };
        let (then, otherwise) = (then.plain(), otherwise.plain());
        let expression = Expression::conditional(condition.own(), then, otherwise);
        return Value {
            expression,
            ..joined
        };
    }
    // The statements of a branch must not run when the other branch is chosen.
    let name = code.fresh("chosen");
    code.push(declaration(then.ty(), name.clone()));
    let joined = Value {
        expression: Expression::Name(name.clone()),
        raw: Raw::Own,
        index: false,
        depth: 1,
        ..then.clone()
    };
    let branch = |mut statements: Vec<Statement>, value: Value, name: Name| {
        statements.push(Statement::assign(Expression::Name(name), value.expression));
        statements.into()
    };
    code.push(Statement::If {
        condition: condition.own(),
        then: branch(before_then, then, name.clone()),
        otherwise: branch(before_otherwise, otherwise, name),
    });
    joined
}

/// `left && right` or `left
///
/// right`; of the negated sides if `negate` is set.
fn junction_of(
    code: &mut Emitter,
    operator: Binary,
    left: &ir::Expression,
    right: &ir::Expression,
    negate: bool,
) -> Value {
    let part = |code: &mut Emitter, side: &ir::Expression| {
        deep(|| match negate {
            true => negated(code, side),
            false => value(code, side),
        })
    };
    let left = part(code, left);
    let (mut before_right, right) = code.apart(|code| part(code, right));
    let depth = left.depth.max(right.depth) + 1;
    if before_right.is_empty() && depth <= DEPTH {
        let expression = Expression::binary(operator, left.own(), right.own());
        return Value::exact(expression, Scalar::Bool, depth);
    }
    // The statements of the right side must not run when the left side decides.
    let name = code.fresh("holds");
    let read = Expression::Name(name.clone());
    code.push(Statement::declare(Type::name("bool"), name, left.own()));
    before_right.push(Statement::assign(read.clone(), right.own()));
    let undecided = if operator == Binary::Or {
        not(read.clone())
    } else {
        read.clone()
    };
    code.push(Statement::when(undecided, before_right));
    Value::exact(read, Scalar::Bool, 1)
}

/// Returns the value of a constant condition.
fn truth(expression: &ir::Expression) -> Option<bool> {
    let ir::Expression::Constant(ScalarValue::Bool(value)) = expression else {
        return None;
    };
    Some(*value)
}

/// Returns the index and the count of a condition `0 <= index and index < count` on variables and
/// constants.
fn range_check(expression: &ir::Expression) -> Option<(&ir::Expression, &ir::Expression)> {
    let (left, right) = match expression {
        ir::Expression::Scalar {
            operation: ScalarOperation::BitAnd,
            operand: Scalar::Bool,
            arguments,
        } => match &arguments[..] {
            [left, right] => (left, right),
            _ => return None,
        },
        _ => match junction(expression)? {
            (true, left, right) => (left, right),
            (false, ..) => return None,
        },
    };
    let (zero, low) = index_comparison(left, ScalarOperation::LessEqual)?;
    let (index, count) = index_comparison(right, ScalarOperation::Less)?;
    let (ir::Expression::Variable(a), ir::Expression::Variable(b)) = (low, index) else {
        return None;
    };
    (a == b && zero.as_index() == Some(0) && count.is_simple()).then_some((index, count))
}

/// Returns the sides of a comparison of `i64`s.
fn index_comparison(
    expression: &ir::Expression,
    comparison: ScalarOperation,
) -> Option<(&ir::Expression, &ir::Expression)> {
    match expression {
        ir::Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments,
        } if *operation == comparison => match &arguments[..] {
            [left, right] => Some((left, right)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the sides of a condition that is a conjunction (`true`) or disjunction.
fn junction(expression: &ir::Expression) -> Option<(bool, &ir::Expression, &ir::Expression)> {
    let ir::Expression::Select {
        condition,
        then,
        otherwise,
    } = expression
    else {
        return None;
    };
    match (truth(then), truth(otherwise)) {
        (None, Some(false)) => Some((true, condition, then)),
        (Some(true), None) => Some((false, condition, otherwise)),
        _ => None,
    }
}
