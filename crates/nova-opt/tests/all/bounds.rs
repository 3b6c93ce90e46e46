//! Checks of indices that are affine in the index of an operation.

use crate::support::{after, apply, read, value};
use nova_flat::print::print;

/// Returns a program that reads `x` five elements ahead, in an operation of this extent.
fn ahead(extent: &str) -> String {
    format!(
        r#"(program (entry "f" [("x" (vector i32))] (vector i32) "f")
          (function "f" [n:i64 x:[n]i32] [r0:i64 r:[r0]i32] (do
            (let [y:[{extent}]i32] (operation [{extent}] [i:i64] [] (do
                (let [j:i64] (add i64 i 5))
                (let [low:bool] (ge i64 j 0))
                (let [high:bool] (lt i64 j n))
                (let [] (check low index [j n]))
                (let [] (check high index [j n]))
                (let [e:i32] (index x [j]))
                (in e)) (map)))
            (in {extent} y))))"#
    )
}

#[test]
fn operations_without_iterations_check_nothing() {
    let program = after(nova_opt::bounds::run, &ahead("0"));
    assert_eq!(value(&program, &["[1]"]), "[]", "{}", print(&program));
    let program = after(nova_opt::bounds::run, &ahead("1"));
    let text = print(&program);
    let (before, _) = text.split_once("(operation").unwrap();
    assert!(before.contains("(check"), "{text}");
    assert_eq!(value(&program, &["[1]"]), "index", "{text}");
    assert_eq!(value(&program, &["[1 2 3 4 5 6]"]), "[6]", "{text}");
}

/// Returns a program that reads an element of `y` for each element of `x`, whose index is checked unless a
/// condition on the length of `y` or on the element holds.
fn excepted(except: &str) -> String {
    format!(
        r#"(program (entry "f" [("x" (vector i32)) ("y" (vector i32))] (vector i32) "f")
          (function "f" [n:i64 x:[n]i32 m:i64 y:[m]i32] [r0:i64 r:[r0]i32] (do
            (let [z:[n]i32] (operation [n] [i:i64] [] (do
                (let [e:i32] (index x [i]))
                (let [none:bool] (eq i64 m 0)) (let [one:bool] (le i64 m 1))
                (let [second:bool] (eq i64 i 1))
                (let [few:bool] {except})
                (let [low:bool] (lt i64 i m))
                (let [fine:bool] (if few (do (in true)) (do (in low))))
                (let [] (check fine index [i m]))
                (let [o:i32] (if few (do (in 0i32)) (do (let [p:i32] (index y [i])) (in p))))
                (in o)) (map)))
            (in n z))))"#
    )
}

#[test]
fn checks_with_exceptions_move_before_the_operation() {
    for (except, moves) in [
        ("(eq i64 m 0)", true),
        ("(lt i64 m 2)", true),
        ("(ne i64 m 3)", true),
        // One or the other of two conditions, and both.
        ("(if none (do (in true)) (do (in one)))", true),
        ("(if none (do (in one)) (do (in false)))", true),
        ("(if none (do (in true)) (do (in second)))", false),
        ("(eq i32 e 0i32)", false),
        ("(eq i64 i 2)", false),
    ] {
        let text = excepted(except);
        let program = after(nova_opt::bounds::run, &text);
        let printed = print(&program);
        let (before, _) = printed.split_once("(operation").unwrap();
        assert_eq!(before.contains("(check"), moves, "{printed}");
        for x in ["[]", "[1]", "[0 0 2]", "[1 2 3 4]"] {
            for y in ["[]", "[5]", "[5 6]", "[5 6 7]", "[5 6 7 8 9 10]"] {
                let inputs = [x, y];
                assert_eq!(value(&program, &inputs), value(&read(&text), &inputs));
            }
        }
    }
}

