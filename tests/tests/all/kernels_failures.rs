//! Kernels with parts that always fail. Such a part stores nothing, and the host does not read what it would
//! have stored: no index, and no link.

use crate::kernels::{compile_with, failure, text_of};

/// Fills the memory that this process takes from now on with large numbers, so that none is zero by chance.
fn dirty_memory() {
    // SAFETY: the call sets a number in the allocator.
    unsafe { libc::mallopt(libc::M_PERTURB, 165) };
}

/// An element that does not exist, in a form that a pass does not compute before a loop over `x`.
const FAILS: &str = "(if (> x 3) (/ x 0) (([1 2 3] : vector int) ! 7))";

/// Where the program of a test fails with inputs from 1 to 100.
#[track_caller]
fn fails_at_its_place(text: &str, input: &str) {
    dirty_memory();
    let text = text.replace("FAILS", FAILS);
    for program in &compile_with(&text, "nova_check_kernels") {
        let (_, message) = failure(program, &[input]);
        assert!(
            message.ends_with("index 7 is out of range for length 3")
                || message.ends_with("division by zero"),
            "{message}"
        );
    }
}

fn numbers() -> String {
    text_of(&(1..=100).collect::<Vec<i64>>())
}

#[test]
fn every_iteration_fails() {
    let text = "((X : vector int))
        (let (A (map (lambda (x) FAILS) X))
        in (iterate 5 (lambda (s) (A ! s)) 0))";
    fails_at_its_place(text, &numbers());
}

#[test]
fn every_iteration_of_a_loop_inside_fails() {
    let text = "((M : vector (vector int)))
        (let (A (map (lambda (row) ((map (lambda (x) FAILS) row), (length row))) M))
        in (iterate 5 (lambda (s) ((A ! 0).0 ! s)) 0))";
    let rows = [&*numbers(), "[]", "[1 2]"].join(" ");
    fails_at_its_place(text, &format!("[{rows}]"));
}

#[test]
fn every_call_of_a_function_fails() {
    let text = "((X : vector int))
        (define (f (lambda (n x) (if (= n 0) then (map (lambda (y) FAILS) [x x x]) else (f (- n 2) x)))))
        (let (A (map (lambda (x) ((f (* 2 x) x) ! 1)) X))
        in (iterate 5 (lambda (s) (A ! s)) 0))";
    fails_at_its_place(text, &numbers());
}

#[test]
fn every_node_fails() {
    let text = "((X : vector int))
        (types (Chain : (+ (End : int) (Link : (int, Chain)))))
        (define (sum (lambda (s c) (case c (End x (+ s x)) (Link (x, t) (sum (+ s x) t))))))
        (let (c (foldl (lambda (c x) (Link (x, c))) (End 5) X))
          (m (foreach (v c) (f d)
            (case v (End* x (End* FAILS)) (Link* (x, t) (Link* (FAILS, (f t)))))))
        in (sum 0 m))";
    fails_at_its_place(text, &numbers());
}
