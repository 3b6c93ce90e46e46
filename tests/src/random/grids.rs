//! Programs of arrays of two to four dimensions and of rows of rows. They have tabulates whose
//! extents are equal or not, given or those of an input, with conditions on indices and reads of
//! neighbours. They also have filters in rows of rows. Their loops write at offsets that are sums
//! of products of extents. Among programs that are drawn freely they are rare.

use super::{Program, Random};

/// The names of the indices.
const INDICES: [&str; 4] = ["i", "j", "k", "h"];
/// The extents of tabulates: each of three or four numbers.
const SHAPES: &[&[&str]] = &[
    &["n", "m", "l"],
    &["n", "n", "n"],
    &["n", "m", "n"],
    &["n", "n", "m"],
    &["m", "l", "l"],
    &["n", "3", "l"],
    &["2", "m", "l"],
    &["n", "m", "1"],
    &["a", "b", "c"],
    &["n", "m", "l", "2"],
    &["n", "n", "n", "n"],
    &["n", "m", "n", "m"],
    &["2", "n", "m", "l"],
    &["c", "b", "a", "n"],
];
/// Conditions on the indices of any array.
const CONDITIONS: &[&str] = &[
    "(= j 0)",
    "(= i 0)",
    "(< j k)",
    "(= (% i 2) 0)",
    "(and (> i 0) (< k 3))",
    "(or (= i j) (= j k))",
    "(> (+ i j) k)",
];
/// Values of an index of any array. `z` is a number from the enclosing scope.
const VALUES: &[&str] = &[
    "(+ i (* 2 j))",
    "(- (* 7 i) (+ j k))",
    "(* z (+ k 1))",
    "(+ z (* i (* j k)))",
    "(max i (min j k))",
    "(^ (<< i 1) (+ j z))",
];
/// Reads of the input `A` with extents `a`, `b` and `c`, where the indices are those of `A`.
const READS: &[&str] = &[
    "(A ! (i, j, k))",
    "(if (= i 0) z (A ! ((- i 1), j, k)))",
    "(if (< k (- c 1)) (A ! (i, j, (+ k 1))) (A ! (i, j, k)))",
    "(A ! ((max 0 (- i 1)), j, k))",
    "(A ! (i, (min (- b 1) (+ j 1)), k))",
    "(A ! ((if (= i 0) (- a 1) (- i 1)), j, (if (= k (- c 1)) 0 (+ k 1))))",
    "(if (and (> j 0) (> k 0)) (- (A ! (i, j, k)) (A ! (i, (- j 1), (- k 1)))) z)",
];
/// Reads for two dimensions, of the input `M`.
const PLANES: &[&str] = &[
    "(if (= j 0) z (+ (M ! (i, j)) (M ! (i, (- j 1)))))",
    "(if (and (> i 0) (< j (- q 1))) (- (M ! ((- i 1), j)) (M ! (i, (+ j 1)))) (M ! (i, j)))",
    "(+ (M ! ((max 0 (- i 1)), j)) (M ! (i, (min (- q 1) (+ j 1)))))",
    "(M ! ((if (= i 0) (- p 1) (- i 1)), (if (= j (- q 1)) 0 (+ j 1))))",
    "(if (< i j) (M ! (i, j)) (* z (M ! (i, j))))",
];
/// Operations on rows of rows `X` and on rows `R`.
const ROWS: &[&str] = &[
    "(map (map (filter (lambda (x) (> x z)))) X)",
    "(map (map (lambda (r) (filter (lambda (x) (> x (length r))) r))) X)",
    "(map (lambda (r) (map (lambda (y) (filter (lambda (x) (> x y)) r)) [1 2 3])) R)",
    "(map (lambda (r) (filter (lambda (x) (< x z)) (scan + 0 r))) R)",
    "(map (map (lambda (r) (reduce + z (filter (lambda (x) (> x 0)) r)))) X)",
    "(map (filter (lambda (r) (> (length r) 1))) X)",
    "(map (partition (lambda (x) (> x z))) R)",
    "(map (map (lambda (r) (scan max z (filter (lambda (x) (~= x 0)) r)))) X)",
    "(map (map (map (lambda (x) (- x z)))) X)",
    "(map (lambda (r) (map (lambda (x) (range (& x 3))) (filter (lambda (x) (> x 0)) r))) R)",
];

/// Programs of seeds from here on are all of this kind, for tests of many of them.
const ALL_FROM: u64 = 1_000_000_000;

/// True if the program of a seed is one of these.
pub(super) fn has(seed: u64) -> bool {
    seed >= ALL_FROM || matches!(seed % 32, 11 | 27)
}

