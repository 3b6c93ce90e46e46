//! Forms of code whose values are the same without them. The classes of programs test the values; these tests tell
//! whether the forms are used.

use nova_driver::{Stage, Target};
use nova_tests::programs::{How, emit};
use std::path::Path;

/// Returns the loops of a program in a file of the project.
fn loops(file: &str, target: Target) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    let text = std::fs::read_to_string(path).expect("the program");
    emit(&text, target, How::usual(false), Stage::Loop)
}

#[test]
fn rows_that_lanes_read_apart_are_gathered() {
    let code = loops("tests/forms/programs/nearest.nova", Target::Sequential);
    assert!(code.contains("(gather_rows "));
}

#[test]
fn threads_compute_convolutions_by_panels() {
    let code = loops(
        "nova-examples/applications/convolution.nova",
        Target::Pthreads,
    );
    // Panels stand in a loop over chunks of pictures, in one over chunks of filters, and outside of both.
    assert_eq!(code.matches("(multiply_panels ").count(), 3);
    assert!(code.contains(" grid "));
}

#[test]
fn pairs_are_sorted_as_words() {
    let text =
        "((X : vector int) (Y : vector int)) (sort (lambda ((a, i) (b, j)) (<= a b)) (zip X Y))";
    for (strict, target) in [(true, Target::Sequential), (false, Target::Pthreads)] {
        let code = emit(text, target, How::usual(strict), Stage::Loop);
        assert!(code.contains("(sort_words "), "{code}");
    }
}

#[test]
fn unsigned_numbers_are_their_own_keys() {
    let text = "((X : vector uint64)) (sort <= X)";
    let code = emit(text, Target::Pthreads, How::usual(true), Stage::Loop);
    let keys = |line: &str| line.contains("(sort_words ") && line.contains(" X_data");
    assert!(code.lines().any(keys), "{code}");
}

/// A dense copy of the keys would only serve the merges of few pairs.
#[test]
fn keys_of_pairs_are_read_where_they_lie() {
    let text = "((X : vector (int, int))) (sort (lambda ((a, _) (b, _)) (<= a b)) X)";
    let code = emit(text, Target::Pthreads, How::usual(true), Stage::Mem);
    assert!(!code.contains("(copy X_data"), "{code}");
}

#[test]
fn survivors_of_filters_are_packed() {
    let text = "((X : vector float)) (filter (lambda (x) (> x 0.5)) X)";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    assert!(code.contains("(local kept"), "{code}");
}
