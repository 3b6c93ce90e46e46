//! Functions: definitions of every file, forms that are functions, and operators for reductions.

use crate::conformance::templates::Row;

/// Definitions: some are polymorphic, some call each other, some call themselves.
pub const DEFINITIONS: &str = "(define
  (cap (lambda (k v) (slice 0 1 (min k (length v)) v)))
  (at (lambda (i d v) (let (n (length v)) in
    (if (= n 0) d (v ! (let (m (% i n)) in (if (< m 0) (+ m n) m)))))))
  (twice (lambda (f x) (f (f x))))
  (flip (lambda (f x y) (f y x)))
  (compose (lambda (f g) (lambda (x) (f (g x)))))
  (pair (lambda (x y) (x, y)))
  (apply_pair (lambda (f (x, y)) (f x y)))
  (or_else (lambda (d o) (case o (Nope d) (Just x x))))
  (and_then (lambda (f o) (case o (Nope Nope) (Just x (f x)))))
  (first_that (lambda (p v) (foldl (lambda (o x) (case o (Nope (if (p x) (Just x) Nope)) (_ o))) Nope v)))
  (list_from (lambda (v) (foldl (lambda (l x) (Link (x, l))) End v)))
  (list_fold (lambda (f z l) (case l (End z) (Link (h, t) (list_fold f (f z h) t)))))
  (list_map (lambda (f l) (case l (End End) (Link (h, t) (Link ((f h), (list_map f t)))))))
  (list_length (lambda (l) (list_fold (lambda (n _) (+ n 1)) 0 l)))
  (list_take (lambda (n l) (if (<= n 0) End (case l (End End) (Link (h, t) (Link (h, (list_take (- n 1) t))))))))
  (list_elements (lambda (n d l) (unzip_first (scan (lambda (p q) p) (d, l) (replicate n (d, l))))))
  (unzip_first (lambda (v) (map (lambda ((d, l)) (case l (End d) (Link (h, _) h))) v)))
  (tree_full (lambda (n x) (if (<= n 0) Tip (Fork ((tree_full (- n 1) x), x, (tree_full (- n 2) x))))))
  (tree_fold (lambda (f z t) (case t (Tip z) (Fork (l, x, r) (f (tree_fold f z l) x (tree_fold f z r))))))
  (tree_map (lambda (f t) (case t (Tip Tip) (Fork (l, x, r) (Fork ((tree_map f l), (f x), (tree_map f r)))))))
  (even_steps (lambda (n) (if (<= n 0) 1 (odd_steps (- n 1)))))
  (odd_steps (lambda (n) (if (<= n 0) 0 (even_steps (- n 1))))))
";

/// Functions that are no lambdas: built-ins, partial applications, choices.
pub const FUNCTIONS: &[Row] = &[
    (6, "n -> n", "(+ {n})"),
    (5, "n -> n", "(- {n})"),
    (4, "n -> n", "(* {n})"),
    (3, "n -> n", "(min {n})"),
    (3, "n -> n", "(max {@lit n})"),
    (3, "n -> n", "neg"),
    (3, "n -> n", "abs"),
    (3, "i -> i", "~"),
    (1, "i -> i", "popcount"),
    (3, "i -> i", "(^ {i})"),
    (3, "i -> i", "(& {@lit i})"),
    (2, "bool -> bool", "not"),
    (2, "bool -> bool", "(and {bool})"),
    (4, "n -> bool", "(< {n})"),
    (3, "n -> bool", "(>= {@lit n})"),
    (2, "n -> bool", "(= {n})"),
    (4, "n -> n -> n", "+"),
    (4, "n -> n -> n", "-"),
    (3, "n -> n -> n", "*"),
    (3, "n -> n -> n", "min"),
    (3, "i -> i -> i", "&"),
    (3, "i -> i -> i", "^"),
    (2, "bool -> bool -> bool", "or"),
    (2, "bool -> bool -> bool", "="),
    (3, "n -> n -> bool", "<="),
    (2, "n -> n -> bool", "="),
    (2, "i -> int64", "wrap_int64"),
    (2, "i -> uint8", "wrap_uint8"),
    (2, "i -> int", "wrap_int"),
    (2, "n -> double", "to_double"),
    (2, "n -> float", "to_float"),
    (1, "x -> x", "sqrt"),
    (1, "x -> x", "floor"),
    (4, "a -> (Opt a)", "Just"),
    (3, "a -> (Which a b)", "This"),
    (3, "b -> (Which a b)", "That"),
    (3, "(a, (Seq a)) -> (Seq a)", "Link"),
    (4, "a -> b -> (a, b)", "pair"),
    (3, "(a, b) -> c", "(apply_pair {a -> b -> c})"),
    (3, "a -> b", "(compose {c -> b} {a -> c})"),
    (3, "a -> a", "(twice {a -> a})"),
    (3, "a -> b -> c", "(flip {b -> a -> c})"),
    (3, "a -> b", "(if {bool} {a -> b} {a -> b})"),
    (2, "a -> b", "(flip {a -> c -> b} {c})"),
    (
        3,
        "a -> b",
        "(let ($1 {c}) in (lambda (($2 : <a>)) {b | $1:c $2:a}))",
    ),
    (4, "vector a -> vector b", "(map {a -> b})"),
    (3, "vector a -> vector a", "(filter {a -> bool})"),
    (2, "vector a -> vector a", "reverse"),
    (2, "vector a -> vector a", "(rotate {int})"),
    (2, "vector a -> vector a", "(cap 5)"),
    (4, "vector a -> a", "(reduce {@assoc a} {a})"),
    (3, "vector a -> b", "(foldl {b -> a -> b} {b})"),
    (2, "vector a -> vector a", "(scan {@assoc a} {a})"),
    (2, "vector a -> i", "length"),
    (2, "vector a -> a", "(at {int} {a})"),
    (2, "(Opt a) -> a", "(or_else {a})"),
    (2, "(Seq a) -> b", "(list_fold {b -> a -> b} {b})"),
];

