//! Arithmetic, comparisons, bits and conversions.

use super::kinds::{is_bool, is_float, is_integer, is_number};
use super::{Production, row};
use crate::random::expression::Draw;
use crate::random::types::{self, FLOATS, INTEGERS, Ty};
use crate::random::values::{bits, bounds};

macro_rules! compare {
    ($op:literal) => {
        |d, _, f| {
            let ty = types::number(&mut d.random);
            let (a, b) = (d.expression(&ty, f), d.expression(&ty, f));
            format!("({} {a} {b})", $op)
        }
    };
}
macro_rules! shift {
    ($op:literal) => {
        |d, t, f| {
            let a = d.expression(t, f);
            let b = if d.random.chance(85) {
                format!("({} : {t})", d.random.below(8))
            } else {
                d.expression(t, f)
            };
            format!("({} {a} {b})", $op)
        }
    };
}
/// The operations on scalars.
pub const SCALARS: &[Production] = &[
    row("+", 6, is_number, prefix!("+", 2)),
    row("-", 4, is_number, prefix!("-", 2)),
    row("*", 4, is_number, prefix!("*", 2)),
    row("/", 2, is_number, divide),
    row("%", 2, is_integer, |d, t, f| {
        let a = d.expression(t, f);
        let b = if d.random.chance(85) {
            format!("({} : {t})", 1 + d.random.below(9))
        } else {
            d.leaf(t)
        };
        format!("(% {a} {b})")
    }),
    row("min", 2, is_number, prefix!("min", 2)),
    row("max", 2, is_number, prefix!("max", 2)),
    row("neg", 1, is_number, prefix!("neg", 1)),
    row("abs", 1, is_number, prefix!("abs", 1)),
    row("sqrt", 2, is_float, prefix!("sqrt", 1)),
    row("rsqrt", 2, is_float, prefix!("rsqrt", 1)),
    row("recip", 2, is_float, prefix!("recip", 1)),
    row("exp", 2, is_float, prefix!("exp", 1)),
    row("exp2", 2, is_float, prefix!("exp2", 1)),
    row("log", 2, is_float, prefix!("log", 1)),
    row("log2", 2, is_float, prefix!("log2", 1)),
    row("log10", 2, is_float, prefix!("log10", 1)),
    row("sin", 2, is_float, prefix!("sin", 1)),
    row("cos", 2, is_float, prefix!("cos", 1)),
    row("tan", 2, is_float, prefix!("tan", 1)),
    row("asin", 2, is_float, prefix!("asin", 1)),
    row("acos", 2, is_float, prefix!("acos", 1)),
    row("atan", 2, is_float, prefix!("atan", 1)),
    row("sinh", 2, is_float, prefix!("sinh", 1)),
    row("cosh", 2, is_float, prefix!("cosh", 1)),
    row("tanh", 2, is_float, prefix!("tanh", 1)),
    row("pow", 2, is_float, prefix!("pow", 2)),
    row("atan2", 2, is_float, prefix!("atan2", 2)),
    row("floor", 2, is_float, prefix!("floor", 1)),
    row("ceil", 2, is_float, prefix!("ceil", 1)),
    row("round", 2, is_float, prefix!("round", 1)),
    row("trunc", 2, is_float, prefix!("trunc", 1)),
    row("erf", 2, is_float, prefix!("erf", 1)),
    row("=", 3, is_bool, compare!("=")),
    row("~=", 2, is_bool, compare!("~=")),
    row("<", 4, is_bool, compare!("<")),
    row("<=", 2, is_bool, compare!("<=")),
    row(">", 2, is_bool, compare!(">")),
    row(">=", 2, is_bool, compare!(">=")),
    row("and", 3, is_bool, prefix!("and", 2)),
    row("or", 3, is_bool, prefix!("or", 2)),
    row("not", 2, is_bool, prefix!("not", 1)),
    row("&", 2, is_integer, prefix!("&", 2)),
    row("|", 2, is_integer, prefix!("|", 2)),
    row("^", 2, is_integer, prefix!("^", 2)),
    row("~", 1, is_integer, prefix!("~", 1)),
    row("popcount", 1, is_integer, prefix!("popcount", 1)),
    row("<<", 2, is_integer, shift!("<<")),
    row(">>", 2, is_integer, shift!(">>")),
    row("to_T", 3, is_number, convert),
    row("from_T", 2, is_number, convert_from),
    row("wrap_T", 2, is_integer, |d, t, f| {
        let from = types::number(&mut d.random);
        let value = d.expression(&from, f);
        format!("(wrap_{t} {value})")
    }),
];

fn divide(d: &mut Draw, t: &Ty, f: usize) -> String {
    let a = d.expression(t, f);
    let b = if t.is_integer() && d.random.chance(85) {
        format!("({} : {t})", 1 + d.random.below(9))
    } else {
        d.expression(t, f)
    };
    format!("(/ {a} {b})")
}

/// Draws a conversion that mostly fits: from a smaller type, or of a remainder.
fn convert(d: &mut Draw, t: &Ty, f: usize) -> String {
    if t.is_float() {
        let from = types::number(&mut d.random);
        return format!("(to_{t} {})", d.expression(&from, f));
    }
    if d.random.chance(12) {
        let from = types::number(&mut d.random);
        return format!("(to_{t} {})", d.expression(&from, f));
    }
    if d.random.chance(12)
        && let Some(text) = convert_at_border(d, t, f)
    {
        return text;
    }
    if d.random.chance(30) {
        let name = *d.random.pick(&FLOATS);
        let value = d.expression(&Ty::Scalar(name), f);
        return format!("(to_{t} (max 0.0 (min 99.0 {value})))");
    }
    let from = Ty::Scalar(d.random.pick::<&str>(&INTEGERS));
    let value = d.expression(&from, f);
    format!("(to_{t} (& {value} 0x7f))")
}

/// Draws a conversion of one of four numbers, of which the last is too large. There is none to a type of 64 bits.
fn convert_at_border(d: &mut Draw, t: &Ty, f: usize) -> Option<String> {
    let Ty::Scalar(name) = t else { return None };
    if bits(name) == 64 {
        return None;
    }
    let (_, largest) = bounds(name);
    let value = d.expression(&Ty::Scalar("int64"), f);
    Some(format!("(to_{t} (+ (& {value} 3) {}))", largest - 2))
}

fn convert_from(d: &mut Draw, t: &Ty, f: usize) -> String {
    let from = Ty::Scalar(d.random.pick::<&str>(&INTEGERS));
    let value = d.expression(&from, f);
    format!("((from_{from} (& {value} 0x3f)) : {t})")
}
