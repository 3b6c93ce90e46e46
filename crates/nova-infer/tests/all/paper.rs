//! The programs of nova.txt, with the evident repairs where they do not type as printed, and every
//! example program with its tests.

use crate::common::{core, gives, has_type, run};
use std::path::Path;

#[test]
fn fib_by_mu() {
    // §3.1.3
    let source = "((n : int))
        ((mu (fib : int -> int)
           (lambda (n : int)
             (if (< n 2) then 1
              else (+ (fib (- n 1)) (fib (- n 2)))))) n)";
    gives(source, "n=10", "89");
}

#[test]
fn maybe_and_lists_of_integers() {
    // §3.1.2
    let source = "((m : Maybe)) (types (Maybe : (+ (Some : int) (None : unit))))
        (case m (Some x (+ x 1)) (None n 0))";
    gives(source, "m=(Some 2)", "3");
    gives(source, "m=None", "0");
    let source = "((l : IntList)) (types (IntList : (+ (Nil : unit) (Cons : (int, IntList)))))
        ((mu (sum : IntList -> int)
           (lambda (l : IntList) (case l (Nil n 0) (Cons c (+ c.0 (sum c.1)))))) l)";
    gives(source, "l=(Cons (1, (Cons (2, Nil))))", "3");
}

#[test]
fn length_of_a_polymorphic_list() {
    // §3.5
    let source = "((input : (List float)))
        (types (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a))))))
        (let
          (len (mu (len : int -> (List 'a) -> int)
            (lambda (l : int) (xs : (List 'a)) : int
              (case xs
                (Nil x l)
                (Cons xs (len (+ l 1) (xs.1)))))))
        in (len 0 input))";
    gives(source, "input=(Cons (1.5, (Cons (2.5, Nil))))", "2");
    assert_eq!(crate::common::check(source).warnings(), [0u16; 0]);
}

#[test]
fn reduction_of_a_polymorphic_tree() {
    // §3.5
    let source = "((input : (Tree int)))
        (types (Tree 'a : (+ (Leaf : 'a) (Node : ('a, (Tree 'a), (Tree 'a))))))
        (let
          (red
            (mu (red : ('a -> 'a -> 'a) -> (Tree 'a) -> 'a)
              (lambda (f : 'a -> 'a -> 'a) (t : (Tree 'a)) : 'a
                (case t
                  (Leaf l (l))
                  (Node n
                    (let
                      (left (red f (n.1)))
                      (right (red f (n.2)))
                      (f (n.0) (f left right))))))))
        in (red + input))";
    gives(source, "input=(Node (1, (Leaf 2), (Leaf 3)))", "6");
}

#[test]
fn increment_at_every_number_type() {
    // §3.3
    let source = "((i : int) (x : float))
        (let (increment (lambda (x : 'a) : 'a (from_double (+ (to_double x) 1.0L))))
         in ((increment i), (increment x)))";
    gives(source, "i=4 x=1.5", "(5, 2.5)");
}

#[test]
fn common_subexpressions() {
    // §5
    let source = "((X : vector int) (Z : vector int))
        (let (f (lambda (x : int) (y : int) (z : int) : int (+ (- x z) (- y z)))) in (map f X X Z))";
    gives(source, "X=[5 7] Z=[1 2]", "[8 10]");
}

#[test]
fn nested_maps() {
    // §5.1
    let source = "((X : vector (vector int))) (map (map (lambda (x : int) : int (+ x 1))) X)";
    gives(source, "X=[[1 2 3] [4 5]]", "[[2 3 4] [5 6]]");
    let source = "((X : vector (vector int))) (map (lambda (x) (reduce + 0 x)) X)";
    gives(source, "X=[[1 2 3] [4 5]]", "[6 9]");
}

#[test]
fn foreign_functions() {
    // §3.1.1
    let source =
        "((X : vector int)) (foreign (f : (int -> int)) (g : int -> float -> bool)) (map f X)";
    has_type(source, "vector int -> vector int");
    let program =
        core("((x : int)) (foreign (g : int -> float -> bool)) (let (h (g x)) in (h 1.5))");
    assert_eq!(program.foreigns[0].parameters.len(), 2);
}

#[test]
fn the_example_programs_pass_their_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nova-examples");
    let mut tests = 0;
    for folder in ["paper", "tutorial"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("the examples");
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path
                .extension()
                .is_some_and(|extension| extension == "nova")
            {
                let source = std::fs::read_to_string(&path).expect("an example");
                tests += run_tests(&source);
            }
        }
    }
    assert!(tests > 20, "{tests}");
}

/// Runs the `;; test` lines of a source; how many there are.
fn run_tests(source: &str) -> usize {
    let lines = source
        .lines()
        .filter_map(|line| line.strip_prefix(";; test "));
    let mut count = 0;
    for line in lines {
        let (inputs, expected) = line.split_once("=>").expect("an expectation");
        match expected.trim().strip_prefix("error") {
            Some(word) => assert_eq!(run(source, inputs), format!("error{word}"), "{line}"),
            None => gives(source, inputs, expected.trim()),
        }
        count += 1;
    }
    count
}
