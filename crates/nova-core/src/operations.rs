//! The semantics of every scalar operation, for every type. All interpreters and constant folding share
//! it.
//!
//! Integers are computed exactly in 128 bits and wrapped to their type. Floats are IEEE. Under strict
//! floating point the functions of [`crate::math`] replace those of the host.

use crate::{ErrorKind, Scalar, ScalarOperation, ScalarValue, math};

/// Applies an operation to arguments of the types that it accepts.
///
/// With `strict`, `exp`, `sin`, … are those of [`crate::math`]. Errors are [`ErrorKind::Division`],
/// [`ErrorKind::Shift`] and [`ErrorKind::Conversion`].
pub fn evaluate(
    operation: ScalarOperation,
    arguments: &[ScalarValue],
    strict: bool,
) -> Result<ScalarValue, ErrorKind> {
    match failure(operation, arguments) {
        Some(kind) => Err(kind),
        None => Ok(evaluate_unchecked(operation, arguments, strict)),
    }
}

/// Returns the error of an operation on these arguments, if there is one.
pub fn failure(operation: ScalarOperation, arguments: &[ScalarValue]) -> Option<ErrorKind> {
    let first = arguments.first().copied()?;
    let second = arguments.get(1).and_then(|v| v.as_integer());
    match operation {
        ScalarOperation::Divide | ScalarOperation::Remainder => {
            (second == Some(0)).then_some(ErrorKind::Division)
        }
        ScalarOperation::ShiftLeft | ScalarOperation::ShiftRight => {
            let width = i128::from(first.scalar().bits());
            let inside = second.is_some_and(|s| (0..width).contains(&s));
            (!inside).then_some(ErrorKind::Shift)
        }
        ScalarOperation::Convert(to) => (!fits(first, to)).then_some(ErrorKind::Conversion),
        _ => None,
    }
}

/// As [`evaluate`] for Flat and later representations, where a check precedes the operation. It is
/// defined for all arguments, and returns some value if [`evaluate`] fails.
pub fn evaluate_unchecked(
    operation: ScalarOperation,
    arguments: &[ScalarValue],
    strict: bool,
) -> ScalarValue {
    let Some(&first) = arguments.first() else {
        return ScalarValue::Bool(false);
    };
    let second = arguments.get(1).copied().unwrap_or(first);
    match operation {
        ScalarOperation::Convert(to) => convert(first, to),
        ScalarOperation::Wrap(to) => wrap(first, to),
        ScalarOperation::Fits(to) => ScalarValue::Bool(fits(first, to)),
        ScalarOperation::Bits(to) => with_bits(to, first.canonical_bits()),
        operation => match (first, second) {
            (ScalarValue::F32(a), ScalarValue::F32(b)) => on_f32(operation, a, b, strict),
            (ScalarValue::F64(a), ScalarValue::F64(b)) => on_f64(operation, a, b, strict),
            (ScalarValue::Bool(a), ScalarValue::Bool(b)) => on_bool(operation, a, b),
            (a, b) => match (a.as_integer(), b.as_integer()) {
                (Some(x), Some(y)) => on_integer(operation, a.scalar(), x, y),
                _ => first,
            },
        },
    }
}

/// Returns the number of a type that has these bits.
fn with_bits(to: Scalar, bits: u64) -> ScalarValue {
    match to {
        Scalar::F32 => ScalarValue::F32(f32::from_bits(bits as u32)),
        Scalar::F64 => ScalarValue::F64(f64::from_bits(bits)),
        integer => ScalarValue::from_integer_wrapping(integer, i128::from(bits)),
    }
}

