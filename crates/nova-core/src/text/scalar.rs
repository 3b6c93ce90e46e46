//! Scalars as text: the forms that the language writes, for each type.

use crate::{Scalar, ScalarValue};

/// The reason why a token is no scalar.
pub enum Wrong {
    /// It has another form.
    Form,
    /// The type has no such number.
    Range,
}

/// Parses a scalar of a type.
pub fn parse_scalar(token: &str, scalar: Scalar) -> Result<ScalarValue, Wrong> {
    match scalar {
        Scalar::Bool => match token {
            "true" => Ok(ScalarValue::Bool(true)),
            "false" => Ok(ScalarValue::Bool(false)),
            _ => Err(Wrong::Form),
        },
        Scalar::F32 => parse_float(token, 'f', scalar, |t| t.parse().map(ScalarValue::F32)),
        Scalar::F64 => parse_float(token, 'L', scalar, |t| t.parse().map(ScalarValue::F64)),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => parse_whole(token, scalar),
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => parse_whole(token, scalar),
    }
}

/// Parses an integer, decimal or hexadecimal, perhaps with its type's suffix.
fn parse_whole(token: &str, scalar: Scalar) -> Result<ScalarValue, Wrong> {
    let digits = token.strip_suffix(scalar.info().short).unwrap_or(token);
    let value = parse_integer(digits)?;
    let wrapped = ScalarValue::from_integer_wrapping(scalar, value);
    match wrapped.as_integer() == Some(value) {
        true => Ok(wrapped),
        false => Err(Wrong::Range),
    }
}

fn parse_integer(token: &str) -> Result<i128, Wrong> {
    let (negative, digits) = match token.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, token),
    };
    let (radix, digits) = match digits.strip_prefix("0x") {
        Some(digits) => (16, digits),
        None => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(Wrong::Form);
    }
    // Numbers of few digits need no wide arithmetic.
    let value = match digits.len() <= 15 {
        true => i64::from_str_radix(digits, radix).map(i128::from),
        false => i128::from_str_radix(digits, radix),
    };
    let value = value.map_err(|_| Wrong::Range)?;
    Ok(if negative { -value } else { value })
}

/// Parses a float with perhaps its suffix, an integer, `nan`, `inf` or `-inf`.
fn parse_float(
    token: &str,
    suffix: char,
    scalar: Scalar,
    parse: impl Fn(&str) -> Result<ScalarValue, std::num::ParseFloatError>,
) -> Result<ScalarValue, Wrong> {
    if matches!(token, "nan" | "inf" | "-inf") {
        return parse(token).map_err(|_| Wrong::Form);
    }
    if token.contains("0x") {
        let value = parse_integer(token)?;
        return Ok(ScalarValue::from_integer_wrapping(scalar, value));
    }
    let number = token.strip_suffix(suffix).unwrap_or(token);
    let digits = number.strip_prefix('-').unwrap_or(number);
    let plain = digits
        .chars()
        .all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    if !plain || !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Wrong::Form);
    }
    let value = parse(number).map_err(|_| Wrong::Form)?;
    let infinite = match value {
        ScalarValue::F32(v) => v.is_infinite(),
        ScalarValue::F64(v) => v.is_infinite(),
        _ => false,
    };
    if infinite {
        Err(Wrong::Range)
    } else {
        Ok(value)
    }
}
