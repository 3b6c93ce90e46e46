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
    assert!(!code.contains("(copy X_data_e0_1)"), "{code}");
}

#[test]
fn survivors_of_filters_are_packed() {
    let text = "((X : vector float)) (filter (lambda (x) (> x 0.5)) X)";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    assert!(code.contains("(local kept"), "{code}");
}

#[test]
fn threads_share_histograms_whose_start_changes_nothing() {
    let parallel = |start: &str| {
        let text = format!(
            "((I : vector int) (X : vector uint8)) \
             (histogram (lambda (a b) (wrap_uint8 (min 255 (+ (to_int a) (to_int b))))) ({start} : uint8) 9 I X)"
        );
        let code = emit(&text, Target::Pthreads, How::usual(false), Stage::Loop);
        code.contains(" grid ")
    };
    assert!(parallel("0"));
    assert!(!parallel("7"));
}

#[test]
fn steps_of_rows_are_taken_in_place() {
    let code = loops("tests/forms/programs/routes.nova", Target::Sequential);
    // Each of the four forms has a loop over blocks of steps, and one over the steps that are left.
    assert_eq!(code.matches("(for block").count(), 8, "{code}");
}

#[test]
fn mapped_rows_keep_their_length_in_loops() {
    let code = loops("tests/forms/programs/heat.nova", Target::Sequential);
    let rows = code
        .split("(function \"by_rows\"")
        .nth(1)
        .expect("the form");
    // The version for a matrix with rows checks nothing in its steps.
    let steps = rows.split("(for i_").nth(1).expect("a loop of steps");
    assert!(!steps.contains("(check"), "{steps}");
}

#[test]
fn results_of_versions_are_made_where_they_are_given() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/forms/programs");
    for (file, condition) in [("smooth", "X_length <= 536870912,"), ("centred", "row")] {
        let text = std::fs::read_to_string(path.join(file).with_extension("nova"));
        let text = text.expect("the program");
        let code = emit(&text, Target::Sequential, How::usual(false), Stage::C);
        let calls = code.split("nova_make_result(context").skip(1);
        let found = calls.filter(|call| {
            call.split(';')
                .next()
                .is_some_and(|c| c.contains(condition))
        });
        assert!(found.count() > 0, "{file}\n{code}");
    }
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

#[test]
fn padded_vectors_are_not_stored() {
    let text = "((X : vector float))
        (let (n (length X)) (P (concat [(X ! 0) (X ! 0)] (concat X [0.0])))
          in (tabulate n (lambda (i) (+ (P ! i) (+ (P ! (+ i 1)) (P ! (+ i 3)))))))";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    assert!(!code.contains("(allocate "), "{code}");
    // A loop over what is left between the ends.
    assert!(code.contains("(sub i64 X_length_0 3)"), "{code}");
}

#[test]
fn matrices_in_vectors_have_rows_in_nested_loops() {
    let text = "((d : int) (P : vector float) (C : vector float))
        (map (lambda (i) (reduce min 1.0e30 (map (lambda (j) (reduce + 0.0 (map (lambda (l)
            (let (x (- (P ! (+ (* i d) l)) (C ! (+ (* j d) l)))) in (* x x))) (range d))))
          (range (/ (length C) d)))))
        (range (/ (length P) d)))";
    let code = emit(text, Target::Sequential, How::usual(false), Stage::Loop);
    // Rows of neighbours are packed for the lanes, in memory that only one branch makes.
    assert!(code.contains("(gather_rows "), "{code}");
}

#[test]
fn columns_of_irregular_rows_are_lanes() {
    let text = "((S : vector (vector (int, float))) (D : vector#2 float))
        (let ((_, m) (shape D)) in (map (lambda (row) (tabulate m (lambda (j)
          (reduce + 0 (map (lambda (c, v) (* v (D ! (c, j)))) row))))) S))";
    let code = emit(text, Target::Sequential, How::usual(false), Stage::Loop);
    // Few steps leave their sums in the lanes.
    assert!(code.contains("(le i64 row_length_"), "{code}");
    assert!(code.contains("(local totals_"), "{code}");
}

#[test]
fn a_single_row_has_no_panel() {
    let text = "((L : vector#2 double) (B : vector#2 double))
        (let ((n, m) (shape B)) in (foldl (lambda (X i) (update_slice X (i, 0)
          (tabulate (1, m) (lambda (_, j)
            (- (X ! (i, j)) (reduce + 0 (tabulate i (lambda (k) (* (L ! (i, k)) (X ! (k, j)))))))))))
          B (range n)))";
    let code = emit(text, Target::Sequential, How::usual(false), Stage::Loop);
    assert!(code.contains("(local totals_"), "{code}");
    assert!(!code.contains("(local panel_"), "{code}");
}

#[test]
fn loops_are_copied_for_extents_that_agree() {
    let planes = "((I : vector#3 uint8)) (let ((h, w, _) (shape I)) in
        (tabulate (h, w) (lambda (i, j) (+ (I ! (i, j, 0)) (+ (I ! (i, j, 1)) (I ! (i, j, 2)))))))";
    let code = emit(planes, Target::Sequential, How::usual(true), Stage::Loop);
    assert!(code.contains("(if (eq i64 I_dim2_2 3)"), "{code}");
    let second = "((X : vector int) (Y : vector int)) (tabulate (length X) (lambda (i)
        (if (< i (- (length X) 2)) (+ (X ! i) (Y ! (+ i 2))) 0)))";
    for target in [Target::Sequential, Target::Pthreads] {
        let code = emit(second, target, How::usual(true), Stage::Loop);
        let checks = code.matches(") index [").count();
        // Only the copies for other extents have checks.
        assert!(
            code.contains("(if (eq i64 Y_length_3 X_length_0)"),
            "{code}"
        );
        assert!((1..=4).contains(&checks), "{code}");
        assert_eq!(
            code.contains(" grid "),
            target == Target::Pthreads,
            "{code}"
        );
    }
}

