//! Number literals: the atoms that are numbers, and their values.

use crate::ast::{Number, NumberValue, Suffix};
use std::fmt;

/// The reading of an atom as a number.
pub(crate) enum Reading {
    /// No number, so a name.
    Name,
    /// A number.
    Number(Number),
    /// A wrong number: message and help.
    Wrong(String, String),
}

/// Every suffix with its text.
const SUFFIXES: [(&str, Suffix); 10] = [
    ("L", Suffix::Double),
    ("f", Suffix::Float),
    ("i8", Suffix::Signed(8)),
    ("i16", Suffix::Signed(16)),
    ("i32", Suffix::Signed(32)),
    ("i64", Suffix::Signed(64)),
    ("u8", Suffix::Unsigned(8)),
    ("u16", Suffix::Unsigned(16)),
    ("u32", Suffix::Unsigned(32)),
    ("u64", Suffix::Unsigned(64)),
];

impl fmt::Display for Suffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = SUFFIXES.iter().find(|(_, suffix)| suffix == self);
        f.write_str(text.map_or("", |(text, _)| text))
    }
}

/// Number of characters up to which `lexpr` holds decimal integers exactly.
const LEXPR_DIGITS: usize = 18;

/// Reads an atom as a number.
pub(crate) fn read_number(token: &str) -> Reading {
    let unsigned = token.strip_prefix('-').unwrap_or(token);
    let first = unsigned.bytes().next();
    if first == Some(b'.') && unsigned.as_bytes().get(1).copied().is_some_and(is_digit) {
        return Reading::Wrong(
            format!("`{token}` is no number"),
            format!(
                "write a digit before the point: `{}0{unsigned}`",
                sign(token)
            ),
        );
    }
    if !first.is_some_and(|b| b.is_ascii_digit()) {
        return Reading::Name;
    }
    match unsigned.strip_prefix("0x") {
        Some(digits) => read_hexadecimal(token, digits),
        None => read_decimal(token, unsigned),
    }
}

fn sign(token: &str) -> &str {
    if token.starts_with('-') { "-" } else { "" }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// Returns the number of bytes at the start of `text` that satisfy `test`.
fn run(text: &str, test: impl Fn(u8) -> bool) -> usize {
    text.bytes()
        .position(|byte| !test(byte))
        .unwrap_or(text.len())
}

fn find_suffix(text: &str) -> Option<Option<Suffix>> {
    if text.is_empty() {
        return Some(None);
    }
    let found = SUFFIXES.iter().find(|(suffix, _)| *suffix == text);
    found.map(|(_, suffix)| Some(*suffix))
}

fn read_hexadecimal(token: &str, digits: &str) -> Reading {
    let length = run(digits, |b| b.is_ascii_hexdigit());
    let suffix = find_suffix(&digits[length..]);
    let (true, Some(suffix)) = (length > 0, suffix) else {
        return Reading::Wrong(
            format!("`{token}` is no number"),
            "a hexadecimal number is `0x` and digits `0`…`9`, `a`…`f`, such as `0xff`".into(),
        );
    };
    let text = format!("{}{}", sign(token), &digits[..length]);
    integer(token, i128::from_str_radix(&text, 16).ok(), suffix)
}

fn read_decimal(token: &str, unsigned: &str) -> Reading {
    let mut end = run(unsigned, is_digit);
    let mut decimal = false;
    if unsigned[end..].starts_with('.') {
        decimal = true;
        end += 1 + run(&unsigned[end + 1..], is_digit);
    }
    if let Some(length) = exponent(&unsigned[end..]) {
        decimal = true;
        end += length;
    }
    let rest = &unsigned[end..];
    let value = &token[..token.len() - rest.len()];
    match find_suffix(rest) {
        None => name_or_mistake(token, rest),
        Some(suffix) if decimal => decimal_number(token, value, suffix),
        Some(suffix) => integer(token, whole_number(value), suffix),
    }
}

/// Returns the length of `e5`, `E-3` at the start of `text`.
fn exponent(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let length = run(digits, is_digit);
    (length > 0).then(|| text.len() - digits.len() + length)
}

/// Returns the value of decimal digits with an optional minus sign.
///
/// `lexpr` reads short ones. It would silently make a float of long ones.
fn whole_number(text: &str) -> Option<i128> {
    if text.len() <= LEXPR_DIGITS
        && let Ok(value) = lexpr::from_str(text)
        && let Some(value) = value.as_i64()
    {
        return Some(value.into());
    }
    text.parse().ok()
}

/// Reads an atom that starts like a number and does not end like one. It is a name such as `2d` or
/// `1+`, unless it can only be a mistyped number.
fn name_or_mistake(token: &str, rest: &str) -> Reading {
    let help = if rest.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        "a number has one point at most"
    } else if matches!(rest, "e" | "E" | "e+" | "e-" | "E+" | "E-") {
        "an exponent needs digits, as in `2e-3`"
    } else if rest.len() > 1 && rest.starts_with(['i', 'u']) && rest[1..].bytes().all(is_digit) {
        "the suffixes are `L` (double), `f` (float), `i8 i16 i32 i64` and `u8 u16 u32 u64`"
    } else {
        return Reading::Name;
    };
    Reading::Wrong(format!("`{token}` is no number"), help.into())
}

