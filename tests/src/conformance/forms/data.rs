//! Loops, recursion, sums: forms that are no array operations. Conditionals, matches, bindings and
//! applications are drawn by rules of their own.

use crate::conformance::templates::Row;

/// Loops, recursive functions, and the functions of [`super::DEFINITIONS`].
pub const FORMS: &[Row] = &[
    (5, "a", "(iterate {@size} {a -> a} {a})"),
    (
        3,
        "a",
        "((while (lambda (($1, $2)) (< $1 {@nat})) \
         (lambda (($1, $2)) ((+ $1 1), {a | $1:int $2:a})) (0, {a})).1)",
    ),
    (
        3,
        "(int, a)",
        "(while (lambda (($1, $2)) (and (< $1 5) {bool | $1:int $2:a})) \
         (lambda (($1, $2)) ((+ $1 1), {a | $1:int $2:a})) (0, {a}))",
    ),
    (
        4,
        "a",
        "((mu ($1 : int -> <a> -> <a>) (lambda ($2 $3) \
         (if (<= $2 0) $3 ($1 (- $2 1) {a | $2:int $3:a})))) {@nat} {a})",
    ),
    (
        3,
        "a",
        "((mu ($1 : int -> <a> -> <a>) (lambda ($2 $3) (if (<= $2 0) then $3 else \
         (let ($4 ($1 (- $2 1) $3)) in {a | $2:int $3:a $4:a})))) {@nat} {a})",
    ),
    (
        2,
        "b",
        "((mu ($1 : <(Seq a)> -> <b>) (lambda ($2) \
         (case $2 (End {b}) (Link ($3, $4) (let ($5 ($1 $4)) in {b | $3:a $5:b}))))) {(Seq a)})",
    ),
    (4, "(Seq a)", "(list_from {vector a})"),
    (3, "b", "(list_fold {b -> a -> b} {b} {(Seq a)})"),
    (3, "(Seq b)", "(list_map {a -> b} {(Seq a)})"),
    (2, "int", "(list_length {(Seq a)})"),
    (2, "(Seq a)", "(list_take {@nat} {(Seq a)})"),
    (2, "vector a", "(list_elements {@nat} {a} {(Seq a)})"),
    (3, "(Bin a)", "(tree_full (& {@nat} 3) {a})"),
    (3, "b", "(tree_fold {b -> a -> b -> b} {b} {(Bin a)})"),
    (2, "(Bin b)", "(tree_map {a -> b} {(Bin a)})"),
    (3, "a", "(or_else {a} {(Opt a)})"),
    (3, "(Opt b)", "(and_then {a -> (Opt b)} {(Opt a)})"),
    (3, "(Opt a)", "(first_that {a -> bool} {vector a})"),
    (3, "a", "(twice {a -> a} {a})"),
    (2, "c", "(flip {b -> a -> c} {a} {b})"),
    (2, "b", "((compose {c -> b} {a -> c}) {a})"),
    (2, "a", "(at {int} {a} {vector a})"),
    (2, "vector a", "(cap {@nat} {vector a})"),
    (2, "int", "(even_steps {@nat})"),
    (
        2,
        "b",
        "((foldl (lambda ($1 $2) (lambda ($3) ({b -> b} ($1 $3)))) (lambda ($4) $4) \
         (range {@nat})) {b})",
    ),
];
