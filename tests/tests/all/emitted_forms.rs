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
fn survivors_of_filters_are_packed() {
    let text = "((X : vector float)) (filter (lambda (x) (> x 0.5)) X)";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    assert!(code.contains("(local kept"), "{code}");
}

#[test]
fn loops_over_rotations_are_split() {
    let text = "((X : vector uint8)) (map ^ X (map ^ (rotate (-1) X) (rotate 1 X)))";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    // A loop over what is left between the ends.
    assert!(code.contains("(sub i64 X_length_0 2)"), "{code}");
}

#[test]
fn windows_that_are_reduced_are_not_stored() {
    let text =
        "((k : int) (X : vector float)) (import \"std/vectors\") (map maximum (windows k X))";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    assert!(!code.contains("(allocate "), "{code}");
}

#[test]
fn bounds_that_have_left_a_loop_are_known_inside_of_it() {
    let text = "((n : int) (X : vector float))
        (iterate n (lambda (X) (let (m (length X)) in (tabulate m (lambda (i)
          (if (and (< 0 i) (< i (- m 1))) (+ (X ! (- i 1)) (X ! (+ i 1))) (X ! i)))))) X)";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    // A loop over what is left between the ends.
    assert!(code.contains("(sub i64 X_length_1 2) sequential"), "{code}");
}
