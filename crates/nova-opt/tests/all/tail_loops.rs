//! Functions that call themselves last become loops, whatever their conditionals are; others stay.

use crate::support::{apply, read, value};
use nova_flat::print::print;

/// Runs the pass over a function of `i`, `x` and `a` with this end. Compares the values of an entry
/// that begins with each of several numbers `k`. Returns true if the function is a loop.
#[track_caller]
fn is_loop(body: &str) -> bool {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"k\" i64)] i64 \"f\")
          (function \"f\" [n:i64 x:[n]i64 k:i64] [y:i64] (do
            (let [y0:i64] (call \"go\" [n x k 0]))
            (in y0)))
          (function \"go\" recursive [m:i64 z:[m]i64 i:i64 a:i64] [r:i64] {body}))"
    );
    let before = read(&text);
    let mut program = read(&text);
    apply(nova_opt::tail_loops::run, &mut program);
    for x in ["[]", "[0]", "[3 1 0 7]", "[1 1 1 1 1 1 1]"] {
        for k in ["0", "1", "2", "-1", "9"] {
            let inputs = [x, k];
            let (now, then) = (value(&program, &inputs), value(&before, &inputs));
            assert_eq!(now, then, "{inputs:?}\n{}", print(&program));
        }
    }
    print(&program).contains("(while ")
}

/// A call with the next `i`, which is less by one, and `a` plus `i`.
const CALL: &str = "(do (let [j:i64] (sub i64 i 1)) (let [b:i64] (add i64 a i))
    (let [c:i64] (call \"go\" [m z j b])) (in c))";

fn other_call() -> String {
    CALL.replace("j", "j2")
        .replace("b:", "b2:")
        .replace(" b]", " b2]")
        .replace("add i64 a i", "mul i64 i 2")
        .replace("c:", "c2:")
        .replace("(in c)", "(in c2)")
}

fn choice(name: &str, condition: &str, then: &str, otherwise: &str) -> String {
    format!(
        "(do (let [h{name}:bool] {condition}) (let [t{name}:i64] (if h{name} {then} {otherwise})) (in t{name}))"
    )
}

const OUT: &str = "(do (in a))";

#[test]
fn one_branch_calls_and_one_ends() {
    assert!(is_loop(&choice("", "(gt i64 i 0)", CALL, OUT)));
    assert!(is_loop(&choice("", "(le i64 i 0)", OUT, CALL)));
    let failing = "(do (let [] (fail division [])) (in 0))";
    assert!(is_loop(&choice("", "(gt i64 i 0)", CALL, failing)));
}

#[test]
fn several_ways() {
    let both = choice("1", "(eq i64 a 3)", CALL, &other_call());
    assert!(is_loop(&choice("", "(gt i64 i 0)", &both, OUT)));
    let out = choice("1", "(gt i64 a 9)", "(do (in i))", CALL);
    assert!(is_loop(&choice("", "(gt i64 i 0)", &out, OUT)));
    assert!(is_loop(&choice(
        "",
        "(gt i64 i 0)",
        &out,
        &choice("2", "(eq i64 a 2)", OUT, "(do (in 7))")
    )));
    let left = choice("1", "(gt i64 a 9)", "(do (in i))", CALL);
    let right = choice("2", "(lt i64 i -3)", OUT, &other_call());
    assert!(is_loop(&choice("", "(gt i64 i 0)", &left, &right)));
}

#[test]
fn cases() {
    let cases = |bodies: [&str; 3]| {
        format!(
            "(do (let [p:bool] (le i64 i 0)) (let [q:i32] (convert.i32 bool p)) \
             (let [s:i64] (switch q {})) (in s))",
            bodies.join(" ")
        )
    };
    // Where calls are in one case, an iteration takes this case.
    assert!(is_loop(&cases([CALL, OUT, "(do (in 1))"])));
    // Iterations choose among some of the cases.
    assert!(is_loop(&cases([CALL, OUT, &other_call()])));
}

#[test]
fn what_is_not_a_loop() {
    // A later statement uses the result.
    let later = "(do (let [h:bool] (gt i64 i 0)) (let [t:i64] (if h (do (let [j:i64] (sub i64 i 1))
        (let [c:i64] (call \"go\" [m z j a])) (let [d:i64] (add i64 c 1)) (in d)) (do (in a)))) (in t))";
    assert!(!is_loop(later));
    // The other call is not the last statement.
    let twice = "(do (let [h:bool] (gt i64 i 0)) (let [t:i64] (if h (do (let [j:i64] (sub i64 i 1))
        (let [c:i64] (call \"go\" [m z j a])) (let [d:i64] (call \"go\" [m z j c])) (in d)) (do (in a)))) (in t))";
    assert!(!is_loop(twice));
    // The condition needs an operation, which would be made twice in each iteration.
    let costly =
        "(do (let [s:i64] (operation [m] [k2:i64] [u:i64 = i] (do (let [e:i64] (index z [k2]))
        (let [v:i64] (sub i64 u e)) (in v)))) (let [h:bool] (gt i64 s 0)) (let [t:i64] (if h
        (do (let [j:i64] (sub i64 s 1)) (let [c:i64] (call \"go\" [m z j a])) (in c)) (do (in a)))) (in t))";
    assert!(!is_loop(costly));
}

/// Calls change sizes, and there are arrays of these sizes.
#[test]
fn arrays_of_other_sizes() {
    let text = "(program (entry \"f\" [(\"x\" (vector i64))] i64 \"f\")
      (function \"f\" [n:i64 x:[n]i64] [y:i64] (do
        (let [y0:i64] (call \"go\" [n x]))
        (in y0)))
      (function \"go\" recursive [m:i64 z:[m]i64] [r:i64] (do
        (let [h:bool] (gt i64 m 1))
        (let [t:i64] (if h
          (do (let [l:i64] (sub i64 m 1))
            (let [w:[l]i64] (operation [l] [k:i64] [] (do
              (let [e:i64] (index z [k])) (let [k1:i64] (add i64 k 1)) (let [f:i64] (index z [k1]))
              (let [g:i64] (add i64 e f)) (in g)) (map)))
            (let [c:i64] (call \"go\" [l w])) (in c))
          (do (let [o:bool] (eq i64 m 1)) (let [] (check o index [0 m])) (let [e1:i64] (index z [0])) (in e1))))
        (in t))))";
    let before = read(text);
    let mut program = read(text);
    apply(nova_opt::tail_loops::run, &mut program);
    assert!(print(&program).contains("(while "));
    for x in ["[]", "[5]", "[1 2]", "[1 2 3 4 5]"] {
        assert_eq!(value(&program, &[x]), value(&before, &[x]), "{x}");
    }
}
