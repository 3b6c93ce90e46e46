//! Counters among the states of loops are computed from the number of the iteration, with the same
//! value whatever wraps.

use crate::support::{apply, read, value};
use nova_flat::print::print;

/// Runs the pass over a fold that adds up the values of a counter, which goes from its start on by
/// `change`. Compares the values for starts and steps. Returns true if the counter is no state any
/// more.
#[track_caller]
fn counts(scalar: &str, change: &str) -> bool {
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector i64)) (\"a\" {scalar}) (\"b\" {scalar})] \
            (tuple {scalar} {scalar}) \"f\")
          (function \"f\" [n:i64 x:[n]i64 a:{scalar} b:{scalar}] [y:{scalar} z:{scalar}] (do
            (let [end:{scalar} out:{scalar}] \
                (operation [n] [k:i64] [c:{scalar} = a s:{scalar} = b] (do
              (let [m:{scalar}] (mul {scalar} s 3{scalar}))
              (let [t:{scalar}] (add {scalar} m c))
              (let [o:{scalar}] (wrap.{scalar} i64 k))
              (let [d:{scalar}] {change})
              (in d t))))
            (in end out))))"
    );
    let text = text.replace("3i64", "3");
    let before = read(&text);
    let mut program = read(&text);
    apply(nova_opt::induction::run, &mut program);
    for x in ["[]", "[0]", "[0 0 0]", "[0 0 0 0 0 0 0 0 0]"] {
        for (a, b) in [
            ("0", "1"),
            ("5", "0"),
            ("127", "120"),
            ("-128", "-3"),
            ("-1", "127"),
        ] {
            let inputs = [x, a, b];
            let (now, then) = (value(&program, &inputs), value(&before, &inputs));
            assert_eq!(now, then, "{inputs:?}\n{}", print(&program));
        }
    }
    let text = print(&program);
    assert_eq!(text.matches("(operation [").count(), 1);
    !text.contains("[c_")
        || !text
            .lines()
            .any(|line| line.contains("(operation [") && line.contains("[c_"))
}

#[test]
fn numbers_that_every_iteration_adds() {
    for scalar in ["i8", "i32", "i64"] {
        let one = if scalar == "i64" {
            "1".to_string()
        } else {
            format!("1{scalar}")
        };
        for change in [
            format!("(add {scalar} c {one})"),
            format!("(add {scalar} {one} c)"),
            format!("(sub {scalar} c {one})"),
            format!("(add {scalar} c b)"),
            format!("(sub {scalar} c b)"),
            format!("(add {scalar} a c)"),
        ] {
            assert!(counts(scalar, &change), "{change}");
        }
    }
}

#[test]
fn other_states() {
    for change in [
        "(add i64 c c)",
        "(sub i64 b c)",
        "(add i64 c o)",
        "(add i64 c s)",
        "(mul i64 c 2)",
    ] {
        assert!(!counts("i64", change), "{change}");
    }
}

/// A state that adds up a counter is no counter itself.
#[test]
fn sums_of_counters() {
    let text = "(program (entry \"f\" [(\"x\" (vector i64)) (\"a\" i64)] i64 \"f\")
      (function \"f\" [n:i64 x:[n]i64 a:i64] [y:i64] (do
        (let [end:i64 out:i64] (operation [n] [k:i64] [c:i64 = a s:i64 = a] (do
          (let [d:i64] (add i64 c 1))
          (let [t:i64] (add i64 s c))
          (in d t))))
        (in out))))";
    let before = read(text);
    let mut program = read(text);
    apply(nova_opt::induction::run, &mut program);
    let text = print(&program);
    let states = text.lines().find(|line| line.contains("(operation ["));
    assert!(
        states.is_some_and(|line| line.contains("[s_") && !line.contains("c_")),
        "{text}"
    );
    for x in ["[]", "[0]", "[0 0 0 0 0]"] {
        let inputs = [x, "3"];
        assert_eq!(value(&program, &inputs), value(&before, &inputs));
    }
}
