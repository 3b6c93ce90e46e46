//! Chunked reductions and scans whose brackets matter: by operators of which nothing is known, and
//! of floats where the order is strict. The operators depend on every bracket, so that equal values
//! mean equal brackets.

use crate::support::{apply, read, value_with};
use crate::{parallelise_freely, parallelise_strict};
use nova_core::interpret::Options;
use nova_flat::ir::{Bracketing, Expression, Level, Output, Program};
use nova_flat::print::print;
use nova_flat::visit::each_statement;

/// Lengths near those of runs, blocks, and chunks.
const LENGTHS: [i64; 14] = [
    0, 1, 2, 31, 32, 33, 1023, 1024, 1025, 2048, 2049, 3100, 4096, 9217,
];

/// Returns a program whose entry has this type and these results. It is an operation over a space
/// of a length, with these variables, values and outputs, and gives `gives`.
fn program(
    (ty, results): (&str, &str),
    (given, values, outputs): (&str, &str, &str),
    gives: &str,
) -> Program {
    read(&format!(
        "(program (entry \"f\" [(\"n\" i64)] {ty} \"f\")
          (function \"f\" [n:i64] [{results}] (do
            (let [{given}] (operation [n] [i:i64] [] (do
              (let [j:i64] (mul i64 i 37)) (let [k:i64] (and i64 j 15))
              (let [a:f64] (convert.f64 i64 k)) (let [b:f64] (mul f64 a 0.1L))
              (let [c:bool] (lt f64 a 7.0L)) (in {values}))
              {outputs}))
            (in {gives}))))"
    ))
}

fn values(program: &Program, strict: bool) -> Vec<String> {
    let options = Options {
        strict,
        ..Options::default()
    };
    let value = |n: &i64| value_with(program, &[&n.to_string()], &options);
    LENGTHS.iter().map(value).collect()
}

/// Returns the brackets of all reductions, those where the operation stays whole last, and the
/// number of grids.
fn described(program: &Program) -> (Vec<Bracketing>, usize) {
    let (mut brackets, mut grids) = (Vec::new(), 0);
    for function in &program.functions {
        each_statement(&function.body, &mut |statement| {
            let Expression::Operation(operation) = &statement.expression else {
                return;
            };
            grids += usize::from(operation.level == Level::Grid);
            for output in &operation.outputs {
                if let Output::Reduce { bracketing, .. } = output {
                    brackets.push(*bracketing);
                }
            }
        });
    }
    (brackets, grids)
}

/// Parallelises a program, compares the values, and describes the result.
#[track_caller]
fn parallelised(mut program: Program, strict: bool) -> (Vec<Bracketing>, usize) {
    let expected = values(&program, strict);
    let pass = if strict {
        parallelise_strict
    } else {
        parallelise_freely
    };
    apply(pass, &mut program);
    assert_eq!(values(&program, strict), expected, "{}", print(&program));
    described(&program)
}

/// Returns an operator that neither commutes nor is associative.
fn unknown(ending: &str) -> String {
    format!(
        "(lambda [p{ending}:f64 q{ending}:f64] (do (let [h{ending}:f64] (mul f64 p{ending} 0.75L))
           (let [s{ending}:f64] (sub f64 h{ending} q{ending})) (in s{ending})))"
    )
}

/// The last of the numbers under seven. It is associative, but does not commute, and nothing is
/// known of it.
const LAST: &str = "(lambda [p:f64 q:f64] (do (let [u:bool] (lt f64 q 7.0L))
     (let [s:f64] (if u (do (in q)) (do (in p)))) (in s)))";

const SUM: &str = "(lambda [p:f64 q:f64] (do (let [s:f64] (add f64 p q)) (in s)))";

const NUMBER: (&str, &str) = ("f64", "r:f64");
const VECTOR: (&str, &str) = ("(vector f64)", "m:i64 r:[m]f64");

fn reduction(head: &str, lambda: &str, value: &str) -> Program {
    let output = format!("({head} {lambda})");
    program(NUMBER, ("y:f64", value, &output), "y")
}

#[test]
fn sums_of_floats_keep_their_brackets() {
    use Bracketing::{Pairs, Whole};
    for head in ["reduce_comm [0.3L]", "reduce [0.3L]"] {
        let (brackets, grids) = parallelised(reduction(head, SUM, "b"), true);
        assert_eq!((brackets, grids), (vec![Whole, Pairs, Whole], 1));
    }
}

#[test]
fn unknown_operators_keep_their_brackets() {
    use Bracketing::{Chunk, Pairs, Whole};
    for head in ["reduce_comm [0.3L]", "reduce [0.3L]"] {
        let (brackets, grids) = parallelised(reduction(head, &unknown(""), "b"), true);
        assert_eq!((brackets, grids), (vec![Chunk, Pairs, Whole], 1));
    }
}

#[test]
fn unknown_operators_start_with_the_first_element_of_a_chunk() {
    use Bracketing::{Chunk, Whole};
    let (brackets, grids) = parallelised(reduction("reduce [99.5L]", LAST, "a"), false);
    assert_eq!((brackets, grids), (vec![Chunk, Whole, Whole], 1));
}

/// Returns a program of a scan.
fn scan(word: &str, lambda: &str, value: &str) -> Program {
    let output = format!("({word} [0.3L] {lambda})");
    program(VECTOR, ("y:[n]f64", value, &output), "n y")
}

#[test]
fn scans_keep_their_brackets() {
    use Bracketing::Left;
    for word in ["scan", "exscan"] {
        for lambda in [SUM, &unknown("")] {
            let (brackets, grids) = parallelised(scan(word, lambda, "b"), true);
            assert_eq!((brackets, grids), (vec![Left, Left], 2));
        }
    }
}

#[test]
fn free_scans_carry_the_results_of_the_chunks() {
    use Bracketing::Left;
    for word in ["scan", "exscan"] {
        let (brackets, grids) = parallelised(scan(word, LAST, "a"), false);
        assert_eq!((brackets, grids), (vec![Left], 2));
    }
}

#[test]
fn outputs_of_all_kinds_share_their_chunks() {
    let outputs = format!(
        "(map) (reduce [0.3L] {}) (scan [0.7L] {}) (filter 1) (exscan [0.9L] {})
         (reduce_comm [0] (lambda [e:i64 f:i64] (do (let [g:i64] (add i64 e f)) (in g))))",
        unknown("1"),
        unknown("2"),
        unknown("3")
    );
    let given = "w:[n]f64 x:f64 y:[n]f64 z0:i64 z:[z0]f64 t:[n]f64 u:i64";
    let results = "(tuple (vector f64) f64 (vector f64) (vector f64) (vector f64) i64)";
    let types =
        "w0:i64 w1:[w0]f64 x1:f64 y0:i64 y1:[y0]f64 z1:i64 z2:[z1]f64 t0:i64 t1:[t0]f64 u1:i64";
    let (_, grids) = parallelised(
        program(
            (results, types),
            (given, "b b b c b b k", &outputs),
            "n w x n y z0 z n t u",
        ),
        true,
    );
    assert_eq!(grids, 4);
}
