//! Tests of stencils on devices. Groups copy the data that neighbouring threads read to local
//! memory. Values are those of sequential C to the bit whatever the extents, and other maps read
//! directly.

use nova_driver::{Stage, Target};
use nova_schedule::Parallelism;
use nova_tests::programs::{self, How, compare, integers, list};

/// Options with which tiles of few elements pay.
const SMALL: How = How {
    strict: true,
    parallelism: Some(Parallelism::SMALL),
};

/// The words of the report for stencil tiles.
const IN_TILES: &str = "in work-groups for tiles of";

/// Returns small numbers of either sign, without a pattern.
fn number(k: usize) -> String {
    (((k as u32).wrapping_mul(2_654_435_761) >> 20) as i64 % 19 - 9).to_string()
}

fn matrix(rows: usize, columns: usize) -> String {
    list((0..rows).map(|r| list((0..columns).map(|c| number(r * 31 + c * 7 + r * c)))))
}

fn cube(sheets: usize, rows: usize, columns: usize) -> String {
    let row =
        |k: usize, r: usize| list((0..columns).map(|c| number(k * 97 + r * 31 + c * 7 + r * c)));
    list((0..sheets).map(|k| list((0..rows).map(|r| row(k, r)))))
}

/// Counts the loops of a program that are stencil tiles in the report.
fn stencil_tiles(text: &str, target: Target) -> usize {
    let report = programs::report(text, target, How::usual(false));
    report.matches(IN_TILES).count()
}

const VECTORS: &str = "
(entry three ((X : vector int))
  (let (n (length X)) (at (lambda (i) (X ! (max 0 (min i (- n 1))))))
   in (tabulate n (lambda (i) (+ (+ (at (- i 1)) (* 3 (at i))) (at (+ i 1)))))))
(entry five ((X : vector int))
  (let (n (length X)) (at (lambda (i) (to_double (X ! (min (max i 0) (- n 1))))))
   in (tabulate n (lambda (i)
        (/ (+ (+ (at (- i 2)) (at (- i 1))) (+ (at i) (+ (at (+ i 1)) (at (+ i 2))))) 5.0)))))
; Nothing is clamped where no index is out of range.
(entry inner ((X : vector int))
  (tabulate (max 0 (- (length X) 2))
    (lambda (i) (- (- (X ! i) (* 3 (X ! (+ i 1)))) (X ! (+ i 2))))))
(entry wide ((X : vector int))
  (let (n (to_int64 (length X))) (at (lambda (i) (X ! (max 0i64 (min i (- n 1i64))))))
   in (tabulate (length X) (lambda (i)
        (let (k (to_int64 i)) in (- (- (at (- k 3i64)) (at k)) (at (+ k 4i64))))))))
; Two arrays with elements of different sizes, of which each step makes new ones.
(entry both ((X : vector int))
  (let (n (length X)) (clamp (lambda (i) (max 0 (min i (- n 1)))))
   in (iterate 2
        (lambda (p) (let
             (a (lambda (i) ((p ! (clamp i)) . 0)))
             (b (lambda (i) ((p ! (clamp i)) . 1)))
          in (tabulate n (lambda (i)
               ((- (- (a (- i 1)) (a i)) (a (+ i 1))),
                (/ (+ (b (- i 2)) (+ (b i) (b (+ i 1)))) 3.0))))))
        (map (lambda (x) (x, (to_double x))) X))))
";

