//! Reductions and scans that start from the first element of what they combine start from the neutral element, with
//! the same value to the bit.

use crate::support::{apply, read, value};
use nova_flat::print::print;

/// Returns the program after the pass. It combines `x` by an operation from `start`, a statement that binds `s`. Its
/// values must stay the same.
#[track_caller]
fn changed(scalar: &str, operation: &str, start: &str, output: &str) -> String {
    let lambda = format!(
        "(lambda [a:{scalar} b:{scalar}] (do (let [r:{scalar}] ({operation} {scalar} a b)) (in r)))"
    );
    let (result, results, ty, given) = match output {
        "reduce_comm" => (
            scalar.to_string(),
            format!("z:{scalar}"),
            format!("y:{scalar}"),
            "y",
        ),
        _scan => (
            format!("(vector {scalar})"),
            format!("m:i64 z:[m]{scalar}"),
            format!("y:[n]{scalar}"),
            "n y",
        ),
    };
    let text = format!(
        "(program (entry \"f\" [(\"x\" (vector {scalar}))] {result} \"f\")
          (function \"f\" [n:i64 x:[n]{scalar}] [{results}] (do
            {start}
            (let [{ty}] (operation [n] [i:i64] [] (do (let [e:{scalar}] (index x [i])) (in e))
              ({output} [s] {lambda})))
            (in {given}))))"
    );
    let before = read(&text);
    let mut program = read(&text);
    apply(nova_opt::neutral_starts::run, &mut program);
    let vectors: &[&str] = match scalar {
        "f64" => &[
            "[nan]",
            "[-0.0 0.0]",
            "[0.0 -0.0]",
            "[1.5 nan -inf 2.5]",
            "[nan nan]",
        ],
        _ => &[
            "[-7]",
            "[3 -4 5 0 7]",
            "[-9223372036854775808 9223372036854775807]",
        ],
    };
    for x in vectors {
        let (new, old) = (value(&program, &[x]), value(&before, &[x]));
        assert_eq!(new, old, "{x}\n{}", print(&program));
    }
    print(&program)
}

const FIRST: &str = "(let [s:SCALAR] (index x [0]))";

fn first(scalar: &str) -> String {
    FIRST.replace("SCALAR", scalar)
}

#[test]
fn minima_and_maxima_start_from_the_neutral_element() {
    for output in ["reduce_comm", "scan"] {
        let text = changed("i64", "max", &first("i64"), output);
        assert!(text.contains("[-9223372036854775808]"), "{text}");
        let text = changed("i64", "min", &first("i64"), output);
        assert!(text.contains("[9223372036854775807]"), "{text}");
        let text = changed("f64", "max", &first("f64"), output);
        assert!(text.contains("[nan"), "{text}");
    }
}

#[test]
fn other_starts_and_operations_stay() {
    assert!(changed("i64", "add", &first("i64"), "reduce_comm").contains("(reduce_comm [s_"));
    let last = "(let [k:i64] (add i64 n -1)) (let [s:i64] (index x [k]))";
    assert!(changed("i64", "max", last, "scan").contains("(scan [s_"));
    // The first result of an exclusive scan is the start.
    assert!(changed("i64", "max", &first("i64"), "exscan").contains("(exscan [s_"));
}