/// Returns a program that reads the element after each of an array's `n` elements in another one of `m` elements,
/// under a condition, behind a check that `m` is at least this, if there are elements.
fn after_check(least: &str) -> String {
    format!(
        r#"(program (entry "f" [("x" (vector i32)) ("y" (vector i32))] (vector i32) "f")
          (function "f" [n:i64 x:[n]i32 m:i64 y:[m]i32] [r0:i64 r:[r0]i32] (do
            (let [least:i64] (add i64 n {least}))
            (let [enough:bool] (le i64 least m))
            (let [empty:bool] (eq i64 n 0))
            (let [fine:bool] (if empty (do (in true)) (do (in enough))))
            (let [] (check fine index [n m]))
            (let [last:i64] (sub i64 n 1))
            (let [z:[n]i32] (operation [n] [i:i64] [] (do
                (let [c:bool] (lt i64 i last))
                (let [e:i32] (if c
                    (do (let [j:i64] (add i64 i 1)) (let [in:bool] (lt i64 j m))
                        (let [] (check in index [j m])) (let [o:i32] (index y [j])) (in o))
                    (do (in 0i32))))
                (in e)) (map)))
            (in n z))))"#
    )
}

#[test]
fn a_check_before_an_operation_holds_inside() {
    for (least, proved) in [("0", 1), ("-1", 0), ("3", 1)] {
        let text = after_check(least);
        let program = after(nova_opt::bounds::run, &text);
        let printed = print(&program);
        assert_eq!(printed.matches("(atom true)").count(), proved, "{printed}");
        for x in ["[]", "[1]", "[1 2 3]"] {
            for y in ["[]", "[5]", "[5 6]", "[5 6 7]", "[5 6 7 8 9 10]"] {
                let inputs = [x, y];
                assert_eq!(value(&program, &inputs), value(&read(&text), &inputs));
            }
        }
    }
}

#[test]
fn comparisons_of_sums_become_direct() {
    for (comparison, direct) in [
        ("(eq i64 j k)", "(eq i64 i_"),
        ("(ne i64 j k)", "(ne i64 i_"),
        ("(lt i64 j k3)", "(le i64 i_"),
        ("(le i64 k3 j)", "(ge i64 i_"),
        ("(gt i64 j k3)", "(ge i64 i_"),
        ("(gt i64 k3 j)", "(le i64 i_"),
        // Two variables are left, or none is simpler.
        ("(lt i64 j n)", "(lt i64 j_"),
        ("(lt i64 i k)", "(lt i64 i_"),
    ] {
        let text = format!(
            r#"(program (entry "f" [("x" (vector i32)) ("k" i32)] (vector bool) "f")
              (function "f" [n:i64 x:[n]i32 k32:i32] [r0:i64 r:[r0]bool] (do
                (let [k:i64] (convert.i64 i32 k32))
                (let [k3:i64] (add i64 k 3))
                (let [z:[n]bool] (operation [n] [i:i64] [] (do
                    (let [j:i64] (add i64 k i))
                    (let [c:bool] {comparison})
                    (in c)) (map)))
                (in n z))))"#
        );
        let program = after(nova_opt::bounds::run, &text);
        let printed = print(&program);
        assert!(printed.contains(direct), "{comparison}\n{printed}");
        for k in ["0", "-3", "2147483647"] {
            let inputs = ["[5 5 5 5 5]", k];
            assert_eq!(
                value(&program, &inputs),
                value(&read(&text), &inputs),
                "{comparison}"
            );
        }
    }
}