/// Integer operations, exact in 128 bits, then wrapped.
fn on_integer(operation: ScalarOperation, scalar: Scalar, a: i128, b: i128) -> ScalarValue {
    use ScalarOperation as O;
    // The mask changes only shifts that `evaluate` rejects.
    let shift = (b as u32) & (scalar.bits() - 1);
    let value = match operation {
        O::Add => a.wrapping_add(b),
        O::Subtract => a.wrapping_sub(b),
        O::Multiply => a.wrapping_mul(b),
        O::Divide => a.checked_div(b).unwrap_or(0),
        O::Remainder => a.checked_rem(b).unwrap_or(0),
        O::Minimum => a.min(b),
        O::Maximum => a.max(b),
        O::Negate => a.wrapping_neg(),
        O::Absolute => a.wrapping_abs(),
        O::Equal => return ScalarValue::Bool(a == b),
        O::NotEqual => return ScalarValue::Bool(a != b),
        O::Less => return ScalarValue::Bool(a < b),
        O::LessEqual => return ScalarValue::Bool(a <= b),
        O::Greater => return ScalarValue::Bool(a > b),
        O::GreaterEqual => return ScalarValue::Bool(a >= b),
        O::BitAnd => a & b,
        O::BitOr => a | b,
        O::BitXor => a ^ b,
        O::BitNot => !a,
        // The sign is extended to 128 bits.
        O::PopCount => {
            let above = u128::MAX.checked_shl(scalar.bits()).unwrap_or(0);
            i128::from((a as u128 & !above).count_ones())
        }
        O::ShiftLeft => a << shift,
        O::ShiftRight => a >> shift,
        // Not operations on integers.
        O::Sqrt | O::ReciprocalSqrt | O::Reciprocal | O::Exp | O::Exp2 | O::Log | O::Log2 => a,
        O::Log10 | O::Sin | O::Cos | O::Tan | O::Asin | O::Acos | O::Atan | O::Sinh => a,
        O::Cosh | O::Tanh | O::Pow | O::Atan2 | O::Floor | O::Ceil | O::Round => a,
        O::Truncate | O::Erf | O::Not | O::Convert(_) | O::Wrap(_) | O::Fits(_) => a,
        O::Bits(_) | O::SinBounded | O::CosBounded => a,
    };
    ScalarValue::from_integer_wrapping(scalar, value)
}

fn on_bool(operation: ScalarOperation, a: bool, b: bool) -> ScalarValue {
    ScalarValue::Bool(match operation {
        ScalarOperation::Equal => a == b,
        ScalarOperation::NotEqual => a != b,
        ScalarOperation::Not => !a,
        // Loop combines conditions by these.
        ScalarOperation::BitAnd => a & b,
        ScalarOperation::BitOr => a | b,
        // Not operations on bool.
        _ => a,
    })
}

macro_rules! on_floats {
    ($name:ident, $float:ident, $variant:ident) => {
        fn $name(operation: ScalarOperation, a: $float, b: $float, strict: bool) -> ScalarValue {
            use ScalarOperation as O;
            ScalarValue::$variant(match operation {
                O::Add => a + b,
                O::Subtract => a - b,
                O::Multiply => a * b,
                O::Divide => a / b,
                O::Minimum => minimum(f64::from(a), f64::from(b)) as $float,
                O::Maximum => -(minimum(-f64::from(a), -f64::from(b)) as $float),
                O::Negate => -a,
                O::Absolute => a.abs(),
                O::Sqrt => a.sqrt(),
                O::ReciprocalSqrt => 1.0 / a.sqrt(),
                O::Reciprocal => 1.0 / a,
                O::Floor => a.floor(),
                O::Ceil => a.ceil(),
                O::Round => a.round(),
                O::Truncate => a.trunc(),
                O::Equal => return ScalarValue::Bool(a == b),
                O::NotEqual => return ScalarValue::Bool(a != b),
                O::Less => return ScalarValue::Bool(a < b),
                O::LessEqual => return ScalarValue::Bool(a <= b),
                O::Greater => return ScalarValue::Bool(a > b),
                O::GreaterEqual => return ScalarValue::Bool(a >= b),
                operation => match (strict, host::$float(operation, a, b)) {
                    (false, Some(value)) => value,
                    _ => math::evaluate(operation, f64::from(a), f64::from(b)) as $float,
                },
            })
        }
    };
}

on_floats!(on_f32, f32, F32);
on_floats!(on_f64, f64, F64);

/// The host's versions of the functions of [`crate::math`], or `None` if it has none.
mod host {
    use crate::ScalarOperation as O;