const MATRICES: &str = "
(entry means ((A : vector#2 int))
  (let ((h, w) (shape A)) (clamp (lambda (i n) (max 0 (min i (- n 1)))))
       (at (lambda (i j) (A ! ((clamp i h), (clamp j w)))))
       (line (lambda (i j) (- (- (at i (- j 1)) (at i j)) (at i (+ j 1)))))
   in (tabulate (h, w) (lambda ((i, j))
        (/ (to_float (+ (* 3 (- (line (- i 1) j) (line i j))) (line (+ i 1) j))) 9.0f)))))
(entry differences ((A : vector#2 int))
  (let ((h, w) (shape A)) (clamp (lambda (i n) (max 0 (min i (- n 1)))))
       (at (lambda (i j) (A ! ((clamp i h), (clamp j w)))))
       (line (lambda (i j) (- (- (at i (- j 1)) (at i j)) (at i (+ j 2)))))
   in (tabulate (h, w) (lambda ((i, j)) (+ (* 3 (- (line (- i 2) j) (line i j))) (line (- i 1) j))))))
(entry steps ((A : vector#2 int))
  (let ((h, w) (shape A)) (clamp (lambda (i n) (max 0 (min i (- n 1)))))
   in (iterate 2 (lambda (a) (let
        (at (lambda (i j) (a ! ((clamp i h), (clamp j w)))))
        (line (lambda (i j) (- (- (at i (- j 1)) (at i j)) (at i (+ j 1)))))
     in (tabulate (h, w) (lambda ((i, j)) (+ (- (line (- i 1) j) (line i j)) (line (+ i 1) j))))))
     A)))
";

const CUBES: &str = "
((A : vector#3 int))
(let ((d, h, w) (shape A)) (clamp (lambda (i n) (max 0 (min i (- n 1)))))
 in (tabulate (d, h, w) (lambda ((k, i, j))
    (let (b (clamp (- k 1) d)) (u (clamp (+ i 1) h)) (l (clamp (- j 1) w)) (r (clamp (+ j 1) w))
     in (- (- (- (+ (A ! (k, i, l)) (* 2 (A ! (k, i, j)))) (A ! (k, i, r)))
              (- (- (A ! (b, i, l)) (* 3 (A ! (b, i, j)))) (A ! (b, i, r))))
           (- (- (- (A ! (k, u, l)) (* 5 (A ! (k, u, j)))) (A ! (k, u, r))) (* 7 (A ! (b, u, j)))))))))
";

#[test]
fn vectors_are_those_of_sequential_code() {
    assert_eq!(stencil_tiles(VECTORS, Target::Cuda), 6);
    let lengths = [0, 1, 2, 3, 63, 64, 66, 1023, 1024, 1025, 1026, 2500];
    compare(VECTORS, SMALL, &lengths.map(integers));
}

#[test]
fn matrices_are_those_of_sequential_code() {
    assert_eq!(stencil_tiles(MATRICES, Target::OpenCl), 4);
    let shapes = [
        (0, 0),
        (0, 5),
        (5, 0),
        (1, 1),
        (1, 80),
        (80, 1),
        (2, 40),
        (40, 2),
        (33, 65),
        (3, 1024),
        (2, 1500),
    ];
    compare(MATRICES, SMALL, &shapes.map(|(h, w)| matrix(h, w)));
}

#[test]
fn cubes_are_those_of_sequential_code() {
    assert_eq!(stencil_tiles(CUBES, Target::OpenCl), 1);
    let shapes = [
        (0, 1, 2),
        (1, 1, 1),
        (1, 1, 100),
        (100, 1, 1),
        (1, 100, 1),
        (5, 6, 7),
        (3, 20, 30),
        (2, 2, 600),
    ];
    compare(CUBES, SMALL, &shapes.map(|(d, h, w)| cube(d, h, w)));
}

#[test]
fn groups_bring_what_is_worth_it() {
    let text = |body: &str| {
        format!(
            "((X : vector float) (k : int))
             (let (n (length X)) (at (lambda (i) (X ! (max 0 (min i (- n 1))))))
              in (tabulate n (lambda (i) {body})))"
        )
    };
    let three = text("(+ (+ (at (- i 1)) (at i)) (at (+ i 1)))");
    let shared = |line: &&str| line.trim_start().starts_with("(shared ");
    for target in [Target::OpenCl, Target::Cuda] {
        assert_eq!(stencil_tiles(&three, target), 1);
        let loops = programs::emit(&three, target, How::usual(false), Stage::Loop);
        assert_eq!(loops.lines().filter(shared).count(), 1, "{loops}");
        // Too few neighbours, too far away, at an unknown distance, or at the other end.
        for body in [
            "(+ (at (- i 1)) (at (+ i 1)))",
            "(+ (+ (at (- i 1)) (at i)) (at (+ i 9)))",
            "(+ (+ (at (- i 1)) (at i)) (at (+ i k)))",
            "(+ (+ (at (- i 1)) (at i)) (at (- n i)))",
        ] {
            assert_eq!(stencil_tiles(&text(body), target), 0, "{body}");
        }
        // Operations that may fail; rows of which each is read once or twice; columns.
        let cross = "((A : vector#2 float))
            (let ((h, w) (shape A)) (clamp (lambda (i n) (max 0 (min i (- n 1)))))
                 (at (lambda (i j) (A ! ((clamp i h), (clamp j w)))))
             in (tabulate (h, w) (lambda ((i, j))
                  (+ (+ (at (- i 1) j) (at (+ i 1) j)) (+ (at i (- j 1)) (at i (+ j 1)))))))";
        let turned = MATRICES.replace(
            "(tabulate (h, w) (lambda ((i, j))",
            "(tabulate (w, h) (lambda ((j, i))",
        );
        let fails = three.replace("(at i)", "(X ! (/ i k))");
        for text in [cross, &turned, &fails] {
            assert_eq!(stencil_tiles(text, target), 0, "{text}");
        }
    }
    assert_eq!(stencil_tiles(&three, Target::Pthreads), 0);
}

#[test]
fn threads_share_a_loop_as_a_whole() {
    // The first and the last iteration of other loops are split off, since there nothing is
    // clamped.
    let text = "((X : vector float))
        (let (n (length X)) (at (lambda (i) (X ! (max 0 (min i (- n 1))))))
         in (tabulate n (lambda (i) (- (at (+ i 1)) (at (- i 1))))))";
    for target in [Target::OpenCl, Target::Cuda] {
        let loops = programs::emit(text, target, How::usual(false), Stage::Loop);
        let has = |what: &str| {
            loops
                .lines()
                .any(|l| l.contains("(for ") && l.contains(what))
        };
        assert!(has(" X_length_0 grid "), "{loops}");
        assert!(has(" (sub i64 X_length_0 2) sequential "), "{loops}");
    }
}

#[test]
fn the_report_names_the_tiles() {
    let report = programs::report(VECTORS, Target::Cuda, How::usual(false));
    for says in [
        "for tiles of 1024 of them, which bring the neighbours that these read in an array",
        "for tiles of 1024 of them, which bring the neighbours that these read in 2 arrays",
    ] {
        assert!(report.contains(says), "{report}");
    }
}
