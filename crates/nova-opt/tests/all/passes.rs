//! The results of each pass for small programs, and their meaning, which stays the same.

use crate::support::{after, shape, value};
use nova_flat::print::print;

#[test]
fn constants_and_copies_go() {
    let program = after(
        nova_opt::simplify::run,
        r#"(program (entry "f" [("x" i32)] i32 "f")
          (function "f" [x:i32] [r:i32] (do
            (let [a:i32] (add i32 2i32 3i32))
            (let [b:i32] (mul i32 a 2i32))
            (let [c:i32] (atom x))
            (let [d:bool] (lt i32 a b))
            (let [e:i32] (if d (do (let [g:i32] (add i32 c b)) (in g)) (do (in 0i32))))
            (let [unused:i32] (mul i32 e e))
            (in e))))"#,
    );
    assert_eq!(shape(&program), ["add"]);
    assert_eq!(value(&program, &["5"]), "15");
}

#[test]
fn what_can_fail_stays() {
    let program = after(
        nova_opt::simplify::run,
        r#"(program (entry "f" [("x" i32)] i32 "f")
          (function "f" [x:i32] [r:i32] (do
            (let [c:bool] (ne i32 x 0i32))
            (let [] (check c division []))
            (let [unused:i32] (div i32 1i32 x))
            (let [] (check true division []))
            (in 7i32))))"#,
    );
    assert_eq!(shape(&program), ["ne", "check"]);
    assert_eq!(value(&program, &["0"]), "division");
}

#[test]
fn nothing_follows_a_certain_failure() {
    let program = after(
        nova_opt::simplify::run,
        r#"(program (entry "f" [("n" i32)] (vector i32) "f")
          (function "f" [n:i32] [r0:i64 r:[r0]i32] (do
            (let [c:bool] (gt i32 n 0i32))
            (let [s0:i64 s:[s0]i32] (if c
              (do (let [a:[1]i32] (literal i32 [n])) (in 1 a))
              (do
                (let [m:i64] (sub i64 2 5))
                (let [d:bool] (ge i64 m 0))
                (let [] (check d negative [m]))
                (let [b:[m]i32] (replicate [m] n))
                (in m b))))
            (in s0 s))))"#,
    );
    assert_eq!(value(&program, &["4"]), "[4]");
    assert_eq!(value(&program, &["0"]), "negative");
    assert!(!print(&program).contains("replicate"));
}

#[test]
fn what_a_loop_passes_on_unchanged_is_no_state() {
    let program = after(
        nova_opt::simplify::run,
        r#"(program (entry "f" [("x" (vector i32)) ("k" i64)] (vector i32) "f")
          (function "f" [n:i64 x:[n]i32 k:i64] [r0:i64 r:[r0]i32] (do
            (let [m:i64 y:[m]i32 j:i64] (while [m1:i64 = n y1:[m1]i32 = x j1:i64 = k]
              (do (let [c:bool] (gt i64 j1 0)) (in c))
              (do
                (let [z:[m1]i32] (operation [m1] [i:i64] []
                  (do (let [e:i32] (index y1 [i])) (let [f:i32] (add i32 e 1i32)) (in f)) (map)))
                (let [j2:i64] (sub i64 j1 1))
                (in m1 z j2))))
            (in m y))))"#,
    );
    assert_eq!(value(&program, &["[1 2]", "3"]), "[4 5]");
    let text = print(&program);
    let line = text.lines().find(|l| l.contains("while")).unwrap();
    assert_eq!(line.matches(":i64 =").count(), 1, "{text}");
}

#[test]
fn unused_outputs_go() {
    let program = after(
        nova_opt::simplify::run,
        r#"(program (entry "f" [("x" (vector i32))] i64 "f")
          (function "f" [n:i64 x:[n]i32] [r:i64] (do
            (let [y:[n]i32 m:i64 z:[m]i32 s:[n]i32] (operation [n] [i:i64] []
              (do
                (let [e:i32] (index x [i]))
                (let [c:bool] (gt i32 e 0i32))
                (in e c e e))
              (map)
              (filter 1)
              (scan [0i32] (lambda [a:i32 b:i32]
                (do (let [t:i32] (add i32 a b)) (in t))))))
            (in m))))"#,
    );
    assert_eq!(shape(&program), ["operation", "index", "gt"]);
    assert_eq!(value(&program, &["[1 -1 2]"]), "2");
}

#[test]
fn mutual_tail_calls_need_no_stack() {
    let program = after(
        nova_opt::tail_calls::run,
        r#"(program (entry "f" [("n" i32)] bool "f")
          (function "f" [n:i32] [r:bool] (do (let [a:bool] (call "even" [n])) (in a)))
          (function "even" recursive [n1:i32] [r1:bool] (do
            (let [c1:bool] (eq i32 n1 0i32))
            (let [a1:bool] (if c1 (do (in true))
              (do (let [m1:i32] (sub i32 n1 1i32)) (let [b1:bool] (call "odd" [m1])) (in b1))))
            (in a1)))
          (function "odd" recursive [n2:i32] [r2:bool] (do
            (let [c2:bool] (eq i32 n2 0i32))
            (let [a2:bool] (if c2 (do (in false))
              (do (let [m2:i32] (sub i32 n2 1i32)) (let [b2:bool] (call "even" [m2])) (in b2))))
            (in a2))))"#,
    );
    assert!(program.functions.iter().all(|f| !f.recursive));
    assert_eq!(value(&program, &["1500001"]), "false");
}