    macro_rules! host {
        ($float:ident) => {
            pub fn $float(operation: O, a: $float, b: $float) -> Option<$float> {
                Some(match operation {
                    O::Exp => a.exp(),
                    O::Exp2 => a.exp2(),
                    O::Log => a.ln(),
                    O::Log2 => a.log2(),
                    O::Log10 => a.log10(),
                    O::Sin | O::SinBounded => a.sin(),
                    O::Cos | O::CosBounded => a.cos(),
                    O::Tan => a.tan(),
                    O::Asin => a.asin(),
                    O::Acos => a.acos(),
                    O::Atan => a.atan(),
                    O::Sinh => a.sinh(),
                    O::Cosh => a.cosh(),
                    O::Tanh => a.tanh(),
                    O::Pow => a.powf(b),
                    O::Atan2 => a.atan2(b),
                    _ => return None,
                })
            }
        };
    }

    host!(f32);
    host!(f64);
}

/// C's fmin with -0.0 below 0.0.
fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        b
    } else if b.is_nan() || a < b || (a == b && a.is_sign_negative()) {
        a
    } else {
        b
    }
}

/// Returns a value of a floating type as a double.
fn as_float(value: ScalarValue) -> Option<f64> {
    match value {
        ScalarValue::F32(v) => Some(f64::from(v)),
        ScalarValue::F64(v) => Some(v),
        ScalarValue::I8(_) | ScalarValue::I16(_) | ScalarValue::I32(_) | ScalarValue::I64(_) => {
            None
        }
        ScalarValue::U8(_) | ScalarValue::U16(_) | ScalarValue::U32(_) | ScalarValue::U64(_) => {
            None
        }
        ScalarValue::Bool(_) => None,
    }
}

/// Returns the value of an integer or bool.
fn as_whole(value: ScalarValue) -> i128 {
    match value {
        ScalarValue::Bool(v) => i128::from(v),
        other => other.as_integer().unwrap_or(0),
    }
}

/// True if the conversion of `value` to `to` is defined.
fn fits(value: ScalarValue, to: Scalar) -> bool {
    if !to.is_integer() {
        return true;
    }
    let whole = match as_float(value) {
        Some(v) if v.is_nan() => return false,
        // The conversion saturates, which is out of every range.
        Some(v) => v.trunc() as i128,
        None => as_whole(value),
    };
    ScalarValue::from_integer_wrapping(to, whole).as_integer() == Some(whole)
}

/// Converts a value. It wraps if [`fits`] is false.
fn convert(value: ScalarValue, to: Scalar) -> ScalarValue {
    match (as_float(value), to) {
        (Some(v), Scalar::Bool) => ScalarValue::Bool(v != 0.0),
        (Some(v), Scalar::F32) => ScalarValue::F32(v as f32),
        (Some(v), Scalar::F64) => ScalarValue::F64(v),
        (Some(_) | None, _) => wrap(value, to),
    }
}

