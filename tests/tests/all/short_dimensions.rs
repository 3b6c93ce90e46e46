//! Maps over several dimensions of which the first are short: threads share the later ones. Values are those of
//! sequential code for every kind of shape, also where a dimension is empty or nothing is worth a thread.

use nova_driver::Target;
use nova_schedule::Parallelism;
use nova_tests::programs::{Compiled, How};

/// Maps with a check, a sum inside, and two results. Nothing of them can be left out.
const PROGRAM: &str = "
(entry two ((a : int) (b : int) (X : vector int))
  (tabulate (a, b) (lambda (i, j) (- (* i 7) (X ! (& (+ i j) 7))))))
(entry sums ((a : int) (b : int) (X : vector int))
  (tabulate (a, b) (lambda (i, j) (reduce + j (map (lambda (x) (* x (+ i j))) X)))))
(entry three ((a : int) (b : int) (X : vector int))
  (tabulate (a, 3, b) (lambda (i, j, k) (+ (* i 100) (- (* j 10) (X ! (& k 7)))))))
(entry four ((a : int) (b : int) (X : vector int))
  (tabulate (a, 2, 2, b) (lambda (i, j, k, l) (+ (* 5 (+ i j)) (reduce max (* k l) X)))))
(entry pairs ((a : int) (b : int) (X : vector int))
  (tabulate (a, b) (lambda (i, j) ((+ i j), (to_float (X ! (& j 7)))))))
";

/// The first and the last extent of each.
const SHAPES: [(usize, usize); 10] = [
    (0, 5),
    (3, 0),
    (1, 1),
    (1, 70_000),
    (2, 40_001),
    (31, 3_000),
    (31, 12_000),
    (32, 7_000),
    (33, 100),
    (400, 30),
];

#[track_caller]
fn compare(how: How) {
    let sequential = Compiled::new(PROGRAM, Target::Sequential, How::usual(how.strict));
    let threads = Compiled::new(PROGRAM, Target::Pthreads, how);
    // One region for chunks of the first dimension, and at least one for those of a row.
    let entries = sequential.checked.program.entries.len();
    assert!(threads.count("nova_parallel(context") >= 3 * entries);
    for (a, b) in SHAPES {
        for (elements, fails) in [("[5 -3 8 0 1 9 2 4]", false), ("[5 -3 8]", true)] {
            let inputs = [a.to_string(), b.to_string(), elements.to_string()];
            for entry in 0..entries {
                match (
                    sequential.call(entry, &inputs),
                    threads.call(entry, &inputs),
                ) {
                    (Ok(expected), Ok(value)) => {
                        assert!(value.same(&expected), "entry {entry}, {a} by {b}");
                    }
                    (Err(expected), Err(error)) => {
                        assert!(fails, "{expected}");
                        assert_eq!(error.to_string(), expected.to_string());
                    }
                    (expected, value) => panic!("{a} by {b}: {value:?}, not {expected:?}"),
                }
            }
        }
    }
}

#[test]
fn rows_are_shared_as_usual() {
    compare(How::usual(false));
}

#[test]
fn rows_are_shared_in_small_chunks() {
    compare(How {
        strict: true,
        parallelism: Some(Parallelism::SMALL),
    });
}