/// Associative functions of two that commute, too, by the type of one.
pub const COMMUTATIVE: &[Row] = &[
    (6, "n", "+"),
    (4, "n", "*"),
    (4, "n", "min"),
    (4, "n", "max"),
    (3, "i", "&"),
    (3, "i", "|"),
    (3, "i", "^"),
    (3, "n", "(lambda ($1 $2) (+ $2 $1))"),
    (3, "n", "(lambda ($1 $2) (+ $1 $2))"),
    (3, "i", "(lambda ($1 $2) (if (<= $1 $2) $2 $1))"),
    (3, "i", "(lambda ($1 $2) (- $1 (neg $2)))"),
    (2, "i", "(lambda ($1 $2) (+ (* $1 $2) (+ $1 $2)))"),
    (3, "bool", "and"),
    (3, "bool", "or"),
    (3, "bool", "="),
    (3, "bool", "~="),
    (3, "unit", "(lambda ($1 $2) $1)"),
    (
        6,
        "(a, b)",
        "(lambda (($1, $2) ($3, $4)) (({@comm a} $1 $3), ({@comm b} $2 $4)))",
    ),
    (
        4,
        "(a, b, c)",
        "(lambda ($1 $2) (({@comm a} $1.0 $2.0), ({@comm b} $1.1 $2.1), ({@comm c} $1.2 $2.2)))",
    ),
    (
        4,
        "vector a",
        "(lambda ($1 $2) (let ($3 (min (length $1) (length $2))) in \
         (map {@comm a} (slice 0 1 $3 $1) (slice 0 1 $3 $2))))",
    ),
    (
        3,
        "(Opt a)",
        "(lambda ($1 $2) (case $1 (Nope $2) (Just $3 (case $2 (Nope $1) \
         (Just $4 (Just ({@comm a} $3 $4)))))))",
    ),
];

/// Associative functions of two that need not commute.
pub const ASSOCIATIVE: &[Row] = &[
    (2, "a", "(lambda ($1 $2) $1)"),
    (3, "a", "(lambda ($1 $2) $2)"),
    (
        4,
        "(i, i)",
        "(lambda (($1, $2) ($3, $4)) ((* $1 $3), (+ (* $2 $3) $4)))",
    ),
    (
        4,
        "vector a",
        "(lambda ($1 $2) (let ($3 (concat $1 $2)) in (slice 0 1 (min 6 (length $3)) $3)))",
    ),
    (3, "(Opt a)", "(lambda ($1 $2) (case $1 (Nope $2) (_ $1)))"),
    (
        3,
        "(a, b)",
        "(lambda (($1, $2) ($3, $4)) (({@assoc a} $1 $3), ({@assoc b} $2 $4)))",
    ),
    (3, "(bool, a)", "(lambda ($1 $2) (if $2.0 then $2 else $1))"),
];

/// Total preorders, by the type of the compared values.
pub const ORDERS: &[Row] = &[
    (6, "i", "<="),
    (6, "i", ">="),
    (3, "i", "(lambda ($1 $2) (<= $1 $2))"),
    (3, "i", "(lambda ($1 $2) (<= (& $1 3) (& $2 3)))"),
    (2, "i", "(lambda ($1 $2) (not (< $1 $2)))"),
    (4, "bool", "(lambda ($1 $2) (or (not $1) $2))"),
    (2, "a", "(lambda ($1 $2) true)"),
    (
        4,
        "vector a",
        "(lambda ($1 $2) (<= (length $1) (length $2)))",
    ),
    (4, "(a, b)", "(lambda (($1, _) ($2, _)) ({@order a} $1 $2))"),
    (
        4,
        "(i, j)",
        "(lambda ($1 $2) (if (= $1.0 $2.0) (>= $1.1 $2.1) (< $1.0 $2.0)))",
    ),
];