/// Draws the program of a seed.
pub(super) fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let count = 1 + random.below(3);
    let results: Vec<String> = (0..count).map(|_| result(&mut random)).collect();
    let value = match &results[..] {
        [one] => one.clone(),
        several => format!("({})", several.join(",\n    ")),
    };
    let name = format!("random{seed}");
    let entry = format!(
        "(entry {name} ((n : int) (m : int) (l : int) (z : int) (A : vector#3 int)\n    \
         (M : vector#2 int) (R : vector (vector int)) (X : vector (vector (vector int))))\n  \
         (let ((a, b, c) (shape A)) ((p, q) (shape M)) in\n    {value}))\n"
    );
    Program {
        name,
        entry,
        inputs: (0..3).map(|run| inputs(&mut random, run)).collect(),
        nodes: 12 * count,
        nesting: 1,
        used: [("tabulate n-D", 1)].into(),
    }
}

fn result(random: &mut Random) -> String {
    match random.below(10) {
        0..=3 => {
            let shape = *random.pick(SHAPES);
            let body = value(random);
            tabulate(random, &shape.join(", "), shape.len(), body)
        }
        4..=5 => {
            let read = random.pick(READS).to_string();
            let body = combined(random, read);
            let shape = *random.pick(&["a, b, c", "a, b, c, 2"]);
            tabulate(random, shape, 3, body)
        }
        6 => {
            let body = random.pick(PLANES).to_string();
            tabulate(random, "p, q", 2, body)
        }
        _ => random.pick(ROWS).to_string(),
    }
}

/// Draws a value at the indices of an array of three dimensions or more.
fn value(random: &mut Random) -> String {
    let one = random.pick(VALUES).to_string();
    if random.chance(40) {
        return one;
    }
    let condition = *random.pick(CONDITIONS);
    let other = match random.chance(40) {
        true => "(if (and (< i a) (and (< j b) (< k c))) (A ! (i, j, k)) z)",
        false => *random.pick(VALUES),
    };
    format!("(if {condition} {one} {other})")
}

/// Draws an expression of a read, alone or with another operand.
fn combined(random: &mut Random, read: String) -> String {
    match random.below(3) {
        0 => read,
        1 => format!("(+ {read} {})", random.pick(READS)),
        _ => format!(
            "(if {} {read} {})",
            random.pick(CONDITIONS),
            random.pick(VALUES)
        ),
    }
}

/// Draws a tabulate, and now and then an operation on its result.
fn tabulate(random: &mut Random, shape: &str, rank: usize, body: String) -> String {
    let rank = rank.max(shape.split(", ").count());
    let indices = INDICES[..rank].join(", ");
    let body = match random.below(8) {
        0 => format!("({body}, (to_double i))"),
        1 => format!("(to_double {body})"),
        _ => body,
    };
    let made = format!("(tabulate ({shape}) (lambda ({indices}) {body}))");
    match random.below(6) {
        0 => format!("(flatten {made})"),
        1 if rank == 2 => format!("(transpose {made})"),
        _ => made,
    }
}

/// Draws inputs as text: small and often empty in run 1, longer in run 2.
fn inputs(random: &mut Random, run: usize) -> Vec<String> {
    let most = [4, 2, 7][run % 3];
    let number = |random: &mut Random| random.below(most).to_string();
    let extents: Vec<String> = (0..3).map(|_| number(random)).collect();
    let z = (random.below(9) as i64 - 3).to_string();
    let (a, b, c) = (
        random.below(most),
        random.below(most),
        random.below(most + 12 * (run % 3)),
    );
    let cube = array(random, a, &|random| {
        array(random, b, &|random| array(random, c, &scalar))
    });
    let (p, q) = (random.below(3 * most), random.below(3 * most));
    let plane = array(random, p, &|random| array(random, q, &scalar));
    let row = move |random: &mut Random| {
        let long = run == 2 && random.chance(10);
        let length = random.below(if long { 200 } else { 2 * most });
        array(random, length, &scalar)
    };
    let rows = |random: &mut Random| {
        let count = random.below(most + 1);
        array(random, count, &row)
    };
    let outer = random.below(3 * most);
    let few = array(random, outer, &row);
    let outer = random.below(2 * most);
    let nested = array(random, outer, &rows);
    let mut found = extents;
    found.extend([z, cube, plane, few, nested]);
    found
}

fn scalar(random: &mut Random) -> String {
    (random.below(24) as i64 - 8).to_string()
}

fn array(random: &mut Random, count: usize, element: &dyn Fn(&mut Random) -> String) -> String {
    let elements: Vec<String> = (0..count).map(|_| element(random)).collect();
    format!("[{}]", elements.join(" "))
}
