//! Tests of operations over constant extents: none, one and two indices, in each operation, on
//! every target, at every level and without several passes, with every verifier on. Numbers of
//! chunks, remainders, and sizes of branches that never run are then constants, which no pass may
//! turn into extents below 0.

use nova_tests::effort;
use nova_tests::stages::{How, Outcome, Passes, Stages, disagreement};

/// The vectors of the operations: of `N` numbers, of `N` rows of `M`, and of `N` rows of which only
/// the length of the first is known.
const DATA: &str = "(v (map (lambda (i) (* (+ i k) 3)) (range N)))
  (f (map to_float v))
  (r (map (lambda (j) (map (lambda (i) (- (* i k) j)) (range M))) (range N)))
  (u (map (lambda (j) (filter (lambda (i) (> i j)) (range M))) (range N)))
  (m (tabulate (N, M) (lambda (i, j) (+ k (- i j)))))";

/// Operations, of which each is tried alone.
const OPERATIONS: &[&str] = &[
    "(reduce + k v)",
    "(reduce (lambda (a b) (- a b)) k v)",
    "(reduce + 0.5 f)",
    "(reduce max k v)",
    "(scan + k v)",
    "(exscan + 0.5 f)",
    "(scan (lambda (a b) (if (> a b) a b)) k v)",
    "(foldl (lambda (a x) (- (* a 3) x)) k v)",
    "(filter (lambda (x) (> x k)) v)",
    "(length (filter (lambda (x) (> x k)) v))",
    "(partition (lambda (x) (> x k)) v)",
    "(histogram + 0 M (map (lambda (x) (& x 3)) v) v)",
    "(histogram (lambda (a b) (if (<= a b) b a)) 0.5 M (map (lambda (x) (& x 3)) v) f)",
    "(histogram + 1 5 (map (lambda (q) (- (& q 7) 1)) (map (reduce min k) r)) v)",
    "(histogram concat [k] 3 (map (lambda (x) (& x 1)) v) r)",
    "(sort <= v)",
    "(sort (lambda (a b) (>= (- a k) (- b k))) v)",
    "(permute (reverse (range N)) v)",
    "(scatter (replicate 3 k) (map (lambda (x) (& x 3)) v) v)",
    "(update (concat v [k]) 0 7)",
    "(rotate k v)",
    "(slice 0 1 (- N 1) v)",
    "(slice 1 2 N v)",
    "(range (- N 1))",
    "(replicate N r)",
    "(concat (reverse v) (slice 0 1 M (range 3)))",
    "(map (reduce + 0) r)",
    "(map (reduce + 0) u)",
    "(map (scan + 0) r)",
    "(map (filter (lambda (x) (> x 0))) r)",
    "(map (filter (lambda (x) (> x 0))) u)",
    "(map (sort <=) u)",
    "(map (lambda (x) (histogram + 0 M x x)) r)",
    "(map (lambda (x) (map (lambda (y) (reduce + y x)) v)) r)",
    "(foldl (lambda (a x) (map + a x)) (replicate M 0) r)",
    "(iterate N (lambda (x) (map (+ 1) x)) v)",
    "(reduce (lambda (a b) (map + a b)) (replicate M 0) r)",
    "(flatten u)",
    "(segments u)",
    "(unflatten (map length u) (flatten u))",
    "(tabulate (N, M, 2) (lambda (a, b, c) (+ a (+ b (+ c k)))))",
    "(map (reduce + 0) (rows (transpose m)))",
    "(reduce + 0 (flatten m))",
    "(join (map_workgroup (map_local (+ k)) (split (max 1 M) (replicate (* N (max 1 M)) k))))",
    "(map_global (lambda (x) (reduce_seq + 0 x)) r)",
];

#[test]
fn no_pass_makes_extents_below_zero_of_constants() {
    let mut combinations = Passes::combinations(40);
    combinations.retain(|passes| !matches!(passes, Passes::Without(_)));
    combinations.extend([Passes::Threads(2), Passes::Threads(1), Passes::Kernels(1)]);
    let mut wrong = Vec::new();
    for (at, operation) in OPERATIONS.iter().enumerate() {
        for (n, m) in (0..3).flat_map(|n| (0..3).map(move |m| (n, m))) {
            let body = format!("(let {DATA} in {operation})");
            let body = body
                .replace('N', &n.to_string())
                .replace('M', &m.to_string());
            let text = format!("((k : int))\n{body}");
            // Each program is tried in a quarter of the ways, or for each change in a sixteenth.
            let share = if effort::all() { 4 } else { 16 };
            let ways = combinations.iter().enumerate();
            for (_, passes) in ways.filter(|(way, _)| (way + at + 3 * n + m) % share == 0) {
                let how = How::strict(*passes);
                let why = match Stages::compile("extents", &text, how) {
                    Ok(stages) => {
                        let k = nova_tests::inputs::read(&stages.core, 0, &["2"]);
                        disagreement(&stages.evaluate(0, &k))
                    }
                    Err(why) => Some(why),
                };
                wrong.extend(why.map(|why| format!("{passes}: N={n} M={m} {operation}: {why}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs with a check that always fails, of lengths that the compiler knows, and arrays behind it that
/// have these lengths.
const FAILING: &[&str] = &[
    "(let (M (unrows [[1 2 3] [4 5 6] [7 8]]))
      in (iterate 2 (lambda (v) (tabulate (shape v) (lambda ((i, j)) (if (> i 0) 7 (v ! (i, j)))))) M))",
    "(let (M (reshape (3, 3) [1 2 3 4 5 6 7 8]))
      in (iterate 2 (lambda (v) (tabulate (shape v) (lambda ((i, j)) (if (> i 0) 7 (v ! (i, j)))))) M))",
    "(let (M (unrows [[1 2 3] [4]]))
      in (iterate 2 (lambda (v) (update v (1, 2) 7)) M))",
    "(let (M (reshape (4, 2) (range 7)))
      in (iterate 2 (lambda (v) (update v (3, 1) 7)) M))",
];

#[test]
fn what_follows_a_check_that_always_fails_is_verified() {
    let passes = Passes::combinations(0).into_iter();
    for passes in passes.filter(|passes| !matches!(passes, Passes::Several(_))) {
        for text in FAILING {
            let how = How::strict(passes);
            let program = format!("(entry e () {text})");
            let stages = Stages::compile("failing", &program, how);
            let stages = stages.unwrap_or_else(|why| panic!("{text} ({passes}): {why}"));
            let outcomes = stages.evaluate(0, &[]);
            assert!(matches!(outcomes[0].1, Outcome::Error(_)), "{text}");
            assert_eq!(disagreement(&outcomes), None, "{text} ({passes})");
        }
    }
}

#[test]
fn elements_that_nothing_has_written_are_not_read() {
    // Scatters by several threads begin with claims without contents. Without reuse they are copied.
    let text = "((X : vector int) (I : vector int) (V : vector int)) (scatter X I V)";
    let several = (0..1000).map(Passes::Several);
    let chosen = several.filter(|passes| {
        let flags = passes.to_string();
        let target = ["--target opencl", "--target pthreads"];
        flags.contains("--no-reuse") && target.iter().any(|target| flags.contains(target))
    });
    for passes in chosen.take(12) {
        let how = How::strict(passes);
        let stages = Stages::compile("scatter", text, how).expect("a program");
        let inputs = ["[1 2 3 4 5]", "[3 -1 0 3 7]", "[10 20 30 40 50]"];
        let inputs = nova_tests::inputs::read(&stages.core, 0, &inputs);
        assert_eq!(disagreement(&stages.evaluate(0, &inputs)), None, "{passes}");
    }
}
