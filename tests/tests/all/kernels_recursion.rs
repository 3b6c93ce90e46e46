//! Kernels whose functions call themselves, and errors in their calls.

use crate::kernels::{TREES, compile_with, failure, gives, text_of};
use nova_driver::Checked;
use nova_exec::library::Library;

/// Compiles programs whose kernels have functions with an explicit call stack.
fn compile_recursive(text: &str) -> Vec<(Checked, Library)> {
    compile_with(text, "with_stack_on_device(")
}

#[test]
fn kernels_call_themselves() {
    let text = "((X : vector int))
        (define (fib (lambda (n) (if (< n 2) then n else (+ (fib (- n 1)) (fib (- n 2)))))))
        (map fib X)";
    for program in &compile_recursive(text) {
        gives(program, &["[0 1 2 3 10 5 15]"], "[0 1 1 2 55 5 610]");
        gives(program, &["[]"], "[]");
    }
}

#[test]
fn kernels_call_each_other() {
    let text = "((X : vector int) (Y : vector int))
        (define (even (lambda (n Z) (if (= n 0) then 1 else (+ (Z ! 0) (* 2 (odd (- n 1) Z))))))
                (odd (lambda (n Z) (if (= n 0) then 0 else (- (Z ! 1) (even (- n 1) Z))))))
        (map (lambda (x) (+ (even x Y) (odd (+ x 1) Y))) X)";
    fn even(n: i32) -> i32 {
        if n == 0 {
            1
        } else {
            3i32.wrapping_add(odd(n - 1).wrapping_mul(2))
        }
    }
    fn odd(n: i32) -> i32 {
        if n == 0 {
            0
        } else {
            5i32.wrapping_sub(even(n - 1))
        }
    }
    for program in &compile_recursive(text) {
        let expected: Vec<i64> = (0..40)
            .map(|x| i64::from(even(x).wrapping_add(odd(x + 1))))
            .collect();
        let input: Vec<i64> = (0..40).collect();
        gives(program, &[&text_of(&input), "[3 5]"], &text_of(&expected));
    }
}

#[test]
fn kernels_walk_through_trees() {
    let body = "(define
          (sum (lambda (t) (case t (Leaf 0) (Node (x, l, r) (+ x (+ (sum l) (sum r)))))))
          (depth (lambda (t) (case t (Leaf 0) (Node (x, l, r) (+ 1 (max (depth l) (depth r))))))))
        (map (lambda (t) (+ (* 100 (sum t)) (depth t))) Ts)";
    let text = format!("((Ts : vector (Tree int)))\n{TREES}\n{body}");
    for program in &compile_recursive(&text) {
        let small = "(Node (1, Leaf, (Node (2, Leaf, Leaf))))";
        let large = format!("(Node (3, {small}, (Node (4, {small}, {small}))))");
        let trees = format!("[Leaf {small} {large} {small}]");
        gives(program, &[&trees], "[0 302 1604 302]");
    }
}

#[test]
fn kernels_walk_through_trees_with_many_children() {
    let body = "(define (sum (lambda (t) (case t (Rose (x, ts, xs)
          (+ x (+ (reduce + 0 (map sum ts)) (reduce + 0 xs))))))))
        (map sum Ts)";
    let text = format!("((Ts : vector (Rose int)))\n{TREES}\n{body}");
    for program in &compile_recursive(&text) {
        let leaf = "(Rose (1, [], [5 6]))";
        let small = format!("(Rose (2, [{leaf} {leaf} {leaf}], []))");
        let large = format!("(Rose (3, [{small} {leaf} {small} {small}], [1 1]))");
        gives(
            program,
            &[&format!("[{leaf} {small} {large}]")],
            "[12 38 131]",
        );
    }
}

#[test]
fn calls_that_go_too_deep_in_a_kernel_are_an_error_and_the_next_call_works() {
    let text = "((X : vector int))
        (define (count (lambda (n) (if (= n 0) then 0 else (+ 1 (count (- n 1)))))))
        (map count X)";
    for program in &compile_recursive(text) {
        let (code, message) = failure(program, &["[3 -1]"]);
        assert!(message.contains("recursion"), "{code} {message}");
        assert!(message.starts_with("kernels.nova:2:"), "{message}");
        gives(program, &["[3 100 0]"], "[3 100 0]");
        gives(program, &["[100000 1]"], "[100000 1]");
    }
}

#[test]
fn an_error_in_a_call_of_a_kernel_has_its_place() {
    let text = "((X : vector int))
        (define (down (lambda (n) (if (= n 0) then (/ 1 n) else (+ 1 (down (- n 1)))))))
        (map down X)";
    for program in &compile_recursive(text) {
        let (code, message) = failure(program, &["[3 4]"]);
        assert_eq!(
            (code, &*message),
            (1, "kernels.nova:2:52: division by zero")
        );
    }
}
