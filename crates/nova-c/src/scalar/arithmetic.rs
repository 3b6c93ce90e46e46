//! Sums, products and quotients.

use crate::scalar::compare::number;
use crate::scalar::{Raw, Value, is_narrow, unsigned_of};
use nova_c_ast::ast::{Binary, Expression, Type};
use nova_core::Scalar;

/// Returns the operand in the unsigned type of its width, without a cast if it already has that type.
pub fn unsigned(value: Value, ty: Type) -> Expression {
    match value.raw {
        Raw::Unsigned => value.expression,
        Raw::Own | Raw::Small | Raw::Other => value.plain().cast(ty),
    }
}

/// Returns a sum, difference or product. It wraps.
pub fn arithmetic(operator: Binary, a: Value, b: Value) -> Value {
    let scalar = a.scalar;
    let depth = a.depth.max(b.depth) + 1;
    if scalar == Scalar::I64 && a.index && b.raw == Raw::Small {
        let by_one = matches!(b.expression.as_integer(), Some(1 | -1));
        let inside = by_one && matches!(operator, Binary::Add | Binary::Subtract);
        if inside {
            let expression = Expression::binary(operator, a.expression, b.expression);
            return Value::exact(expression, scalar, depth);
        }
    }
    match unsigned_of(scalar) {
        None if is_narrow(scalar) => Value::raw(
            Expression::binary(operator, a.own(), b.own()),
            scalar,
            depth,
        ),
        None => Value::exact(
            Expression::binary(operator, a.own(), b.own()),
            scalar,
            depth,
        ),
        // One unsigned operand is enough.
        Some(_) if is_raw_wide(&a) => Value::raw(
            Expression::binary(operator, a.expression, mixed(b)),
            scalar,
            depth,
        ),
        Some(_) if is_raw_wide(&b) => Value::raw(
            Expression::binary(operator, mixed(a), b.expression),
            scalar,
            depth,
        ),
        Some(ty) => {
            // The cast goes to the operand that is no constant.
            let right = number(&a.expression).is_some();
            let (a, b) = match right {
                true => (a.plain(), b.plain().cast(ty)),
                false => (a.plain().cast(ty), b.plain()),
            };
            Value::raw(Expression::binary(operator, a, b), scalar, depth)
        }
    }
}

/// True if the expression has the unsigned type of the value's width.
fn is_raw_wide(value: &Value) -> bool {
    value.raw == Raw::Unsigned
}

/// Returns an operand next to an unsigned one.
fn mixed(value: Value) -> Expression {
    if is_raw_wide(&value) {
        value.expression
    } else {
        value.plain()
    }
}

/// Returns an operation whose result is the same in any type that holds the values of its operands.
pub fn exact_binary(operator: Binary, a: Value, b: Value) -> Value {
    let (scalar, depth) = (a.scalar, a.depth.max(b.depth) + 1);
    let raw = Value::joint(&a, &b);
    Value {
        raw,
        ..Value::exact(
            Expression::binary(operator, a.plain(), b.plain()),
            scalar,
            depth,
        )
    }
}

/// Returns a quotient or remainder. The divisor is not 0.
pub fn divide(operator: Binary, name: &str, a: Value, b: Value) -> Value {
    let (scalar, depth) = (a.scalar, a.depth.max(b.depth) + 1);
    let width = match scalar {
        Scalar::I32 => "i32",
        Scalar::I64 => "i64",
        Scalar::I8 | Scalar::I16 => {
            return Value::raw(
                Expression::binary(operator, a.own(), b.own()),
                scalar,
                depth,
            );
        }
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => {
            return exact_binary(operator, a, b);
        }
        Scalar::F32 | Scalar::F64 | Scalar::Bool => return exact_binary(operator, a, b),
    };
    if b.expression.as_integer().is_some_and(|c| c != -1 && c != 0) {
        return exact_binary(operator, a, b);
    }
    let call = Expression::pure(
        format!("{name}_{width}"),
        vec![own_argument(a), own_argument(b)],
    );
    Value::exact(call, scalar, depth)
}

/// Returns an argument of a function whose parameter has the value's type; C converts it.
pub fn own_argument(value: Value) -> Expression {
    value.expression
}
