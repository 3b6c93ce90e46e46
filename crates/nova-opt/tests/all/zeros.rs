//! Zeros that a condition adds to a sum.

use crate::fusion::{plus, values};
use crate::support::{apply, read};
use nova_flat::print::print;

/// Returns the program after the pass. Its values must stay the same.
#[track_caller]
fn changed(start: &str, operator: &str, used: &str) -> String {
    let lambda = plus("r").replace("(add f32", &format!("({operator} f32"));
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector f32)) (\"s\" f32)] (tuple f32 f32) \"f\")
          (function \"f\" [n:i64 x:[n]f32 s:f32] [u:f32 v:f32] (do
            (let [a:f32 b:f32] (operation [n] [i:i64] []
              (do (let [e:f32] (index x [i])) (let [c:bool] (gt f32 e 0.5f))
                (let [t:f32 o:f32] (if c (do (in e e)) (do (in 0f 0f))))
                {used}
                (in t w))
              (reduce_comm [{start}] {lambda}) (reduce_comm [1f] {})))
            (in a b))))",
        plus("q")
    );
    let inputs: &[&[&str]] = &[
        &["[]", "-0.0"],
        &["[0.25 -0.0]", "-0.0"],
        &["[0.25 -0.0]", "0.0"],
        &["[0.75 -3 1 nan 5]", "2"],
    ];
    let mut program = read(&text);
    let expected = values(&program, inputs);
    apply(nova_opt::zeros::run, &mut program);
    assert_eq!(values(&program, inputs), expected, "{}", print(&program));
    print(&program)
}

const PLAIN: &str = "(let [w:f32] (add f32 e o))";

#[test]
fn terms_that_a_condition_sets_to_zero_add_nothing() {
    for start in ["0.0f", "-1.5f"] {
        let text = changed(start, "add", PLAIN);
        assert!(text.contains("(in -0.0f 0.0f)"), "{text}");
    }
}

#[test]
fn zeros_stay_where_their_sign_may_be_seen() {
    // The sum may be of nothing but zeros.
    for start in ["-0.0f", "s"] {
        let text = changed(start, "add", PLAIN);
        assert!(text.contains("(in 0.0f 0.0f)"), "{text}");
    }
    // The operator is another one, or other code uses the term.
    assert!(changed("0.0f", "max", PLAIN).contains("(in 0.0f 0.0f)"));
    let used = "(let [w0:f32] (div f32 1f t)) (let [w:f32] (min f32 w0 9f))";
    assert!(changed("0.0f", "add", used).contains("(in 0.0f 0.0f)"));
}