fn integer(token: &str, value: Option<i128>, suffix: Option<Suffix>) -> Reading {
    let fits = match (suffix, value) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(Suffix::Signed(width)), Some(value)) => {
            let limit = 1i128 << (width - 1);
            (-limit..limit).contains(&value)
        }
        (Some(Suffix::Unsigned(width)), Some(value)) => (0..1i128 << width).contains(&value),
        (Some(Suffix::Float), Some(value)) => exact(value, 24),
        (Some(Suffix::Double), Some(value)) => exact(value, 53),
    };
    if !fits {
        return does_not_fit(token, suffix);
    }
    Reading::Number(Number {
        value: NumberValue::Integer(value),
        suffix,
    })
}

/// True if a floating type with `bits` bits of significand holds `value` exactly.
fn exact(value: i128, bits: u32) -> bool {
    let magnitude = value.unsigned_abs();
    magnitude == 0 || 128 - magnitude.leading_zeros() - magnitude.trailing_zeros() <= bits
}

fn decimal_number(token: &str, text: &str, suffix: Option<Suffix>) -> Reading {
    let fits = match suffix {
        None => true,
        Some(Suffix::Float) => text.parse::<f32>().is_ok_and(f32::is_finite),
        Some(Suffix::Double) => text.parse::<f64>().is_ok_and(f64::is_finite),
        Some(Suffix::Signed(_) | Suffix::Unsigned(_)) => {
            return Reading::Wrong(
                format!("`{token}` has the suffix of an integer type, but is no integer"),
                "leave out the point and the exponent, or take the suffix `L` or `f`".into(),
            );
        }
    };
    if !fits {
        return does_not_fit(token, suffix);
    }
    Reading::Number(Number {
        value: NumberValue::Decimal(text.into()),
        suffix,
    })
}

fn does_not_fit(token: &str, suffix: Option<Suffix>) -> Reading {
    let (ty, help) = match suffix {
        Some(Suffix::Signed(width)) => {
            let limit = 1i128 << (width - 1);
            let help = format!("`int{width}` goes from {} to {}", -limit, limit - 1);
            (format!("int{width}"), help)
        }
        Some(Suffix::Unsigned(width)) => {
            let help = format!("`uint{width}` goes from 0 to {}", (1i128 << width) - 1);
            (format!("uint{width}"), help)
        }
        Some(Suffix::Float) => ("float".to_string(), "try a double, suffix `L`".into()),
        Some(Suffix::Double) | None => (
            "double".to_string(),
            "no floating type holds this number; write a smaller or a rounded one".into(),
        ),
    };
    Reading::Wrong(format!("`{token}` does not fit the type {ty}"), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `name`, `wrong`, or the number.
    fn read(token: &str) -> String {
        match read_number(token) {
            Reading::Name => "name".into(),
            Reading::Wrong(..) => "wrong".into(),
            Reading::Number(Number { value, suffix }) => match value {
                NumberValue::Integer(value) => format!("{value:?} {suffix:?}"),
                NumberValue::Decimal(text) => format!("{text} {suffix:?}"),
            },
        }
    }

    #[test]
    fn numbers() {
        for (token, expected) in [
            ("42", "Some(42) None"),
            ("-7", "Some(-7) None"),
            ("0xff", "Some(255) None"),
            ("-0xff", "Some(-255) None"),
            ("0xffu8", "Some(255) Some(Unsigned(8))"),
            ("1.5", "1.5 None"),
            ("1.", "1. None"),
            ("2e-3", "2e-3 None"),
            ("1.0L", "1.0 Some(Double)"),
            ("1L", "Some(1) Some(Double)"),
            ("1f", "Some(1) Some(Float)"),
            ("1.0f", "1.0 Some(Float)"),
            ("-128i8", "Some(-128) Some(Signed(8))"),
            (
                "18446744073709551615u64",
                "Some(18446744073709551615) Some(Unsigned(64))",
            ),
            (
                "123456789012345678901234567890",
                "Some(123456789012345678901234567890) None",
            ),
            ("0x1f", "Some(31) None"),
            ("00012", "Some(12) None"),
        ] {
            assert_eq!(read(token), expected, "{token}");
        }
        assert_eq!(read(&"9".repeat(60)), "None None");
    }

    #[test]
    fn mistakes_and_names() {
        for token in [
            "300u8",
            "-1u8",
            "128i8",
            "16777217f",
            "1e39f",
            "1e309L",
            "1.5i8",
            "1.2.3",
            "0x",
            "0xzz",
            "7i7",
            "1e",
            ".5",
        ] {
            assert_eq!(read(token), "wrong", "{token}");
        }
        for token in ["x", "-", "->", "1+", "2d", "+5", "x.0", "vector#2"] {
            assert_eq!(read(token), "name", "{token}");
        }
    }
}
