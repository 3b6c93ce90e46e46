//! Tests of the explicit call stack: recursive functions that kernels call give the same without recursion.

use crate::programs::parsed;
use nova_core::interpret::Options;
use nova_core::{ScalarValue, Value};
use nova_loop::call_graph::called;
use nova_loop::interpret::evaluate;
use nova_loop::ir::{Level, Program};
use nova_loop::walk::each_command;

/// A program with a grid of `n` iterations, each of which calls the recursive function `g` with its index and
/// an array of the numbers 0 to 7. The program combines the results; `more` are `g` and other functions.
fn program(more: &str) -> Program {
    let text = format!(
        "(program
          (entry \"f\" [(\"n\" i64)] i64 \"f\")
          (function \"f\" [n:i64] [r:i64]
            (declare x:(pointer i64)) (declare xb:block) (allocate xb x i64 8)
            (for place 8 sequential (store x place place))
            (declare y:(pointer i64)) (declare yb:block) (allocate yb y i64 n)
            (for i n grid (declare v:i64) (call \"g\" [i x xb] [v]) (store y i v))
            (set r 0)
            (for j n sequential (set r (add i64 (mul i64 r 31) (load y j))))
            (release xb) (release yb))
          {more})"
    );
    parsed(&text)
}

fn value(program: &Program, n: i64) -> String {
    let inputs = [Value::Scalar(ScalarValue::I64(n))];
    format!("{:?}", evaluate(program, 0, &inputs, &Options::default()))
}

/// Checks that the loop becomes a kernel without recursion that gives the same result.
fn same(more: &str) {
    let before = program(more);
    let mut after = program(more);
    nova_loop::verify(&before).unwrap_or_else(|errors| panic!("{errors:?}\n{more}"));
    crate::make_kernels(&mut after);
    nova_loop::verify(&after).unwrap_or_else(|errors| panic!("{errors:?}\n{more}"));
    let mut reached = Vec::new();
    each_command(&after.functions[0].body, |command| {
        if let nova_loop::ir::Command::For {
            level: Level::Grid,
            body,
            ..
        } = command
        {
            reached.extend(called(&after, body));
        }
    });
    assert!(!reached.is_empty(), "no kernel: {more}");
    let is_recursive = |id: &nova_loop::ir::FunctionId| after.functions[id.index()].recursive;
    assert!(!reached.iter().any(is_recursive), "{more}");
    for n in [0, 1, 12] {
        assert_eq!(value(&before, n), value(&after, n), "{more}");
    }
}

#[test]
fn calls_in_expressions_conditionals_and_switches() {
    same(
        "(function \"g\" recursive [a:i64 p:(pointer i64) pb:block] [s:i64]
           (if (le i64 a 1) (do (set s a) (return)))
           (declare t:i64) (declare u:i64)
           (call \"g\" [(sub i64 a 1) p pb] [t]) (call \"g\" [(sub i64 a 2) p pb] [u])
           (switch (convert.i32 i64 (and i64 a 1))
             (do (set s (add i64 t u)))
             (do (call \"g\" [(div i64 a 2) p pb] [s])
                 (set s (add i64 (mul i64 t u) (add i64 s (load p (and i64 a 7))))))))",
    );
}

#[test]
fn functions_that_call_each_other() {
    same(
        "(function \"g\" recursive [a:i64 p:(pointer i64) pb:block] [s:i64]
           (set s 3)
           (if (gt i64 a 0) (do (declare t:i64) (declare u:i64)
             (call \"h\" [p (mul i64 a 2) (sub i64 a 1)] [t u])
             (set s (sub i64 (mul i64 t a) u)))))
         (function \"h\" recursive [q:(pointer i64) b:i64 c:i64] [w:i64 z:i64]
           (declare m:i64) (call \"g\" [c q null] [m])
           (set w (add i64 m b)) (set z (load q (and i64 m 7))))",
    );
}

#[test]
fn loops_around_calls_with_all_kinds_of_jumps() {
    same(
        "(function \"g\" recursive [a:i64 p:(pointer i64) pb:block] [s:i64]
           (set s a)
           (declare c:i64 0)
           (loop
             (set c (add i64 c 1))
             (if (gt i64 c a) (do (break)))
             (if (eq i64 (and i64 c 3) 2) (do (continue)))
             (if (gt i64 c 5) (do (set s (add i64 s 7)) (return)))
             (for k (and i64 a 3) sequential
               (declare t:i64) (call \"g\" [(sub i64 a (add i64 k 3)) p pb] [t])
               (set s (add i64 s (mul i64 t (add i64 k c)))))))",
    );
}

#[test]
fn arrays_that_are_live_across_calls() {
    same(
        "(function \"g\" recursive [a:i64 p:(pointer i64) pb:block] [s:i64]
           (set s 1)
           (if (gt i64 a 1) (do
             (declare q:(pointer i64)) (declare qb:block) (allocate qb q i64 (and i64 a 3))
             (for k (and i64 a 3) sequential
               (declare o:(pointer i64)) (declare ob:block) (allocate ob o i64 2)
               (store o 0 k)
               (declare t:i64) (call \"g\" [(sub i64 a (add i64 k 1)) p pb] [t])
               (store o 1 t)
               (declare e:(pointer i64) (offset p k))
               (declare u:i64) (call \"g\" [(div i64 a 3) p pb] [u])
               (store q k (add i64 (add i64 (load o 1) u) (add i64 (load o 0) (load e 0))))
               (release ob))
             (for l (and i64 a 3) sequential (set s (add i64 (mul i64 s 3) (load q l))))
             (release qb))))",
    );
}

#[test]
fn recursion_that_is_too_deep_is_an_error_of_the_function() {
    let more = "(function \"g\" recursive \"there:1:2\" [a:i64 p:(pointer i64) pb:block] [s:i64]
        (call \"g\" [a p pb] [s]) (set s (add i64 s 1)))";
    let mut after = program(more);
    crate::make_kernels(&mut after);
    let found = value(&after, 1);
    assert!(
        found.contains("Recursion") && found.contains("there"),
        "{found}"
    );
}

#[test]
fn jumps_before_and_after_calls() {
    same(
        "(function \"g\" recursive [a:i64 p:(pointer i64) pb:block] [s:i64]
           (set s a)
           (if (le i64 a 1) (do (return)))
           (declare t:i64) (call \"g\" [(sub i64 a 2) p pb] [t])
           (if (eq i64 (and i64 t 1) 0) (do (set s (add i64 s t)) (return)))
           (call \"h\" [(sub i64 a 1) p pb] [s]))
         (function \"h\" recursive [b:i64 q:(pointer i64) qb:block] [w:i64]
           (set w 5)
           (declare c:i64 0)
           (loop
             (set c (add i64 c 1))
             (if (gt i64 c 2) (do (break)))
             (declare u:i64) (call \"g\" [(sub i64 b c) q qb] [u])
             (if (eq i64 (and i64 u 3) 1) (do (continue)))
             (set w (add i64 (mul i64 w 3) u))))",
    );
}