/// Returns a program that adds the elements before and after each element. `before` and `next` are
/// the branches of conditionals on `i`: of `i = 0` and of `i = n - 1`.
fn neighbours(before: (&str, &str), next: (&str, &str)) -> String {
    let index = |name: &str, condition: &str, (then, otherwise): (&str, &str)| {
        format!(
            "(let [{name}c:bool] (eq i32 k {condition}))
             (let [{name}:i32] (if {name}c
                (do (let [{name}t:i32] {then}) (in {name}t))
                (do (let [{name}o:i32] {otherwise}) (in {name}o))))
             (let [{name}w:i64] (convert.i64 i32 {name}))
             (let [{name}u:u64] (wrap.u64 i64 {name}w))
             (let [{name}f:bool] (lt u64 {name}u size))
             (let [] (check {name}f index [{name} n]))
             (let [{name}e:i32] (index x [{name}w]))"
        )
    };
    let (before, next) = (index("a", "0i32", before), index("b", "last", next));
    format!(
        r#"(program (entry "f" [("x" (vector i32))] (vector i32) "f")
          (function "f" [n:i64 x:[n]i32] [r0:i64 r:[r0]i32] (do
            (let [fits:bool] (fits.i32 i64 n))
            (let [] (check fits overflow [n]))
            (let [count:i32] (convert.i32 i64 n))
            (let [last:i32] (sub i32 count 1i32))
            (let [size:u64] (wrap.u64 i64 n))
            (let [y:[n]i32] (operation [n] [i:i64] [] (do
                (let [k:i32] (convert.i32 i64 i))
                {before}
                {next}
                (let [e:i32] (add i32 ae be))
                (in e)) (map)))
            (in n y))))"#
    )
}

#[test]
fn neighbours_on_a_ring_need_no_checks() {
    let around = neighbours(
        ("(add i32 last 0i32)", "(sub i32 k 1i32)"),
        ("(add i32 0i32 0i32)", "(add i32 k 1i32)"),
    );
    let program = after(nova_opt::bounds::run, &around);
    let text = print(&program);
    assert_eq!(text.matches("(atom true)").count(), 2, "{text}");
    assert_eq!(value(&program, &["[1 2 4 8]"]), "[10 5 10 5]");
    assert_eq!(value(&program, &["[3]"]), "[6]");
    assert_eq!(value(&program, &["[]"]), "[]");
}

#[test]
fn a_branch_that_leaves_the_array_keeps_its_check() {
    for (before, next) in [
        (
            ("(add i32 count 0i32)", "(sub i32 k 1i32)"),
            ("(add i32 0i32 0i32)", "(add i32 k 1i32)"),
        ),
        (
            ("(add i32 last 0i32)", "(sub i32 k 2i32)"),
            ("(add i32 0i32 0i32)", "(add i32 k 1i32)"),
        ),
        (
            ("(add i32 last 0i32)", "(sub i32 k 1i32)"),
            ("(add i32 -1i32 0i32)", "(add i32 k 1i32)"),
        ),
        (
            ("(add i32 last 0i32)", "(sub i32 k 1i32)"),
            ("(add i32 0i32 0i32)", "(add i32 k 2i32)"),
        ),
    ] {
        let program = after(nova_opt::bounds::run, &neighbours(before, next));
        let text = print(&program);
        assert_eq!(text.matches("(atom true)").count(), 1, "{text}");
        assert_eq!(value(&program, &["[1 2 4]"]), "index", "{text}");
        assert_eq!(value(&program, &["[]"]), "[]", "{text}");
    }
}

/// Returns a program that reads `x` at `b + c · i + d · j`, computed in `i8`, for all indices of
/// two arrays' lengths.
fn wrapped(c: i64, d: i64) -> String {
    format!(
        r#"(program
          (entry "f" [("x" (vector i32)) ("b" i8) ("y" (vector i32)) ("z" (vector i32))] i32 "f")
          (function "f" [n:i64 x:[n]i32 b:i8 k:i64 y:[k]i32 l:i64 z:[l]i32] [r:i32] (do
            (let [size:u64] (wrap.u64 i64 n))
            (let [sum:i32] (operation [k l] [i:i64 j:i64] [] (do
                (let [i8:i8] (wrap.i8 i64 i))
                (let [j8:i8] (wrap.i8 i64 j))
                (let [ci:i8] (mul i8 i8 {c}i8))
                (let [dj:i8] (mul i8 {d}i8 j8))
                (let [one:i8] (add i8 b ci))
                (let [at:i8] (add i8 one dj))
                (let [w:i64] (convert.i64 i8 at))
                (let [u:u64] (wrap.u64 i64 w))
                (let [inside:bool] (lt u64 u size))
                (let [] (check inside index [at n]))
                (let [e:i32] (index x [w]))
                (in e))
              (reduce [0i32] (lambda [p:i32 q:i32] (do (let [s:i32] (add i32 p q)) (in s))))))
            (in sum))))"#
    )
}

