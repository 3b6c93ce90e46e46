//! Maps of reductions and of maps: the nests that become tiles and operations of two dimensions.
//! Random expressions alone seldom read elements in such an order.

use super::kinds::{element, is_vector_of_numbers, is_vector_of_vectors_of_numbers};
use super::{Production, row};
use crate::random::expression::Draw;
use crate::random::types::Ty;

/// Nests that become tiles, and similar ones that do not.
pub const NESTS: &[Production] = &[
    row("all pairs", 4, is_vector_of_numbers, |d, t, f| {
        let (x, y) = (short(d, t, f), short(d, t, f));
        let (reduce, e) = (reduction(d, &element(t)), element(t));
        let pair = d.random.pick(&["(- q p)", "(+ (* p q) p)", "(min p q)"]);
        format!("(map (lambda ((p : {e})) ({reduce} (map (lambda (q) {pair}) {y}))) {x})")
    }),
    row("columns", 3, is_vector_of_numbers, |d, t, f| {
        let m = matrix(d, &element(t), f);
        let reduce = reduction(d, &element(t));
        format!("(map (lambda (c) ({reduce} c)) (rows (transpose {m})))")
    }),
    row("products", 9, is_vector_of_vectors_of_numbers, |d, t, f| {
        let e = element(&element(t));
        let (m, reduce) = (matrix(d, &e, f), reduction(d, &e));
        let (name, columns) = (d.name(), d.name());
        // The rows of a matrix have as many elements as its columns only if it is square.
        let rows = d.random.pick(&["", "", "(rows m)"]).replace('m', &name);
        let rows = if rows.is_empty() { &columns } else { &rows };
        format!(
            "(let ({name} {m}) ({columns} (rows (transpose {name}))) in \
             (map (lambda (r) (map (lambda (c) ({reduce} (map * r c))) {columns})) {rows}))"
        )
    }),
    row(
        "regular rows",
        3,
        is_vector_of_vectors_of_numbers,
        |d, t, f| {
            let e = element(t);
            let (x, y) = (short(d, &e, f), short(d, &e, f));
            let pair = d.random.pick(&["(- q p)", "(+ (* p q) p)", "q"]);
            format!("(let (w {y}) in (map (lambda (p) (map (lambda (q) {pair}) w)) {x}))")
        },
    ),
];

/// Draws a vector of a few elements. The results of nests on it must not grow with each iteration
/// of a loop.
fn short(d: &mut Draw, t: &Ty, f: usize) -> String {
    let (v, name) = (d.expression(t, f.min(3)), d.name());
    format!("(let ({name} {v}) in (if (< (length {name}) 9) {name} (slice 0 1 9 {name})))")
}

/// Draws a small matrix, often of more columns than the smallest tiles have lanes.
fn matrix(d: &mut Draw, e: &Ty, f: usize) -> String {
    let (x, n) = (
        d.expression(&e.clone().vector(), f.min(3)),
        d.random.below(6),
    );
    let (name, m) = (d.name(), 1 + d.random.below(5));
    format!(
        "(let ({name} (concat {x} (replicate {} {}))) in (reshape ({n}, {m}) (slice 0 1 {} {name})))",
        n * m,
        d.leaf(e),
        n * m
    )
}

/// Draws a reduction by an operator whose order is free, or of floats, where it is not.
fn reduction(d: &mut Draw, e: &Ty) -> String {
    let operators: &[&str] = match e.is_float() {
        true => &["min", "max", "+"],
        false => &["+", "*", "min", "max", "&", "|", "^"],
    };
    let operator = *d.random.pick(operators);
    format!("reduce {operator} {}", d.leaf(e))
}
