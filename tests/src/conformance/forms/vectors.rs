//! Operations on vectors and arrays that cannot fail: lengths are made to agree, indices to fit.
//! Vectors that could grow from one binding to the next are shortened to twelve elements.

use crate::conformance::templates::Row;

/// Operations on vectors.
pub const FORMS: &[Row] = &[
    (14, "vector b", "(map {a -> b} {vector a})"),
    (
        5,
        "vector b",
        "(let ($1 {vector a}) in (map {a -> a -> b} $1 (reverse $1)))",
    ),
    (
        6,
        "vector b",
        "(let ($1 {vector a}) ($2 {vector c}) ($3 (min (length $1) (length $2))) in \
         (map {a -> c -> b} (slice 0 1 $3 $1) (slice 0 1 $3 $2)))",
    ),
    (8, "a", "(reduce {@assoc a} {a} {vector a})"),
    (4, "a", "(reduce_comm {@comm a} {a} {vector a})"),
    (6, "vector a", "(scan {@assoc a} {a} {vector a})"),
    (4, "vector a", "(exscan {@assoc a} {a} {vector a})"),
    (6, "b", "(foldl {b -> a -> b} {b} {vector a})"),
    (7, "vector a", "(filter {a -> bool} {vector a})"),
    (
        4,
        "(vector a, vector a)",
        "(partition {a -> bool} {vector a})",
    ),
    (3, "vector a", "((partition {a -> bool} {vector a}).1)"),
    (
        3,
        "vector a",
        "(let ($1 {vector a}) in (permute (rotate {int} (range (length $1))) $1))",
    ),
    (
        2,
        "vector a",
        "(let ($1 {vector a}) in (permute (reverse (range (length $1))) $1))",
    ),
    (
        4,
        "vector a",
        "(let ($1 {vector a}) in \
         (gather (filter (lambda ($2) (and (>= $2 0) (< $2 (length $1)))) {vector i}) $1))",
    ),
    (
        3,
        "vector a",
        "(let ($1 {vector a}) in (slice 0 {@size} (length $1) (concat $1 $1)))",
    ),
    (
        3,
        "vector a",
        "(let ($1 {vector a}) in (slice (- (length $1) 1) -1 -1 $1))",
    ),
    (
        3,
        "vector a",
        "(let ($1 {vector a}) in (slice 0 2 (length $1) $1))",
    ),
    (4, "vector i", "(range {@size i})"),
    (3, "vector i", "(range {@size i} 9)"),
    (2, "vector i", "(range {@size i} 2 11)"),
    (2, "vector int", "(range {@nat} -2 -4)"),
    (1, "vector int64", "(range -3i64 {@size int64})"),
    (6, "i", "(length {vector a})"),
    (
        6,
        "a",
        "(let ($1 {vector a}) in (if (> (length $1) 0) ($1 ! (% {@nat} (length $1))) {a}))",
    ),
    (
        5,
        "vector a",
        "(let ($1 {vector a}) ($2 {vector i}) ($3 (min (length $1) (length $2))) in \
         (scatter {vector a} (slice 0 1 $3 $2) (slice 0 1 $3 $1)))",
    ),
    (
        5,
        "vector a",
        "(let ($1 {vector a}) ($2 {vector i}) ($3 (min (length $1) (length $2))) in \
         (histogram {@comm a} {a} {@size} (slice 0 1 $3 $2) (slice 0 1 $3 $1)))",
    ),
    (
        3,
        "vector a",
        "(let ($1 {vector a}) in (histogram {@comm a} {a} {@size} (imap {int -> int} $1) $1))",
    ),
    (5, "vector a", "(sort {@order a} {vector a})"),
    (
        4,
        "vector (a, b)",
        "(let ($1 {vector a}) ($2 {vector b}) ($3 (min (length $1) (length $2))) in \
         (zip (slice 0 1 $3 $1) (slice 0 1 $3 $2)))",
    ),
    (
        3,
        "vector (a, int)",
        "(let ($1 {vector a}) in (zip $1 (range (length $1))))",
    ),
    (3, "(vector a, vector b)", "(unzip {vector (a, b)})"),
    (
        4,
        "vector a",
        "(let ($1 (concat {vector a} {vector a})) in (slice 0 1 (min 12 (length $1)) $1))",
    ),
    (4, "vector a", "(reverse {vector a})"),
    (5, "vector a", "(replicate {@size} {a})"),
    (4, "vector a", "(rotate {i} {vector a})"),
    (
        4,
        "vector a",
        "(let ($1 {vector a}) in \
         (if (> (length $1) 0) (update $1 (% {@nat} (length $1)) {a}) $1))",
    ),
    (
        4,
        "vector a",
        "(let ($1 {vector a}) ($2 {vector a}) ($3 (min (length $1) (length $2))) in \
         (update_slice $1 (- (length $1) $3) (slice 0 1 $3 $2)))",
    ),
    (
        3,
        "vector a",
        "(let ($1 {vector a}) ($2 (min 2 (length $1))) in \
         (update_slice $1 (- (length $1) $2) (slice 0 1 $2 $1)))",
    ),
    (
        3,
        "vector a",
        "(let ($1 {vector a}) in (foldl (lambda ($2 $3) (update_slice $2 $3 \
         (map {a -> a} (slice 0 1 (- (length $1) $3) $2)))) $1 (range (length $1))))",
    ),
    (
        4,
        "vector a",
        "(let ($1 {vector a}) ($2 {int}) in (iterate 2 (lambda ($3) (tabulate (length $3) (lambda ($4) \
         (if (> $4 $2) ({a -> a} ($3 ! $4)) ($3 ! $4))))) $1))",
    ),
    (
        4,
        "vector a",
        "(let ($1 {vector a}) in (foldl (lambda ($2 $3) (tabulate (length $2) (lambda ($4) \
         (if (= $4 $3) {a | $4:int} ($2 ! $4))))) $1 (range (length $1))))",
    ),
    (
        3,
        "(i, int)",
        "(foldl (lambda (($1, $2) $3) (if {bool | $3:a} ((+ $1 {i | $3:a}), $2) \
         (if {bool | $3:a} ($1, (+ $2 1)) ((- $1 {i | $3:a}), $2)))) ({i}, 0) {vector a})",
    ),
    (
        3,
        "vector a",
        "(let ($1 {vector a}) ($2 (iterate (length $1) (lambda (($3, $4)) \
         ((update $3 (- (- (length $1) 1) $4) ($1 ! $4)), (+ $4 1))) ($1, 0))) in $2.0)",
    ),
    (4, "vector b", "(scanl {b -> a -> b} {b} {vector a})"),
    (3, "vector j", "(count {@size} {vector i})"),
    (4, "vector b", "(imap {int -> b} {vector a})"),
    (5, "vector a", "(tabulate {@size i} {i -> a})"),
    (3, "vector int", "(segments {vector (vector a)})"),
    (
        3,
        "vector (vector a)",
        "(let ($1 {vector (vector a)}) in (unflatten (segments $1) (flatten $1)))",
    ),
    (
        2,
        "vector (vector a)",
        "(let ($1 {vector a}) in (unflatten [0 (length $1) 0] $1))",
    ),
    (
        4,
        "vector a",
        "(let ($1 (flatten {vector (vector a)})) in (slice 0 1 (min 12 (length $1)) $1))",
    ),
    (2, "a", "(trace \"t\" {a})"),
];