#[test]
fn a_call_that_is_not_last_is_recursive() {
    let program = after(
        nova_opt::tail_calls::run,
        r#"(program (entry "f" [("n" i32)] i32 "f")
          (function "f" recursive [n:i32] [r:i32] (do
            (let [c:bool] (eq i32 n 0i32))
            (let [a:i32] (if c (do (in 0i32)) (do
              (let [m:i32] (sub i32 n 1i32))
              (let [b:i32] (call "f" [m]))
              (let [s:i32] (add i32 b n))
              (in s))))
            (in a)))
          (function "lonely" [x:i32] [y:i32] (do (in x))))"#,
    );
    assert_eq!(program.functions.len(), 1);
    assert!(program.functions[0].recursive);
    assert_eq!(value(&program, &["10"]), "55");
}

#[test]
fn long_functions_are_split() {
    let mut text = String::from(
        "(program (entry \"f\" [(\"x\" i32)] i32 \"f\") (function \"f\" [x0:i32] [r:i32] (do\n",
    );
    for k in 1..=5000 {
        text += &format!("(let [x{k}:i32] (add i32 x{} 1i32))\n", k - 1);
    }
    text += "(in x5000))))";
    let program = after(nova_opt::outline::run, &text);
    assert_eq!(program.functions.len(), 6);
    assert_eq!(value(&program, &["1"]), "5001");
    let largest = program.functions.iter().map(|f| f.body.statements.len());
    assert!(largest.max() <= Some(1000));
}

#[test]
fn what_every_branch_computes_is_computed_before() {
    let program = after(
        nova_opt::cse::run,
        r#"(program (entry "f" [("x" i32) ("y" i32)] i32 "f")
          (function "f" [x:i32 y:i32] [r:i32] (do
            (let [a:i32] (switch x
              (do (let [b:i32] (mul i32 y 3i32)) (let [c:i32] (add i32 b 1i32)) (in c))
              (do (let [u:i32] (sub i32 y x)) (let [d:i32] (mul i32 3i32 y)) (let [e:i32] (add i32 1i32 d))
                (let [v:i32] (mul i32 e u)) (in v))
              (do (let [g:bool] (lt i32 x y)) (let [w:i32] (if g
                (do (let [h:i32] (mul i32 y 3i32)) (in h))
                (do (let [k:i32] (mul i32 y 3i32)) (let [l:i32] (add i32 k x)) (in l))))
                (let [m:i32] (mul i32 y 3i32)) (let [n:i32] (add i32 m 1i32)) (let [z:i32] (sub i32 n w))
                (in z))))
            (in a))))"#,
    );
    let after = ["sub", "mul", "lt", "if", "add", "sub"];
    assert_eq!(
        shape(&program),
        [&["mul", "add", "switch"], &after[..]].concat()
    );
    for (x, expected) in [("0", "16"), ("1", "64"), ("2", "1"), ("7", "-6")] {
        assert_eq!(value(&program, &[x, "5"]), expected);
    }
}

#[test]
fn what_a_check_protects_stays_in_its_branch() {
    let program = after(
        nova_opt::cse::run,
        r#"(program (entry "f" [("X" (vector i32)) ("i" i64) ("d" i32)] i32 "f")
          (function "f" [n:i64 X:[n]i32 i:i64 d:i32] [r:i32] (do
            (let [c:bool] (lt i32 d 10i32))
            (let [a:i32] (if c
              (do (let [p:bool] (lt i64 i n)) (let [] (check p index [i n])) (let [e:i32] (index X [i]))
                (let [q:bool] (ne i32 d 0i32)) (let [] (check q division []))
                (let [g:i32] (div i32 e d)) (in g))
              (do (let [s:bool] (lt i64 i n)) (let [] (check s index [i n])) (let [h:i32] (index X [i]))
                (let [t:bool] (ne i32 d 0i32)) (let [] (check t division []))
                (let [k:i32] (div i32 h d)) (in k))))
            (in a))))"#,
    );
    let branch = ["check", "index", "check", "div"];
    let before = ["lt", "lt", "ne", "if"];
    assert_eq!(shape(&program), [before, branch, branch].concat());
    assert_eq!(value(&program, &["[8 6]", "1", "2"]), "3");
    assert_eq!(value(&program, &["[8 6]", "2", "2"]), "index");
    assert_eq!(value(&program, &["[8 6]", "0", "0"]), "division");
}
