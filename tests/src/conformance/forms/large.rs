//! Large vectors: their sources, the operations on them, and summaries of them. Their functions
//! work only on scalars and short rows, so that the reference interpreter is fast enough.

use crate::conformance::templates::Row;

/// Large vectors from nothing.
pub const SOURCES: &[Row] = &[
    (6, "vector int", "(range 30000)"),
    (3, "vector int64", "(range -15000i64 3 75000)"),
    (6, "vector s", "(map {int -> s} (range 30000))"),
    (4, "vector s", "(tabulate 30000 {int -> s})"),
    (
        3,
        "vector s",
        "(flatten (tabulate (150, 200) {(int, int) -> s}))",
    ),
    (2, "vector s", "(replicate 30000 {s})"),
    (
        3,
        "vector (s, t)",
        "(map (lambda ($1) ({s | $1:int}, {t | $1:int})) (range 30000))",
    ),
    (
        4,
        "vector (vector s)",
        "(map (lambda ($1) (map (lambda ($2) {s | $1:int $2:int}) (range (& $1 7)))) (range 4000))",
    ),
    (
        2,
        "vector (vector s)",
        "(map (lambda ($1) (replicate (if (= (% $1 900) 5) 2000 (& $1 1)) {s | $1:int})) (range 4000))",
    ),
    (
        2,
        "vector (Opt s)",
        "(map (lambda ($1) (if {bool | $1:int} (Just {s | $1:int}) Nope)) (range 20000))",
    ),
];

/// Large vectors from others.
pub const STEPS: &[Row] = &[
    (8, "vector b", "(map {a -> b} {@large a})"),
    (5, "vector a", "(filter {a -> bool} {@large a})"),
    (3, "vector a", "((partition {a -> bool} {@large a}).0)"),
    (6, "vector a", "(scan {@assoc a} {a} {@large a})"),
    (4, "vector a", "(exscan {@assoc a} {a} {@large a})"),
    (4, "vector a", "(sort {@order a} {@large a})"),
    (4, "vector a", "(reverse {@large a})"),
    (3, "vector a", "(rotate {int} {@large a})"),
    (
        3,
        "vector a",
        "(let ($1 {@large a}) in (slice 0 3 (length $1) $1))",
    ),
    (
        4,
        "vector a",
        "(let ($1 {@large a}) ($2 (/ (length $1) 2)) in (update_slice $1 (/ $2 2) (map {a -> a} (slice 0 1 $2 $1))))",
    ),
    (2, "vector int", "(count 700 {@large i})"),
    (
        3,
        "vector a",
        "(let ($1 {@large a}) in (slice (- (length $1) 1) -2 -1 $1))",
    ),
    (
        4,
        "vector (a, b)",
        "(let ($1 {@large a}) ($2 {@large b}) ($3 (min (length $1) (length $2))) in (zip (cap $3 $1) (cap $3 $2)))",
    ),
    (
        5,
        "vector c",
        "(let ($1 {@large a}) ($2 {@large b}) ($3 (min (length $1) (length $2))) in (map {a -> b -> c} (cap $3 $1) (cap $3 $2)))",
    ),
    (
        3,
        "vector b",
        "(let ($1 {@large a}) in (map {a -> a -> b} $1 (rotate 1 $1)))",
    ),
    (3, "vector b", "(imap {int -> b} {@large a})"),
    (
        4,
        "vector a",
        "(let ($1 {@large a}) ($2 (max 1 (length $1))) in (if (= (length $1) 0) $1 (gather (map (lambda ($3) (% (* $3 7) $2)) (range $2)) $1)))",
    ),
    (
        3,
        "vector a",
        "(let ($1 {@large a}) in (permute (rotate {int} (range (length $1))) $1))",
    ),
    (
        4,
        "vector a",
        "(let ($1 {@large a}) in (histogram {@comm a} {a} 500 (map (lambda ($2) (- (% (* $2 31) 517) 8)) (range (length $1))) $1))",
    ),
    (
        3,
        "vector int",
        "(let ($1 {@large i}) in (histogram + 0 64 (map (lambda ($2) (& $2 63)) $1) (replicate (length $1) 1)))",
    ),
    (
        3,
        "vector a",
        "(let ($1 {@large a}) in (scatter $1 (map (lambda ($2) (- (* $2 5) 100)) (range (length $1))) (reverse $1)))",
    ),
    (
        3,
        "vector (vector a)",
        "(let ($1 {@large a}) ($2 (/ (length $1) 3)) in (unflatten [$2 0 (- (length $1) $2)] $1))",
    ),
    (4, "vector a", "(flatten {@large (vector a)})"),
    (
        4,
        "vector a",
        "(map (lambda ($1) (reduce {@assoc a} {a} $1)) {@large (vector a)})",
    ),
    (
        3,
        "vector (vector b)",
        "(map (map {a -> b}) {@large (vector a)})",
    ),
    (
        3,
        "vector (vector a)",
        "(map (filter {a -> bool}) {@large (vector a)})",
    ),
    (
        3,
        "vector (vector a)",
        "(map (scan {@assoc a} {a}) {@large (vector a)})",
    ),
    (
        2,
        "vector (vector i)",
        "(map (sort (lambda ($1 $2) (<= $1 $2))) {@large (vector i)})",
    ),
    (
        2,
        "vector a",
        "(let ($1 {@large a}) in (concat (cap 5000 (reverse $1)) $1))",
    ),
    (2, "vector int", "(segments {@large (vector a)})"),
];

/// Summaries of a large vector.
pub const SUMMARIES: &[Row] = &[
    (8, "a", "(reduce {@assoc a} {a} {@large a})"),
    (4, "a", "(reduce_comm {@comm a} {a} {@large a})"),
    (8, "vector a", "(cap 12 (rotate 500 {@large a}))"),
    (4, "int", "(length {@large a})"),
    (
        4,
        "i",
        "(foldl (lambda ($1 $2) (+ (* 31 $1) $2)) {i} {@large i})",
    ),
    (3, "a", "(at {int} {a} {@large a})"),
    (3, "vector a", "(cap 9 {@large a})"),
    (
        2,
        "vector a",
        "(cap 9 (reverse (scan {@assoc a} {a} {@large a})))",
    ),
];