#[test]
fn checks_of_rows_leave_the_innermost_loop() {
    let text =
        "((h : int) (w : int) (s : double) (M : vector#2 double)) (tabulate (h, w) (lambda (i, j)
        (M ! ((to_int (floor (* s (to_double i)))), (to_int (floor (* s (to_double j))))))))";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    let inner = code.find("(for j_").expect("a loop over columns");
    let checks = |code: &str| code.matches(" conversion ").count();
    let (before, inside) = code.split_at(inner);
    assert_eq!((checks(before), checks(inside)), (1, 1), "{code}");
}

#[test]
fn few_narrow_keys_are_words() {
    let text = "((M : vector (vector int))) (map (lambda (row) (sort <= row)) M)";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    assert!(code.contains(" 2)"), "{code}");
    assert!(!code.contains(" 128)"), "{code}");
}

#[test]
fn bits_say_how_large_numbers_are() {
    let text = "((T : vector float) (X : vector uint32)) (if (< (length T) 256) X (map (lambda (x)
        (wrap_uint32 (to_int (+ (T ! (to_int (& x 255))) (T ! (to_int (>> x 24))))))) X))";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    assert!(!code.contains(" index ["), "{code}");
}

#[test]
fn sums_of_first_elements_sort_few() {
    let text = "((k : int) (X : vector float))
        (reduce + 0 (slice 0 1 (min k (length X)) (sort >= X)))";
    let code = emit(text, Target::Sequential, How::usual(false), Stage::Flat);
    let all = |line: &str| line.contains("(sort_keys X_length_1 X_length_1 ");
    assert!(code.contains("(sort_keys X_length_1 "), "{code}");
    assert!(!code.lines().any(all), "{code}");
}

#[test]
fn columns_that_are_read_by_rows_and_by_columns_are_copied_for_steps_in_place() {
    let text = "((A : vector#2 double)) (let ((n, _) (shape A)) in
        (foldl (lambda (A k) (tabulate (n, n) (lambda (i, j) (if (or (< i k) (< j k)) (A ! (i, j))
          (- (A ! (i, j)) (/ (* (A ! (i, k)) (A ! (j, k))) (A ! (k, k)))))))) A (range n)))";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Flat);
    assert!(code.contains("(scatter_block "), "{code}");
}

#[test]
fn results_behind_checks_of_other_values_are_made_where_they_are_given() {
    let text = "((c : bool) (d : int) (X : vector int) (Y : vector int))
        (if c (map (lambda (x) (+ (/ x d) (Y ! 1))) X) (map (lambda (x) (- (/ x d) (Y ! 1))) X))";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    assert!(code.contains("(allocate_result "), "{code}");
    assert!(!code.contains("(allocate "), "{code}");
}

#[test]
fn results_stand_behind_checks_of_their_sizes() {
    let text = "((c : bool) (n : int) (X : vector int))
        (if c (tabulate n (lambda (i) (+ (X ! i) i))) (tabulate n (lambda (i) (- (X ! i) i))))";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    let check = code.find(" index [").expect("a check of an index");
    let memory = code.find("(allocate").expect("an array");
    assert!(check < memory, "{code}");
}

#[test]
fn conjunctions_stop_where_they_are_decided() {
    let text = "((P : vector int) (Q : vector int)) (let (n (min (length P) (length Q))) in
        (reduce and true (tabulate n (lambda (i) (= (P ! i) (Q ! i))))))";
    let code = emit(text, Target::Sequential, How::usual(true), Stage::Loop);
    assert_eq!(code.matches("(break)").count(), 2, "{code}");
    let failing = "((n : int) (X : vector int))
        (reduce and true (tabulate n (lambda (i) (< 0 (/ 7 (X ! (% i 5)))))))";
    let code = emit(failing, Target::Sequential, How::usual(true), Stage::Loop);
    assert!(!code.contains("(break)"), "{code}");
}

#[test]
fn what_is_small_at_the_most_has_no_code_for_threads() {
    let map = |count: &str| {
        format!("((n : int64) (X : vector double)) (tabulate {count} (lambda (i) (sqrt (X ! i))))")
    };
    let code = |count| emit(&map(count), Target::Pthreads, How::usual(true), Stage::Flat);
    assert!(code("n").contains("(grid "), "{}", code("n"));
    let small = code("(min n 100i64)");
    assert!(!small.contains("(grid "), "{small}");
}