/// Sums that wrap leave the range of indices, and others are indices as before. The test covers all
/// numbers of a type of eight bits, arrays beyond its largest number, and steps of either sign.
#[test]
fn indices_that_may_wrap_are_checked_before_the_operation() {
    let list = |length: i64| {
        let elements: Vec<String> = (0..length).map(|k| (k * k % 97).to_string()).collect();
        format!("[{}]", elements.join(" "))
    };
    let steps = [
        (1, 0),
        (-1, 0),
        (3, 1),
        (1, -2),
        (-1, -1),
        (127, 0),
        (-127, 1),
    ];
    for (c, d) in steps {
        let text = wrapped(c, d);
        let (before, changed) = (after(|_| {}, &text), after(nova_opt::bounds::run, &text));
        let printed = print(&changed);
        let (_, inside) = printed.split_once("(operation").unwrap();
        assert!(inside.contains("(check true index"), "{printed}");
        for b in (-128..128).step_by(3).chain([126, 127]) {
            for n in [0, 1, 5, 127, 128, 129, 140] {
                for (k, l) in [(0, 3), (3, 0), (1, 1), (2, 2), (13, 2), (2, 70), (130, 1)] {
                    let inputs = [list(n), format!("{b}i8"), list(k), list(l)];
                    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
                    let (expected, found) = (value(&before, &inputs), value(&changed, &inputs));
                    assert_eq!(
                        found, expected,
                        "{c} {d}: {b}, {n} elements, {k} x {l}\n{printed}"
                    );
                }
            }
        }
    }
}

/// True if a read after a guard needs its check no more. `guard` binds `g`. It may use the index
/// `at` and its extent `n`, `p` and `np` (`at` is not negative, and the contrary), `q` and `nq`
/// (`at` is below `n`, and the contrary), and a truth value `u`.
#[track_caller]
fn needs_no_check(guard: &str) -> bool {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"u\" bool)] (vector i64) \"f\")
          (function \"f\" [n:i64 x:[n]i64 u:bool] [m:i64 d:[m]i64] (do
            (let [l:i64] (add i64 n 5))
            (let [out:[l]i64] (operation [l] [k:i64] [] (do
              (let [at:i64] (sub i64 k 2))
              (let [p:bool] (le i64 0 at)) (let [np:bool] (not bool p))
              (let [q:bool] (lt i64 at n)) (let [nq:bool] (not bool q))
              {guard}
              (let [e:i64] (if g
                (do (let [a:u64] (wrap.u64 i64 at)) (let [b:u64] (wrap.u64 i64 n))
                  (let [ok:bool] (lt u64 a b)) (let [] (check ok index [at n]))
                  (let [y:i64] (index x [at])) (in y))
                (do (in 7))))
              (in e)) (map)))
            (in l out))))"
    );
    let before = read(&text);
    let mut program = read(&text);
    apply(nova_opt::bounds::run, &mut program);
    apply(nova_opt::simplify::run, &mut program);
    for x in ["[]", "[1]", "[1 2 3]"] {
        for u in ["true", "false"] {
            assert_eq!(
                value(&program, &[x, u]),
                value(&before, &[x, u]),
                "{x} {u}\n{}",
                print(&program)
            );
        }
    }
    !print(&program).contains("(check ")
}

/// Returns a conditional among truth values.
fn chosen(name: &str, [asked, then, otherwise]: [&str; 3]) -> String {
    format!("(let [{name}:bool] (if {asked} (do (in {then})) (do (in {otherwise}))))")
}

