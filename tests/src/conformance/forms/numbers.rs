//! Operations on scalars, with literals on either side, and conversions that cannot fail.

use crate::conformance::templates::{Form, Row};
use crate::conformance::types::{Kind, SCALARS};

/// Operations on numbers and truth values.
pub const FORMS: &[Row] = &[
    (12, "n", "(+ {n} {n})"),
    (10, "n", "(- {n} {n})"),
    (10, "n", "(* {n} {n})"),
    (4, "n", "(+ {@lit n} {n})"),
    (4, "n", "(- {@lit n} {n})"),
    (3, "n", "(- {n} {@lit n})"),
    (3, "n", "(* {n} {@lit n})"),
    (4, "n", "(neg {n})"),
    (4, "n", "(abs {n})"),
    (5, "n", "(min {n} {n})"),
    (5, "n", "(max {n} {n})"),
    (2, "n", "(min {@lit n} {n})"),
    (2, "n", "(max {n} {@lit n})"),
    (6, "i", "(/ {i} (| {i} 1))"),
    (3, "i", "(/ {@lit i} (| {i} 1))"),
    (6, "i", "(% {i} (| {i} 1))"),
    (3, "i", "(% {@lit i} (| {i} 1))"),
    (3, "i", "(/ {i} (let ($1 {@lit i}) in (if (= $1 0) 3 $1)))"),
    (3, "i", "(% {i} (let ($1 {@lit i}) in (if (= $1 0) 3 $1)))"),
    (4, "i", "(& {i} {i})"),
    (4, "i", "(| {i} {i})"),
    (4, "i", "(^ {i} {i})"),
    (2, "i", "(& {@lit i} {i})"),
    (2, "i", "(^ {i} {@lit i})"),
    (2, "i", "(| {@lit i} {@lit i})"),
    (4, "i", "(~ {i})"),
    (6, "i", "(<< {i} {@shift i})"),
    (6, "i", "(>> {i} {@shift i})"),
    (7, "i", "(>> {@lit i} {@shift i})"),
    (7, "i", "(<< {@lit i} {@shift i})"),
    (3, "bool", "(= {n} {n})"),
    (3, "bool", "(~= {n} {n})"),
    (3, "bool", "(< {n} {n})"),
    (3, "bool", "(<= {n} {n})"),
    (3, "bool", "(> {n} {n})"),
    (3, "bool", "(>= {n} {n})"),
    (2, "bool", "(< {n} {@lit n})"),
    (2, "bool", "(>= {@lit n} {n})"),
    (2, "bool", "(= {@lit n} {n})"),
    (2, "bool", "(= {bool} {bool})"),
    (2, "bool", "(~= {bool} {bool})"),
    (4, "bool", "(and {bool} {bool})"),
    (4, "bool", "(or {bool} {bool})"),
    (4, "bool", "(not {bool})"),
    (6, "x", "(/ {x} {x})"),
    (3, "x", "(/ {@lit x} {x})"),
    (2, "x", "(sqrt {x})"),
    (1, "x", "(rsqrt {x})"),
    (1, "x", "(recip {x})"),
    (1, "x", "(exp {x})"),
    (1, "x", "(exp2 {x})"),
    (1, "x", "(log {x})"),
    (1, "x", "(log2 {x})"),
    (1, "x", "(log10 {x})"),
    (1, "x", "(sin {x})"),
    (1, "x", "(cos {x})"),
    (1, "x", "(tan {x})"),
    (1, "x", "(asin {x})"),
    (1, "x", "(acos {x})"),
    (1, "x", "(atan {x})"),
    (1, "x", "(sinh {x})"),
    (1, "x", "(cosh {x})"),
    (1, "x", "(tanh {x})"),
    (1, "x", "(erf {x})"),
    (1, "x", "(pow {x} {x})"),
    (1, "x", "(atan2 {x} {x})"),
    (2, "x", "(floor {x})"),
    (2, "x", "(ceil {x})"),
    (2, "x", "(round {x})"),
    (2, "x", "(trunc {x})"),
    (2, "int", "(to_int (max -1000.0 (min 1000.0 {float})))"),
    (2, "int64", "(to_int64 (max -1e9L (min 1e9L {double})))"),
    (2, "uint8", "(to_uint8 (max 0.0 (min 255.0 {double})))"),
    (2, "x", "(from_int {int})"),
    (2, "x", "(from_bool {bool})"),
    (1, "x", "(from_uint64 {uint64})"),
    (1, "x", "(from_double {double})"),
    (1, "int64", "((from_int16 {int16}) : int64)"),
    (1, "uint16", "((from_uint8 {uint8}) : uint16)"),
];

/// Conversions of all types: those that wrap, those of `bool`, those to floating and wider types.
pub fn conversions() -> Vec<Form> {
    let mut forms = Vec::new();
    let mut add = |weight, result: &str, text: String| {
        forms.push(Form::of(weight, result, &text));
    };
    for to in SCALARS.iter().filter(|to| to.kind != Kind::Bool) {
        let name = to.name;
        add(1, name, format!("(to_{name} {{bool}})"));
        match to.kind {
            Kind::Float => add(2, name, format!("(to_{name} {{n}})")),
            Kind::Signed | Kind::Unsigned | Kind::Bool => {
                add(4, name, format!("(wrap_{name} {{i}})"));
            }
        }
        for from in &SCALARS {
            let wider = from.is_integer() && to.is_integer() && from.bits < to.bits;
            if wider && (from.kind == Kind::Unsigned || to.kind == Kind::Signed) {
                add(1, name, format!("(to_{name} {{{}}})", from.name));
            }
        }
    }
    forms
}
