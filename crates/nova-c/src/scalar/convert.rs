//! Conversions between scalars, and tests whether they fit.

use crate::scalar::{Raw, Value, constant, variable_type, zero};
use nova_c_ast::ast::{Binary, Expression};
use nova_core::{Scalar, ScalarValue};

/// Returns a conversion that fits, or that wraps.
pub fn convert(a: Value, to: Scalar) -> Value {
    let (scalar, depth) = (a.scalar, a.depth + 1);
    if scalar == to {
        return a;
    }
    if to == Scalar::Bool {
        let expression = Expression::binary(Binary::NotEqual, a.plain(), zero(scalar));
        return Value::exact(expression, to, depth);
    }
    // C converts to a wider type where the value is assigned.
    if to.bits() > scalar.bits() || scalar == Scalar::Bool {
        return Value {
            raw: Raw::Other,
            ..Value::exact(a.plain(), to, depth)
        };
    }
    // A raw expression of the same width needs no cast in between.
    let expression = match a.raw == Raw::Unsigned && scalar.bits() == to.bits() && to.is_integer() {
        true => a.expression,
        false => a.plain(),
    };
    Value::exact(expression.cast(variable_type(to)), to, depth)
}

/// Returns a test whether a conversion fits.
pub fn fits(a: Value, to: Scalar) -> Value {
    let (from, depth) = (a.scalar, a.depth + 1);
    let known = |value: bool| Value::exact(constant(ScalarValue::Bool(value)), Scalar::Bool, 1);
    if !to.is_integer() || from == Scalar::Bool || from == to {
        return known(true);
    }
    let bits = to.bits();
    let (low, high) = match to.is_signed() {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    if from.is_float() {
        // The exclusive bounds of the numbers that truncate into the range.
        let below = if to == Scalar::I64 {
            "-9223372036854777856.0".to_string()
        } else {
            format!("{}.0", low - 1)
        };
        let limits = [below, format!("{}.0", high + 1)].map(Expression::literal);
        let arguments = [a.plain()].into_iter().chain(limits).collect();
        return Value::exact(
            Expression::pure("nova_between", arguments),
            Scalar::Bool,
            depth,
        );
    }
    let unsigned_from = !from.is_signed();
    let covers_low = unsigned_from || (to.is_signed() && to.bits() >= from.bits());
    let covers_high = high >= (1i128 << (from.bits() - u32::from(!unsigned_from))) - 1;
    let limit = |value: i128| match i64::try_from(value) {
        Ok(value) => constant(ScalarValue::I64(value)),
        Err(_) => constant(ScalarValue::U64(value as u64)),
    };
    let expression = match (covers_low, covers_high) {
        (true, true) => return known(true),
        (true, false) if from == Scalar::U64 => Expression::binary(
            Binary::LessEqual,
            a.plain(),
            constant(ScalarValue::U64(high as u64)),
        ),
        (true, false) if from == Scalar::U32 => Expression::binary(
            Binary::LessEqual,
            a.plain(),
            constant(ScalarValue::U32(high as u32)),
        ),
        (true, false) => Expression::binary(Binary::LessEqual, a.plain(), limit(high)),
        (false, true) => Expression::binary(Binary::GreaterEqual, a.plain(), limit(low)),
        (false, false) => Expression::pure("nova_within", vec![a.plain(), limit(low), limit(high)]),
    };
    Value::exact(expression, Scalar::Bool, depth)
}
