//! Forms that may stop a program with an error.

use crate::conformance::templates::{Form, Row};
use crate::conformance::types::{Kind, SCALARS, Scalar};

/// Every error but those of memory and recursion.
pub const FORMS: &[Row] = &[
    (6, "i", "(/ {i} {i})"),
    (5, "i", "(% {i} {i})"),
    (4, "i", "(/ {i} {@lit i})"),
    (5, "i", "(<< {i} {i})"),
    (5, "i", "(>> {i} {i})"),
    (5, "i", "(>> {i} {@lit i})"),
    (8, "a", "({vector a} ! {i})"),
    (3, "a", "(({vector#2 a} : <vector#2 a>) ! ({@nat}, {@nat}))"),
    (6, "vector b", "(map {a -> c -> b} {vector a} {vector c})"),
    (4, "vector (a, b)", "(zip {vector a} {vector b})"),
    (6, "vector a", "(gather {vector i} {vector a})"),
    (5, "vector a", "(permute {vector i} {vector a})"),
    (6, "vector a", "(slice {int} {int} {int} {vector a})"),
    (4, "vector a", "(slice {@nat} {@nat} {@nat} {vector a})"),
    (3, "vector i", "(range {@size i} {@size i} 40)"),
    (4, "vector a", "(update {vector a} {i} {a})"),
    (3, "vector a", "(update_slice {vector a} {i} {vector a})"),
    (
        3,
        "vector#2 a",
        "(update_slice ({vector#2 a} : <vector#2 a>) ({@nat}, {i}) ({vector#2 a} : <vector#2 a>))",
    ),
    (
        3,
        "vector#2 a",
        "(slice ({@nat}, {i}) ({int}, {@nat}) ({@nat}, {j}) ({vector#2 a} : <vector#2 a>))",
    ),
    (
        2,
        "vector#2 a",
        "(update ({vector#2 a} : <vector#2 a>) ({@nat}, {@nat}) {a})",
    ),
    (3, "vector a", "(scatter {vector a} {vector i} {vector a})"),
    (
        3,
        "vector a",
        "(histogram {@comm a} {a} {@size} {vector i} {vector a})",
    ),
    (3, "vector a", "(replicate (- {@nat} 3) {a})"),
    (3, "vector a", "(tabulate (- {@nat} 2) {int -> a})"),
    (3, "vector#2 a", "(reshape ({@nat}, {@nat}) {vector a})"),
    (3, "vector#2 a", "(unrows {vector (vector a)})"),
    (3, "vector (vector a)", "(unflatten {vector i} {vector a})"),
];

/// Returns the conversions that may fail.
pub fn conversions() -> Vec<Form> {
    let numbers = SCALARS.iter().filter(|scalar| scalar.kind != Kind::Bool);
    let form = |scalar: &Scalar| {
        let name = scalar.name;
        Form::of(3, name, &format!("(to_{name} {{n}})"))
    };
    numbers.map(form).collect()
}
