//! Comparisons of scalars.

use crate::scalar::{Value, constant};
use nova_c_ast::ast::{Binary, Expression};
use nova_core::{Scalar, ScalarValue};

pub fn comparison(operator: Binary, a: Value, b: Value) -> Value {
    let depth = a.depth.max(b.depth) + 1;
    if let Some(known) = known_comparison(operator, &a, &b) {
        return Value::exact(constant(ScalarValue::Bool(known)), Scalar::Bool, 1);
    }
    let expression = Expression::binary(operator, a.plain(), b.plain());
    Value::exact(expression, Scalar::Bool, depth)
}

/// Returns the result of a comparison with the least or largest number of a type, if it is always the
/// same; compilers warn about such comparisons.
fn known_comparison(operator: Binary, a: &Value, b: &Value) -> Option<bool> {
    let bounds = |scalar: Scalar| -> Option<(i128, i128)> {
        let bits = scalar.bits();
        match scalar {
            Scalar::F32 | Scalar::F64 | Scalar::Bool => None,
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
                Some((-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1))
            }
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => Some((0, (1i128 << bits) - 1)),
        }
    };
    let (low, high) = bounds(a.scalar)?;
    match (number(&a.expression), number(&b.expression), operator) {
        (None, Some(c), Binary::Less) if c == low => Some(false),
        (None, Some(c), Binary::GreaterEqual) if c == low => Some(true),
        (None, Some(c), Binary::Greater) if c == high => Some(false),
        (None, Some(c), Binary::LessEqual) if c == high => Some(true),
        (Some(c), None, Binary::Greater) if c == low => Some(false),
        (Some(c), None, Binary::LessEqual) if c == low => Some(true),
        (Some(c), None, Binary::Less) if c == high => Some(false),
        (Some(c), None, Binary::GreaterEqual) if c == high => Some(true),
        _ => None,
    }
}

/// Returns the value of an integer constant.
pub fn number(expression: &Expression) -> Option<i128> {
    match expression {
        Expression::Literal(text) => text.trim_end_matches('u').parse().ok(),
        Expression::Pure(name, arguments) if name.ends_with("INT64_C") => {
            arguments.first().and_then(number)
        }
        Expression::Name(name) => match &**name {
            "INT32_MIN" => Some(i128::from(i32::MIN)),
            "INT64_MIN" => Some(i128::from(i64::MIN)),
            _ => None,
        },
        _computed => None,
    }
}