/// Returns the value modulo 2^bits, after truncation, or 0 for nan and the infinities.
fn wrap(value: ScalarValue, to: Scalar) -> ScalarValue {
    let whole = match as_float(value) {
        // From 2^117 on a double is a multiple of 2^64, and comparisons with nan are false.
        Some(v) if v.abs() < 2f64.powi(120) => v as i128,
        Some(_) => 0,
        None => as_whole(value),
    };
    ScalarValue::from_integer_wrapping(to, whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ScalarOperation as O;
    use ScalarValue as V;

    fn check(operation: O, arguments: &[V], expected: Result<V, ErrorKind>) {
        for strict in [false, true] {
            let result = evaluate(operation, arguments, strict);
            let same = match (result, expected) {
                (Ok(a), Ok(b)) => a.same(b),
                (Err(a), Err(b)) => a == b,
                (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
            };
            assert!(
                same,
                "{operation:?} {arguments:?}: {result:?}, not {expected:?}"
            );
        }
    }

    #[test]
    fn integers_wrap() {
        check(O::Add, &[V::I8(127), V::I8(1)], Ok(V::I8(-128)));
        check(
            O::Multiply,
            &[V::U64(u64::MAX), V::U64(u64::MAX)],
            Ok(V::U64(1)),
        );
        check(
            O::Divide,
            &[V::I64(i64::MIN), V::I64(-1)],
            Ok(V::I64(i64::MIN)),
        );
        check(O::Remainder, &[V::I32(i32::MIN), V::I32(-1)], Ok(V::I32(0)));
        check(O::Remainder, &[V::I32(-7), V::I32(2)], Ok(V::I32(-1)));
        check(O::Divide, &[V::I32(-7), V::I32(2)], Ok(V::I32(-3)));
        check(O::Negate, &[V::U8(1)], Ok(V::U8(255)));
        check(O::Absolute, &[V::I16(i16::MIN)], Ok(V::I16(i16::MIN)));
        check(O::BitNot, &[V::U16(0)], Ok(V::U16(0xffff)));
        check(O::PopCount, &[V::I8(-1)], Ok(V::I8(8)));
        check(O::PopCount, &[V::I16(i16::MIN)], Ok(V::I16(1)));
        check(O::PopCount, &[V::I32(-1)], Ok(V::I32(32)));
        check(O::PopCount, &[V::I64(-2)], Ok(V::I64(63)));
        check(O::PopCount, &[V::U8(255)], Ok(V::U8(8)));
        check(O::PopCount, &[V::U16(0)], Ok(V::U16(0)));
        check(O::PopCount, &[V::U32(0x1234_5678)], Ok(V::U32(13)));
        check(O::PopCount, &[V::U64(u64::MAX)], Ok(V::U64(64)));
        check(O::ShiftRight, &[V::I8(-128), V::I8(7)], Ok(V::I8(-1)));
        check(O::ShiftRight, &[V::U8(128), V::U8(7)], Ok(V::U8(1)));
        check(O::ShiftLeft, &[V::I32(3), V::I32(31)], Ok(V::I32(i32::MIN)));
    }

    #[test]
    fn errors() {
        check(O::Divide, &[V::U8(1), V::U8(0)], Err(ErrorKind::Division));
        check(
            O::Remainder,
            &[V::I64(1), V::I64(0)],
            Err(ErrorKind::Division),
        );
        check(
            O::ShiftLeft,
            &[V::I32(1), V::I32(32)],
            Err(ErrorKind::Shift),
        );
        check(O::ShiftRight, &[V::I8(1), V::I8(-1)], Err(ErrorKind::Shift));
        check(
            O::Convert(Scalar::U8),
            &[V::I32(256)],
            Err(ErrorKind::Conversion),
        );
        check(
            O::Convert(Scalar::I32),
            &[V::F64(f64::NAN)],
            Err(ErrorKind::Conversion),
        );
        check(
            O::Convert(Scalar::I64),
            &[V::F64(2f64.powi(63))],
            Err(ErrorKind::Conversion),
        );
        check(
            O::Convert(Scalar::U64),
            &[V::F32(-1.0)],
            Err(ErrorKind::Conversion),
        );
    }

    #[test]
    fn floats() {
        check(O::Minimum, &[V::F32(0.0), V::F32(-0.0)], Ok(V::F32(-0.0)));
        check(O::Minimum, &[V::F32(-0.0), V::F32(0.0)], Ok(V::F32(-0.0)));
        check(O::Maximum, &[V::F64(-0.0), V::F64(0.0)], Ok(V::F64(0.0)));
        check(
            O::Maximum,
            &[V::F64(f64::NAN), V::F64(1.0)],
            Ok(V::F64(1.0)),
        );
        check(
            O::Minimum,
            &[V::F64(1.0), V::F64(f64::NAN)],
            Ok(V::F64(1.0)),
        );
        check(O::Round, &[V::F64(-2.5)], Ok(V::F64(-3.0)));
        check(
            O::Divide,
            &[V::F32(1.0), V::F32(0.0)],
            Ok(V::F32(f32::INFINITY)),
        );
        check(
            O::Less,
            &[V::F32(f32::NAN), V::F32(0.0)],
            Ok(V::Bool(false)),
        );
        check(
            O::NotEqual,
            &[V::F32(f32::NAN), V::F32(f32::NAN)],
            Ok(V::Bool(true)),
        );
        check(O::ReciprocalSqrt, &[V::F32(4.0)], Ok(V::F32(0.5)));
    }

    #[test]
    fn conversions() {
        check(
            O::Convert(Scalar::I32),
            &[V::F64(-2147483648.9)],
            Ok(V::I32(i32::MIN)),
        );
        check(O::Convert(Scalar::U8), &[V::F64(-0.9)], Ok(V::U8(0)));
        check(
            O::Convert(Scalar::F32),
            &[V::F64(1e300)],
            Ok(V::F32(f32::INFINITY)),
        );
        check(
            O::Convert(Scalar::Bool),
            &[V::F64(f64::NAN)],
            Ok(V::Bool(true)),
        );
        check(O::Convert(Scalar::F32), &[V::Bool(true)], Ok(V::F32(1.0)));
        check(
            O::Convert(Scalar::Bool),
            &[V::F64(-0.0)],
            Ok(V::Bool(false)),
        );
        check(O::Wrap(Scalar::U8), &[V::F64(-1.5)], Ok(V::U8(255)));
        check(O::Wrap(Scalar::I64), &[V::F64(1e300)], Ok(V::I64(0)));
        check(
            O::Wrap(Scalar::U64),
            &[V::F64(2f64.powi(63) * 3.0)],
            Ok(V::U64(1 << 63)),
        );
        check(O::Wrap(Scalar::I8), &[V::I32(300)], Ok(V::I8(44)));
        check(O::Fits(Scalar::I8), &[V::I32(300)], Ok(V::Bool(false)));
        check(O::Bits(Scalar::U32), &[V::F32(-0.0)], Ok(V::U32(1 << 31)));
        check(
            O::Bits(Scalar::U64),
            &[V::F64(1.0)],
            Ok(V::U64(0x3ff << 52)),
        );
        check(O::Bits(Scalar::F32), &[V::U32(1 << 31)], Ok(V::F32(-0.0)));
        check(
            O::Bits(Scalar::F64),
            &[V::U64(0x3ff << 52)],
            Ok(V::F64(1.0)),
        );
        check(O::Fits(Scalar::F32), &[V::F64(f64::NAN)], Ok(V::Bool(true)));
    }

    #[test]
    fn unchecked_is_total() {
        let values = [
            V::I8(-128),
            V::I64(0),
            V::U32(7),
            V::F32(f32::NAN),
            V::Bool(true),
        ];
        for info in crate::builtin::SCALAR_OPERATIONS {
            for a in values {
                for b in values {
                    evaluate_unchecked(info.operation, &[a, b], true);
                }
            }
            evaluate_unchecked(info.operation, &[], false);
        }
    }

    #[test]
    fn total_operations_never_fail() {
        let values = |scalar: Scalar| -> Vec<V> {
            let whole = [-1, 0, 1, 64, i128::from(i64::MIN)];
            match scalar {
                Scalar::F32 => [-1.0, 0.0, f32::NAN, 1e30].map(V::F32).to_vec(),
                Scalar::F64 => [-1.0, 0.0, f64::NAN, 1e300].map(V::F64).to_vec(),
                other => whole.map(|v| V::from_integer_wrapping(other, v)).to_vec(),
            }
        };
        let infos = crate::builtin::SCALAR_OPERATIONS.iter();
        let conversions = crate::scalar::SCALARS.iter().map(|s| O::Convert(s.scalar));
        let operations: Vec<O> = infos.map(|i| i.operation).chain(conversions).collect();
        for operand in crate::scalar::SCALARS.iter().map(|s| s.scalar) {
            for &operation in &operations {
                let accepts = operation.info().is_none_or(|i| i.class.contains(operand));
                let values = values(operand);
                let fails = values.iter().any(|&a| {
                    let mut pairs = values.iter().map(|&b| [a, b]);
                    pairs.any(|arguments| failure(operation, &arguments).is_some())
                });
                if accepts && operation.is_total(operand) {
                    assert!(!fails, "{operation:?} on {operand:?}");
                }
            }
        }
        assert!(O::Divide.is_total(Scalar::F32) && !O::Divide.is_total(Scalar::I32));
        assert!(O::Convert(Scalar::I64).is_total(Scalar::I32));
        assert!(!O::Convert(Scalar::I32).is_total(Scalar::I64));
        assert!(!O::Convert(Scalar::U8).is_total(Scalar::I8));
    }
}