#[test]
fn guards_by_conditionals() {
    let negated = |parts| format!("{} (let [g:bool] (not bool o))", chosen("o", parts));
    for parts in [
        ["p", "q", "false"],
        ["q", "p", "false"],
        ["np", "false", "q"],
        ["nq", "false", "p"],
    ] {
        assert!(needs_no_check(&chosen("g", parts)), "{parts:?}");
    }
    for parts in [
        ["np", "true", "nq"],
        ["nq", "true", "np"],
        ["p", "nq", "true"],
        ["q", "np", "true"],
    ] {
        assert!(needs_no_check(&negated(parts)), "{parts:?}");
    }
    // Further conditions do no harm.
    let more = format!(
        "{} {}",
        chosen("o", ["u", "p", "false"]),
        chosen("g", ["q", "o", "false"])
    );
    assert!(needs_no_check(&more));
    // The branch computes it from numbers that are known before.
    let inside = "(let [g:bool] (if p (do (let [q2:bool] (lt i64 at n)) (in q2)) (do (in false))))";
    assert!(needs_no_check(inside));
    for parts in [
        ["p", "true", "q"],
        ["p", "q", "true"],
        ["np", "q", "false"],
        ["u", "q", "false"],
        ["u", "p", "q"],
        ["np", "true", "q"],
    ] {
        assert!(!needs_no_check(&chosen("g", parts)), "{parts:?}");
    }
    for parts in [["p", "q", "false"], ["u", "q", "false"], ["u", "p", "q"]] {
        assert!(!needs_no_check(&negated(parts)), "{parts:?}");
    }
}

/// There are `n - m + 1` rows of `m` elements each of `n`, computed as an `i32`. Reads lie in range
/// because a number that is an extent has not wrapped.
#[test]
fn extents_wrap_only_to_negative_numbers() {
    let text =
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"y\" (vector i64))] (vector i64) \"f\")
      (function \"f\" [n:i64 x:[n]i64 m:i64 y:[m]i64] [r:i64 d:[r]i64] (do
        (let [fn:bool] (fits.i32 i64 n)) (let [] (check fn overflow [n]))
        (let [fm:bool] (fits.i32 i64 m)) (let [] (check fm overflow [m]))
        (let [a:i32] (convert.i32 i64 n)) (let [b:i32] (convert.i32 i64 m))
        (let [c:i32] (sub i32 a b)) (let [e:i32] (add i32 c MOREi32))
        (let [l:i64] (convert.i64 i32 e))
        (let [o:bool] (ge i64 l 0)) (let [] (check o negative [e]))
        (let [out:[l]i64] (operation [l] [i:i64] [] (do
          (let [s:i64] (operation [m] [k:i64] [z:i64 = 0] (do
            (let [at:i64] (add i64 i k))
            (let [u:u64] (wrap.u64 i64 at)) (let [v:u64] (wrap.u64 i64 n))
            (let [q:bool] (lt u64 u v)) (let [] (check q index [at n]))
            (let [g:i64] (index x [at])) (let [h:i64] (add i64 z g)) (in h))))
          (in s)) (map)))
        (in l out))))";
    for (more, in_range) in [("1", true), ("0", true), ("2", false)] {
        let text = text.replace("MORE", more);
        let before = read(&text);
        let mut program = read(&text);
        apply(nova_opt::bounds::run, &mut program);
        apply(nova_opt::simplify::run, &mut program);
        let printed = print(&program);
        let (_, operation) = printed.split_once("(operation").unwrap();
        assert_eq!(!operation.contains("(check "), in_range, "{printed}");
        for (x, y) in [
            ("[]", "[]"),
            ("[1]", "[]"),
            ("[1]", "[0 0]"),
            ("[]", "[0 0]"),
            ("[1 2 3 4]", "[0 0]"),
        ] {
            let inputs = [x, y];
            assert_eq!(
                value(&program, &inputs),
                value(&before, &inputs),
                "{inputs:?}"
            );
        }
    }
}