/// Operations on arrays.
pub const ARRAYS: &[Row] = &[
    (
        6,
        "vector#2 a",
        "(tabulate ({@nat}, {@nat}) {(int, int) -> a})",
    ),
    (
        5,
        "vector#3 a",
        "(tabulate ({@tiny}, {@tiny}, {@tiny}) {(int, int, int) -> a})",
    ),
    (4, "vector#2 a", "(transpose {vector#2 a})"),
    (
        3,
        "vector#2 a",
        "(let ($1 {vector a}) in (reshape (1, (length $1)) $1))",
    ),
    (
        2,
        "vector#2 a",
        "(let ($1 {vector a}) in (reshape ((length $1), 1) $1))",
    ),
    (1, "vector#2 a", "(reshape (0, {@nat}) ([] : <vector a>))"),
    (
        2,
        "vector#3 a",
        "(let ($1 {vector a}) in (reshape (1, (length $1), 1) $1))",
    ),
    (
        2,
        "vector#2 a",
        "(let ($1 ({vector#2 a} : <vector#2 a>)) ($2 (shape $1)) in (reshape ($2.1, $2.0) $1))",
    ),
    (3, "vector#2 a", "(unrows (replicate {@size} {vector a}))"),
    (3, "vector (vector a)", "(rows {vector#2 a})"),
    (
        4,
        "vector a",
        "(let ($1 (flatten ({vector#2 a} : <vector#2 a>))) in (slice 0 1 (min 12 (length $1)) $1))",
    ),
    (
        2,
        "vector a",
        "(let ($1 (flatten ({vector#3 a} : <vector#3 a>))) in (slice 0 1 (min 12 (length $1)) $1))",
    ),
    (
        4,
        "vector b",
        "(map {vector a -> b} ({vector#2 a} : <vector#2 a>))",
    ),
    (
        2,
        "vector a",
        "(reduce {@assoc vector a} {vector a} ({vector#2 a} : <vector#2 a>))",
    ),
    (
        2,
        "b",
        "(foldl {b -> vector a -> b} {b} ({vector#2 a} : <vector#2 a>))",
    ),
    (2, "int", "(length ({vector#2 a} : <vector#2 a>))"),
    (3, "(int, int)", "(shape ({vector#2 a} : <vector#2 a>))"),
    (
        2,
        "(int, int, int)",
        "(shape ({vector#3 a} : <vector#3 a>))",
    ),
    (
        4,
        "a",
        "(let ($1 ({vector#2 a} : <vector#2 a>)) ($2 (shape $1)) in \
         (if (and (> $2.0 0) (> $2.1 0)) ($1 ! ((% {@nat} $2.0), (% {@nat} $2.1))) {a}))",
    ),
    (
        3,
        "a",
        "(let ($1 ({vector#3 a} : <vector#3 a>)) (($2, $3, $4) (shape $1)) in \
         (if (and (> $2 0) (and (> $3 0) (> $4 0))) \
         ($1 ! ((% {@nat} $2), (% {@nat} $3), (% {@nat} $4))) {a}))",
    ),
    (
        4,
        "vector#2 a",
        "(let ($1 ({vector#2 a} : <vector#2 a>)) ($2 (shape $1)) in \
         (slice ((- $2.0 1), 0) (-1, 2) (-1, $2.1) $1))",
    ),
    (
        3,
        "vector#3 a",
        "(let ($1 ({vector#3 a} : <vector#3 a>)) (($2, $3, $4) (shape $1)) in \
         (slice (0, 0, (- $4 1)) (2, 1, -1) ($2, $3, -1) $1))",
    ),
    (
        4,
        "vector#2 a",
        "(let ($1 ({vector#2 a} : <vector#2 a>)) ($2 (shape $1)) in \
         (if (and (> $2.0 0) (> $2.1 0)) \
         (update $1 ((% {@nat} $2.0), (% {@nat} $2.1)) {a}) $1))",
    ),
    (
        4,
        "vector#2 a",
        "(let ($1 ({vector#2 a} : <vector#2 a>)) ($2 ({vector#2 a} : <vector#2 a>)) \
         (($3, $4) (shape $1)) (($5, $6) (shape $2)) ($7 (min $3 $5)) ($8 (min $4 $6)) in \
         (update_slice $1 ((- $3 $7), (- $4 $8)) (slice (0, 0) (1, 1) ($7, $8) $2)))",
    ),
    (
        4,
        "vector#2 a",
        "(let ($1 ({vector#2 a} : <vector#2 a>)) (($2, $3) (shape $1)) in \
         (foldl (lambda ($4 $5) (tabulate (shape $4) (lambda (($6, $7)) \
         (if (and (> $6 $5) (>= $7 $5)) ({a -> a} ($4 ! ($5, $7))) ($4 ! ($6, $7)))))) $1 (range $2)))",
    ),
    (
        3,
        "vector#2 a",
        "(let ($1 ({vector#2 a} : <vector#2 a>)) (($3, $4) (shape $1)) ($5 (min $3 $4)) in \
         (iterate 2 (lambda ($2) (update_slice $2 (0, 0) \
         (transpose (slice (0, 0) (1, 1) ($5, $5) $2)))) $1))",
    ),
    (
        3,
        "vector#2 b",
        "(let ($1 ({vector#2 a} : <vector#2 a>)) in \
         (tabulate (shape $1) (lambda (($2, $3)) {b | $2:int $3:int})))",
    ),
    (
        3,
        "vector#2 b",
        "(let ($1 ({vector#2 a} : <vector#2 a>)) in \
         (tabulate (shape $1) (lambda (($2, $3)) (let ($4 ($1 ! ($2, $3))) in {b | $2:int $4:a}))))",
    ),
];
