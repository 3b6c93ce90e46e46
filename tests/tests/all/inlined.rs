//! Tests that functions called by array operations and loops are inlined, unless they are very
//! long. A call for each element would keep its checks, and prevent lanes.

use nova_driver::{Stage, Target};
use nova_tests::programs::{How, emit};

/// Forms in which a function of two numbers is called twice, for each element or iteration.
const REPEATED: [&str; 10] = [
    "(map (lambda (x) (+ (f x 1.5) (f 2.5 x))) X)",
    "(tabulate (length X) (lambda (i) (- (f (X ! i) 1.5) (f 2.5 (X ! (- (length X) (+ 1 i)))))))",
    "(reduce (lambda (a b) (max (f a b) (f b a))) 0.0 X)",
    "(scan (lambda (a b) (max (f a b) (f b a))) 0.0 X)",
    "(foldl (lambda (a x) (- (f a x) (f x a))) 1.0 X)",
    "(filter (lambda (x) (> (f x 1.5) (f 1.5 x))) X)",
    "(iterate (length X) (lambda (a) (- (f a 1.5) (f 2.5 a))) 1.0)",
    "(while (lambda (a) (> (f a 1.0) 0.5)) (lambda (a) (f a 2.0)) 100.0)",
    "(histogram (lambda (a b) (+ (f a b) (f b a))) 0.0 5 (map floor_to (map (* 2.0) X)) X)",
    "(map (lambda (x) (reduce + 0.0 (map (lambda (y) (+ (f x y) (f y x))) X))) X)",
];

/// Returns a function of this many operations, of which none can be left out.
fn function(length: usize) -> String {
    let steps = (1..length).map(|n| {
        let other = ["x", "y"][n % 2];
        format!("(a{n} (+ {other} (* a{} {n}.5)))", n - 1)
    });
    let steps: String = steps.collect();
    format!(
        "(f (lambda (x y) (let (a0 x) {steps} in a{})))
         (floor_to (lambda (x) (to_int (max 0.0 (min 9.0 x)))))",
        length - 1
    )
}

/// True if a program calls `f`.
fn calls(length: usize, value: &str) -> bool {
    let text = format!("(define {}) ((X : vector float)) {value}", function(length));
    let flat = emit(&text, Target::Sequential, How::usual(true), Stage::Flat);
    flat.contains("(call \"f\"")
}

#[test]
fn loops_call_no_short_functions() {
    for value in REPEATED {
        for length in [4, 40, 100] {
            assert!(!calls(length, value), "{length} operations: {value}");
        }
    }
}

/// Tests that elsewhere a function of that length is not inlined, and a very long one nowhere.
#[test]
fn long_functions_stay_functions() {
    let once_each = "((f 1.5 (reduce + 0.0 X)), (f (reduce max 0.0 X) 2.5))";
    assert!(!calls(20, once_each));
    assert!(calls(100, once_each));
    for value in REPEATED {
        assert!(calls(400, value), "{value}");
    }
}
