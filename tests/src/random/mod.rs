//! Random well-typed programs.
//!
//! A [`Program`] is NOVA source with one entry, drawn type-first: [`expression`] draws an
//! expression of a type from the productions of [`productions`] that give it. Sizes are small, and
//! loops are bounded. Now and then an input is longer than the blocks of the strict order. Programs
//! may stop with run-time errors, on purpose and by chance.

mod bodies;
mod declared;
mod expression;
mod grids;
pub mod groups;
mod literals;
mod maps;
mod parts;
mod productions;
mod recursion;
mod tables;
mod types;
mod values;
mod walks;

pub use types::Ty;

use std::collections::BTreeMap;

/// A random program and an input for each of its parameters, all as text.
#[derive(Clone, Debug)]
pub struct Program {
    /// The entry's name.
    pub name: String,
    /// `(entry name (inputs) body)`, perhaps after sections of types and definitions.
    pub entry: String,
    /// Values of the inputs as text, in order, one list per run.
    pub inputs: Vec<Vec<String>>,
    /// The expression nodes drawn.
    pub nodes: usize,
    /// The deepest nesting of second-order functions.
    pub nesting: usize,
    /// The number of times that each production was drawn.
    pub used: BTreeMap<&'static str, usize>,
}

/// The sections before the entries: types and definitions that every program may use.
pub const PRELUDE: &str = "(types
  (Maybe 'a : (+ (None : unit) (Some : 'a)))
  (Either 'a 'b : (+ (Left : 'a) (Right : 'b)))
  (Shape : (+ (Circle : float) (Square : (int, int)) (Text : vector uint8) (Empty : unit)))
  (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a)))))
  (Tree 'a : (+ (Leaf : 'a) (Node : ((Tree 'a), (Tree 'a))))))
(define
  (compose (lambda (f g) (lambda (x) (f (g x)))))
  (pair (lambda (a b) (a, b)))
  (first (lambda (d v) (if (> (length v) 0) (v ! 0) d)))
  (or_else (lambda (d m) (case m (None d) (Some x x))))
  (from_vector (lambda (v) (foldl (lambda (l x) (Cons (x, l))) Nil v)))
  (list_length (lambda (l) (case l (Nil 0) (Cons (_, t) (+ 1 (list_length t))))))
  (list_fold (lambda (f z l) (case l (Nil z) (Cons (h, t) (list_fold f (f z h) t)))))
  (tree_fold (lambda (leaf node t)
    (case t (Leaf x (leaf x)) (Node (l, r) (node (tree_fold leaf node l) (tree_fold leaf node r)))))))
";

/// A small generator of pseudo-random numbers (a 64-bit linear congruence with output mixing). A
/// seed gives the same program on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator for a seed.
    pub fn new(seed: u64) -> Self {
        Random(
            seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .wrapping_add(0x1234_5678_9ABC_DEF1),
        )
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        mixed ^ (mixed >> 29)
    }

    /// Returns a number in `0..n`, or 0 for n = 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            0
        } else {
            (self.bits() % n as u64) as usize
        }
    }

    /// True `percent` times in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns a random element.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Draws the program of a seed.
pub fn program(seed: u64) -> Program {
    if recursion::has(seed) {
        return recursion::program(seed);
    }
    if grids::has(seed) {
        return grids::program(seed);
    }
    if maps::has(seed) {
        return maps::program(seed);
    }
    let mut random = Random::new(seed);
    let inputs: Vec<(String, Ty)> = (0..1 + random.below(4))
        .map(|k| (format!("in{k}"), types::input(&mut random)))
        .collect();
    let result = types::any(&mut random, 2);
    let mut draw = expression::Draw::new(random, &inputs);
    let body = draw.body(&result);
    let runs = 3;
    let literals = literals::literals(seed, runs);
    let name = format!("random{seed}");
    let parameters: Vec<String> = inputs
        .iter()
        .chain([&literals.input])
        .map(|(n, t)| format!("({n} : {t})"))
        .collect();
    let entry = format!(
        "(entry {name} ({})\n  (let {}in ({body}, {})))\n",
        parameters.join(" "),
        literals.bindings,
        literals.names.join(", ")
    );
    let values = (0..runs)
        .map(|run| {
            inputs
                .iter()
                .map(|(_, t)| values::value(&mut draw.random, t, run))
                .chain([literals.values[run].clone()])
                .collect()
        })
        .collect();
    for (operator, count) in literals.used {
        *draw.used.entry(operator).or_default() += count;
    }
    Program {
        name,
        entry,
        inputs: values,
        nodes: draw.nodes,
        nesting: draw.deepest,
        used: draw.used,
    }
}
