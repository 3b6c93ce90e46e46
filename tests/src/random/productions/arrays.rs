//! Arrays of two dimensions, and nested vectors.

use super::kinds::{
    change_condition, element, is_int, is_matrix, is_nested, is_vector, is_vector_of_int,
};
use super::{Production, row};
use crate::random::types::{self, INT, Ty};

/// Productions that change between shapes.
pub const ARRAYS: &[Production] = &[
    row("tabulate 2-D", 5, is_matrix, |d, t, f| {
        let (n, m) = (d.random.below(4), d.random.below(4));
        let g = d.function(&[Ty::Tuple(vec![INT, INT])], &element(t), f);
        format!("(tabulate ({n}, {m}) {g})")
    }),
    row("reshape", 3, is_matrix, |d, t, f| {
        let (n, m) = (1 + d.random.below(2), d.random.below(3));
        if d.random.chance(10) {
            let v = d.expression(&element(t).vector(), f);
            return format!("(reshape ({n}, {m}) {v})");
        }
        let g = d.function(&[INT], &element(t), f);
        format!("(reshape ({n}, {m}) (tabulate {} {g}))", n * m)
    }),
    row("reshape 1-D", 1, is_vector, |d, t, f| {
        let m = d.expression(&Ty::Matrix(Box::new(element(t))), f);
        let name = d.name();
        format!("(let ({name} {m}) ((r, c) (shape {name})) in (flatten (reshape (c, r) {name})))")
    }),
    row("transpose", 4, is_matrix, prefix!("transpose", 1)),
    row("slice 2-D", 3, is_matrix, |d, t, f| {
        let m = d.expression(t, f);
        if d.random.chance(10) {
            return format!("(slice (0, 1) (1, 1) (2, 2) {m})");
        }
        let name = d.name();
        let step = 1 + d.random.below(2);
        format!(
            "(let ({name} {m}) ((r, c) (shape {name})) in \
             (slice (0, (- c 1)) ({step}, -1) (r, -1) {name}))"
        )
    }),
    row("update 2-D", 2, is_matrix, |d, t, f| {
        let (m, x) = (d.expression(t, f), d.expression(&element(t), f));
        let name = d.name();
        format!(
            "(let ({name} {m}) ((r, c) (shape {name})) in \
             (if (and (> r 0) (> c 1)) (update {name} (0, 1) {x}) {name}))"
        )
    }),
    row("update_slice 2-D", 3, is_matrix, |d, t, f| {
        let (m, b) = (d.expression(t, f), d.expression(t, f));
        if d.random.chance(10) {
            return format!("(update_slice {m} (0, 0) {b})");
        }
        let (whole, block) = (d.name(), d.name());
        format!(
            "(let ({whole} {m}) ({block} {b}) ((r, c) (shape {whole})) ((p, q) (shape {block})) in \
             (if (and (<= p r) (<= q c)) (update_slice {whole} ((- r p), 0) {block}) {whole}))"
        )
    }),
    row(
        "tabulate 2-D of changed elements",
        3,
        is_matrix,
        |d, t, f| {
            let (m, a, b) = (
                d.expression(t, f),
                d.expression(&INT, 1),
                d.expression(&INT, 1),
            );
            let g = d.function(&[element(t), INT], &element(t), f.min(3));
            let [matrix, state, i, j, first, last] = [(); 6].map(|()| d.name());
            let (rows, columns) = (
                change_condition(d, &i, &first, &last),
                change_condition(d, &j, &last, &first),
            );
            let own = format!("({state} ! ({i}, {j}))");
            let read = match d.random.below(3) {
                0 => format!("({state} ! (0, {j}))"),
                _ => own.clone(),
            };
            format!(
                "(let ({matrix} {m}) ({first} {a}) ({last} {b}) in (iterate 2 (lambda ({state}) \
             (tabulate (shape {state}) (lambda (({i}, {j})) (if (and {rows} {columns}) \
             ({g} {read} (+ {i} {j})) {own})))) {matrix}))"
            )
        },
    ),
    row("unrows", 3, is_matrix, |d, t, f| {
        if d.random.chance(15) {
            return format!(
                "(unrows {})",
                d.expression(&element(t).vector().vector(), f)
            );
        }
        let m = d.expression(t, f);
        format!("(unrows (reverse (rows {m})))")
    }),
    row("rows", 4, is_nested, |d, t, f| {
        let m = d.expression(&Ty::Matrix(Box::new(element(&element(t)))), f);
        format!("(rows {m})")
    }),
    row("unflatten", 4, is_nested, |d, t, f| {
        let v = d.expression(&element(t), f);
        if d.random.chance(12) {
            return format!("(unflatten [1 0 2] {v})");
        }
        let name = d.name();
        format!("(let ({name} {v}) in (unflatten [0 (length {name}) 0] {name}))")
    }),
    row("flatten", 2, is_vector, |d, t, f| {
        if d.random.chance(30) {
            let m = d.expression(&Ty::Matrix(Box::new(element(t))), f);
            return format!("(flatten {m})");
        }
        format!("(flatten {})", d.expression(&t.clone().vector(), f))
    }),
    row("segments", 4, is_vector_of_int, |d, _, f| {
        let v = types::scalar(&mut d.random).vector().vector();
        format!("(segments {})", d.expression(&v, f))
    }),
    row("shape", 2, is_int, |d, _, f| {
        let m = Ty::Matrix(Box::new(types::any(&mut d.random, 1)));
        let v = d.expression(&m, f);
        format!("(shape {v}).{}", d.random.below(2))
    }),
];
