//! Fusion: the operations that become one, and those that stay apart. Programs mean the same
//! afterwards: after every pass, for several inputs, with and without strict order.

use crate::support::{apply, read, value_with};
use nova_core::interpret::Options;
use nova_flat::ir::{Expression, Program, Type};
use nova_flat::print::print;
use nova_flat::visit::each_statement;

/// Returns the values of a program for several inputs, with and without strict order.
pub fn values(program: &Program, inputs: &[&[&str]]) -> Vec<String> {
    let mut values = Vec::new();
    for strict in [false, true] {
        let options = Options {
            strict,
            trace: &|_| {},
            ..Options::default()
        };
        values.extend(inputs.iter().map(|i| value_with(program, i, &options)));
    }
    values
}

/// Fuses a program whose one function is `"f"`, as the pipeline does.
#[track_caller]
pub fn fused(text: &str, inputs: &[&[&str]]) -> Program {
    let mut program = read(text);
    let expected = values(&program, inputs);
    for pass in [
        nova_opt::simplify::run,
        nova_opt::fuse::run,
        nova_opt::simplify::run,
    ] {
        apply(pass, &mut program);
        assert_eq!(values(&program, inputs), expected, "{}", print(&program));
    }
    program
}

/// Returns the number of array operations of a program, and the number of arrays that its
/// statements bind.
pub fn counts(program: &Program) -> (usize, usize) {
    let (mut operations, mut arrays) = (0, 0);
    for function in &program.functions {
        each_statement(&function.body, &mut |statement| {
            operations += usize::from(matches!(statement.expression, Expression::Operation(_)));
            let bound = statement.pattern.iter();
            arrays += bound
                .filter(|v| matches!(program.ty(**v), Type::Array(..)))
                .count();
        });
    }
    (operations, arrays)
}

/// Returns a `(lambda …)` that adds two f32. `name` makes the names of its variables unique.
pub fn plus(name: &str) -> String {
    format!(
        "(lambda [{name}p:f32 {name}q:f32] (do (let [{name}s:f32] (add f32 {name}p {name}q)) (in {name}s)))"
    )
}

/// Returns a function of a vector `x` and a number `k`.
fn of_vector(core_result: &str, results: &str, body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector f32)) (\"k\" i64)] {core_result} \"f\")
          (function \"f\" [n:i64 x:[n]f32 k:i64] [{results}] (do {body})))"
    )
}

const VECTORS: &[&[&str]] = &[
    &["[]", "0"],
    &["[1.5]", "0"],
    &["[1 2 3 4]", "2"],
    &["[1 -2 0 4 5 nan -0.0 7]", "3"],
];

/// `y = exp x`, which is expensive.
const EXPENSIVE: &str = "(let [y:[n]f32] (operation [n] [i:i64] []
    (do (let [a:f32] (index x [i])) (let [b:f32] (exp f32 a)) (in b)) (map)))";

/// `y = x + 1`, which is cheap.
const CHEAP: &str = "(let [y:[n]f32] (operation [n] [i:i64] []
    (do (let [a:f32] (index x [i])) (let [b:f32] (add f32 a 1f)) (in b)) (map)))";

#[test]
fn a_map_of_a_map_is_one_map() {
    let after = "(let [z:[n]f32] (operation [n] [j:i64] []
        (do (let [c:f32] (index y [j])) (let [d:f32] (mul f32 c c)) (in d)) (map)))
      (in n z)";
    for before in [CHEAP, EXPENSIVE] {
        let text = of_vector(
            "(vector f32)",
            "r:i64 s:[r]f32",
            &format!("{before} {after}"),
        );
        assert_eq!(counts(&fused(&text, VECTORS)), (1, 1));
    }
}

/// Views of `y`, and their numbers of elements. `m` is at most `n`.
const VIEWS: &[(&str, &str)] = &[
    ("(let [v:[n]f32] (slice y [t -1 n]))", "n"),
    (
        "(let [v:[1][n]f32] (reshape y [1 n])) (let [w:[n]f32] (row v [0]))",
        "n",
    ),
    (
        "(let [v:[1][n]f32] (reshape y [1 n])) (let [w:[n][1]f32] (transpose v [1 0]))
      (let [u:[n]f32] (reshape w [n]))",
        "n",
    ),
    ("(let [v:[n]f32] (copy y))", "n"),
];

#[test]
fn reads_go_through_views_and_gathers() {
    for (view, extent) in VIEWS {
        let last = view
            .rsplit("(let [")
            .next()
            .unwrap()
            .split(':')
            .next()
            .unwrap();
        let body = format!(
            "{EXPENSIVE} (let [t:i64] (sub i64 n 1)) {view}
            (let [z:[{extent}]f32] (operation [{extent}] [j:i64] []
              (do (let [c:f32] (index {last} [j])) (let [d:f32] (mul f32 c c)) (in d)) (map)))
            (in {extent} z)"
        );
        let program = fused(&of_vector("(vector f32)", "r:i64 s:[r]f32", &body), VECTORS);
        assert_eq!(counts(&program).0, 1, "{view}\n{}", print(&program));
    }
    let body = format!(
        "{CHEAP} (let [t:i64] (sub i64 n 1))
        (let [z:[n]f32] (operation [n] [j:i64] []
          (do (let [g:i64] (sub i64 t j)) (let [c:f32] (index y [g])) (in c)) (map)))
        (in n z)"
    );
    let program = fused(&of_vector("(vector f32)", "r:i64 s:[r]f32", &body), VECTORS);
    assert_eq!(counts(&program), (1, 1));
}

#[test]
fn maps_fuse_into_every_output() {
    let outputs = [
        (
            "f32",
            "s0:f32",
            "(in c)",
            format!("(reduce_comm [0f] {})", plus("r")),
            "u:f32",
            "(in u)",
        ),
        (
            "(vector f32)",
            "s0:i64 s1:[s0]f32",
            "(in c)",
            format!("(scan [0f] {})", plus("r")),
            "u:[n]f32",
            "(in n u)",
        ),
        (
            "(vector f32)",
            "s0:i64 s1:[s0]f32",
            "(let [g:bool] (gt f32 c 2f)) (in g c)",
            "(filter 1)".into(),
            "m:i64 u:[m]f32",
            "(in m u)",
        ),
        (
            "(vector f32)",
            "s0:i64 s1:[s0]f32",
            "(in j c)",
            "(scatter [x])".into(),
            "u:[n]f32",
            "(in n u)",
        ),
        (
            "(vector f32)",
            "s0:i64 s1:[s0]f32",
            "(in j c)",
            format!("(histogram 3 [0f] {})", plus("r")),
            "u:[3]f32",
            "(in 3 u)",
        ),
    ];
    for (core, results, uses, output, bound, given) in &outputs {
        for before in [CHEAP, EXPENSIVE] {
            let body = format!(
                "{before} (let [{bound}] (operation [n] [j:i64] []
                  (do (let [c:f32] (index y [j])) {uses}) {output})) {given}"
            );
            let program = fused(&of_vector(core, results, &body), VECTORS);
            assert_eq!(counts(&program).0, 1, "{output}\n{}", print(&program));
            assert!(!print(&program).contains("(map)"), "{output}");
        }
    }
}

#[test]
fn an_expensive_array_that_is_read_twice_is_stored_once() {
    let body = format!(
        "{EXPENSIVE}
        (let [u:f32] (operation [n] [j:i64] [] (do (let [c:f32] (index y [j])) (in c))
          (reduce_comm [0f] {})))
        (let [t:i64] (sub i64 n 1))
        (let [z:[n]f32] (operation [n] [l:i64] []
          (do (let [g:i64] (sub i64 t l)) (let [d:f32] (index y [g])) (let [e:f32] (sub f32 d u)) (in e)) (map)))
        (in n z)",
        plus("r")
    );
    let program = fused(&of_vector("(vector f32)", "r:i64 s:[r]f32", &body), VECTORS);
    assert_eq!(counts(&program), (2, 2), "{}", print(&program));
    assert_eq!(print(&program).matches("(exp ").count(), 1);
}

#[test]
fn what_two_arrays_share_is_computed_once() {
    // Both arrays are read once, in different operations, from the same exponential.
    let body = "(let [y:[n]f32 w:[n]f32] (operation [n] [i:i64] []
            (do (let [a:f32] (index x [i])) (let [b:f32] (exp f32 a)) (let [e:f32] (neg f32 b)) (in b e)) (map) (map)))
        (let [t:i64] (sub i64 n 1))
        (let [z:[n]f32] (operation [n] [j:i64] []
          (do (let [g:i64] (sub i64 t j)) (let [c:f32] (index y [g])) (in c)) (map)))
        (let [m:i64 v:[m]f32] (operation [n] [l:i64] []
          (do (let [d:f32] (index w [l])) (let [h:bool] (lt f32 d -2f)) (in h d)) (filter 1)))
        (in n z m v)";
    let text = of_vector(
        "(tuple (vector f32) (vector f32))",
        "r:i64 s:[r]f32 r1:i64 s1:[r1]f32",
        body,
    );
    let program = fused(&text, VECTORS);
    assert_eq!(
        print(&program).matches("(exp ").count(),
        1,
        "{}",
        print(&program)
    );
}

#[test]
fn operations_that_read_the_same_array_are_one() {
    let body = format!(
        "(let [u:f32] (operation [n] [i:i64] [] (do (let [a:f32] (index x [i])) (in a))
          (reduce_comm [0f] {})))
        (let [v:f32] (operation [n] [j:i64] []
          (do (let [b:f32] (index x [j])) (let [c:f32] (mul f32 b b)) (in c))
          (reduce_comm [0f] {})))
        (in u v)",
        plus("r"),
        plus("t")
    );
    let program = fused(&of_vector("(tuple f32 f32)", "r:f32 s:f32", &body), VECTORS);
    assert_eq!(counts(&program), (1, 0));
}

#[test]
fn an_operation_that_needs_a_reduction_stays_after_it() {
    let body = format!(
        "(let [u:f32] (operation [n] [i:i64] [] (do (let [a:f32] (index x [i])) (in a))
          (reduce_comm [0f] {})))
        (let [z:[n]f32] (operation [n] [j:i64] []
          (do (let [b:f32] (index x [j])) (let [c:f32] (sub f32 b u)) (in c)) (map)))
        (in n z)",
        plus("r")
    );
    let program = fused(&of_vector("(vector f32)", "r:i64 s:[r]f32", &body), VECTORS);
    assert_eq!(counts(&program), (2, 1));
}

/// Returns a function of two vectors. A check says that they are equally long.
fn of_two(core_result: &str, results: &str, body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector f32)) (\"y\" (vector f32))] {core_result} \"f\")
          (function \"f\" [n:i64 x:[n]f32 m:i64 y:[m]f32] [{results}] (do {body})))"
    )
}

const PAIRS: &[&[&str]] = &[
    &["[]", "[]"],
    &["[1 2 3]", "[4 5 6]"],
    &["[1 2]", "[4 5 6]"],
    &["[1 2 3]", "[4]"],
];

const EQUAL: &str = "(let [same:bool] (eq i64 n m)) (let [] (check same length [n m]))";

#[test]
fn extents_that_a_check_found_equal_are_equal() {
    let body = format!(
        "(let [z:[n]f32] (operation [n] [i:i64] []
          (do (let [a:f32] (index x [i])) (let [b:f32] (exp f32 a)) (in b)) (map)))
        {EQUAL}
        (let [u:f32] (operation [m] [j:i64] []
          (do (let [c:f32] (index y [j])) (let [d:f32] (index z [j])) (let [e:f32] (mul f32 c d)) (in e))
          (reduce_comm [0f] {})))
        (in n z u)",
        plus("r")
    );
    let program = fused(
        &of_two("(tuple (vector f32) f32)", "r:i64 s:[r]f32 t:f32", &body),
        PAIRS,
    );
    assert_eq!(counts(&program).0, 1, "{}", print(&program));
}

#[test]
fn only_arrays_over_the_space_change_their_extents() {
    // A histogram, a scatter and the survivors of a filter have other extents than the space.
    let body = format!(
        "(let [z:[n]f32 h:[4]f32 l:i64 v:[l]f32 o:[n]f32] (operation [n] [i:i64] []
          (do (let [a:f32] (index x [i])) (let [b:f32] (exp f32 a)) (let [g:bool] (gt f32 a 1f)) (in b i b g a b))
          (map) (histogram 4 [0f] {}) (filter 1) (scan [0f] {})))
        {EQUAL}
        (let [u:f32] (operation [m] [j:i64] []
          (do (let [c:f32] (index y [j])) (let [d:f32] (index z [j])) (let [e:f32] (mul f32 c d)) (in e))
          (reduce_comm [0f] {})))
        (in 4 h l v n o u)",
        plus("k"),
        plus("w"),
        plus("r")
    );
    let program = fused(
        &of_two(
            "(tuple (vector f32) (vector f32) (vector f32) f32)",
            "r0:i64 s0:[r0]f32 r1:i64 s1:[r1]f32 r2:i64 s2:[r2]f32 t:f32",
            &body,
        ),
        PAIRS,
    );
    assert_eq!(counts(&program).0, 1, "{}", print(&program));
}

#[test]
fn inner_bodies_know_only_what_was_checked_before_them() {
    // Both operations of the body read w at their own index. The check that they are equally long
    // comes only afterwards.
    let body = format!(
        "(let [w:[10]f32] (replicate [10] 1f))
        (let [o:[2]f32] (operation [2] [k:i64] []
          (do
            (let [u:f32] (operation [n] [i:i64] []
              (do (let [a:f32] (index w [i])) (let [a1:f32] (index x [i])) (let [a2:f32] (add f32 a a1)) (in a2)) (reduce_comm [0f] {})))
            (let [v:f32] (operation [m] [j:i64] []
              (do (let [b:f32] (index w [j])) (let [b1:f32] (index y [j])) (let [b2:f32] (add f32 b b1)) (in b2)) (reduce_comm [0f] {})))
            (let [] (trace \"u\" f32 [u]))
            (let [uv:f32] (add f32 u v))
            (in uv))
          (map)))
        {EQUAL}
        (in 2 o)",
        plus("r"),
        plus("q")
    );
    let body = body.replace(
        "(let [w:[10]f32] (replicate [10] 1f))",
        "(let [w:[10]f32] (literal f32 [1f 2f 3f 4f 5f 6f 7f 8f 9f 10f]))",
    );
    let program = fused(&of_two("(vector f32)", "r:i64 s:[r]f32", &body), PAIRS);
    assert_eq!(counts(&program).0, 3, "{}", print(&program));
}

#[test]
fn producers_that_can_fail_keep_their_error() {
    let body = "(let [y:[n]f32] (operation [n] [i:i64] []
          (do (let [a:f32] (index x [i])) (let [c:bool] (ne f32 a 0f)) (let [] (check c division [])) (in a)) (map)))
        (let [z:[n]f32] (operation [n] [j:i64] []
          (do (let [d:f32] (index y [j])) (let [e:f32] (add f32 d 1f)) (in e)) (map)))
        (in n z)";
    let program = fused(&of_vector("(vector f32)", "r:i64 s:[r]f32", body), VECTORS);
    assert_eq!(counts(&program).0, 1);
    assert_eq!(values(&program, &[&["[1 0]", "0"]])[0], "division");
}

#[test]
fn nothing_runs_before_the_check_that_makes_it_defined() {
    // The first operation makes sure that k is an index, and the element at k is read after it. An
    // operation that could be merged with the first one follows.
    let body = format!(
        "(let [] (operation [n] [i:i64] []
          (do (let [a:f32] (index x [i])) (let [c:bool] (lt i64 k n)) (let [] (check c index [k n]))
            (let [d:bool] (gt f32 a -9f)) (let [] (check d division [])) (in))))
        (let [empty:bool] (eq i64 n 0))
        (let [e:f32] (if empty (do (in 0f)) (do (let [e1:f32] (index x [k])) (in e1))))
        (let [u:f32] (operation [n] [j:i64] [] (do (let [b:f32] (index x [j])) (in b))
          (reduce_comm [0f] {})))
        (in e u)",
        plus("r")
    );
    let inputs: &[&[&str]] = &[&["[]", "7"], &["[1 2]", "1"], &["[1 2]", "7"]];
    let program = fused(&of_vector("(tuple f32 f32)", "r:f32 s:f32", &body), inputs);
    assert_eq!(values(&program, &[&["[1 2]", "7"]])[0], "index");
}

#[test]
fn effects_stay_in_order() {
    // A producer that can fail does not pass a trace.
    let body = "(let [y:[n]f32] (operation [n] [i:i64] []
          (do (let [a:f32] (index x [i])) (let [c:bool] (ne f32 a 0f)) (let [] (check c division [])) (in a)) (map)))
        (let [] (trace \"k\" i64 [k]))
        (let [z:[n]f32] (operation [n] [j:i64] []
          (do (let [d:f32] (index y [j])) (let [e:f32] (add f32 d 1f)) (in e)) (map)))
        (in n z)";
    let text = of_vector("(vector f32)", "r:i64 s:[r]f32", body);
    assert_eq!(counts(&fused(&text, VECTORS)).0, 2);
    // Operations that trace in their elements are not merged.
    let body = "(let [y:[n]f32] (operation [n] [i:i64] []
          (do (let [a:f32] (index x [i])) (let [] (trace \"a\" f32 [a])) (in a)) (map)))
        (let [z:[n]f32] (operation [n] [j:i64] []
          (do (let [d:f32] (index y [j])) (let [] (trace \"d\" f32 [d])) (in d)) (map)))
        (in n z)";
    let text = of_vector("(vector f32)", "r:i64 s:[r]f32", body);
    assert_eq!(counts(&fused(&text, VECTORS)).0, 2);
}

#[test]
fn operations_in_order_are_no_producers() {
    let body = "(let [end:f32 y:[n]f32] (operation [n] [i:i64] [c:f32 = 0f]
          (do (let [a:f32] (index x [i])) (let [b:f32] (add f32 a c)) (in b b)) (map)))
        (let [z:[n]f32] (operation [n] [j:i64] []
          (do (let [d:f32] (index y [j])) (let [e:f32] (add f32 d end)) (in e)) (map)))
        (in n z)";
    let text = of_vector("(vector f32)", "r:i64 s:[r]f32", body);
    assert_eq!(counts(&fused(&text, VECTORS)), (2, 2));
    // But an array may be computed in the loop that uses it.
    let body = format!(
        "{EXPENSIVE} (let [end:f32] (operation [n] [j:i64] [c:f32 = 0f]
          (do (let [d:f32] (index y [j])) (let [e:f32] (sub f32 d c)) (in e))))
        (in end)"
    );
    let text = of_vector("f32", "r:f32", &body);
    assert_eq!(counts(&fused(&text, VECTORS)), (1, 0));
}

#[test]
fn an_expensive_array_is_not_computed_in_an_inner_loop() {
    let body = format!(
        "{EXPENSIVE} (let [z:[n]f32] (operation [n] [j:i64] []
          (do (let [u:f32] (operation [n] [l:i64] []
            (do (let [d:f32] (index y [l])) (let [d1:f32] (index x [j])) (let [e:f32] (mul f32 d d1)) (in e))
            (reduce_comm [0f] {}))) (in u))
          (map)))
        (in n z)",
        plus("r")
    );
    let text = of_vector("(vector f32)", "r:i64 s:[r]f32", &body);
    assert_eq!(counts(&fused(&text, VECTORS)), (3, 2));
    let text = text.replace("(exp f32 a)", "(add f32 a 1f)");
    assert_eq!(counts(&fused(&text, VECTORS)), (2, 1));
}

#[test]
fn statements_between_operations_move_after_both() {
    // The first element of y is read between the operations. k decides which.
    let body = format!(
        "{EXPENSIVE} (let [some:bool] (lt i64 k n))
        (let [e:f32] (if some (do (let [e1:f32] (index y [k])) (in e1)) (do (in 0f))))
        (let [u:f32] (operation [n] [j:i64] [] (do (let [d:f32] (index y [j])) (in d))
          (reduce_comm [0f] {})))
        (in e u)",
        plus("r")
    );
    let text = of_vector("(tuple f32 f32)", "r:f32 s:f32", &body);
    assert_eq!(counts(&fused(&text, VECTORS)), (1, 1));
    // It does not move where the later operation needs it.
    let text = text.replace(
        "[j:i64] [] (do (let [d:f32] (index y [j])) (in d))",
        "[j:i64] [] (do (let [d0:f32] (index y [j])) (let [d:f32] (sub f32 d0 e)) (in d))",
    );
    assert_eq!(counts(&fused(&text, VECTORS)), (2, 1));
}

#[test]
fn merged_operations_stay_short() {
    let mut body = String::new();
    let count = 600;
    for k in 0..count {
        body += &format!(
            "(let [u{k}:f32] (operation [n] [i{k}:i64] []
              (do (let [a{k}:f32] (index x [i{k}])) (let [b{k}:f32] (add f32 a{k} {k}f)) (in b{k}))
              (reduce_comm [0f] {})))\n",
            plus(&format!("r{k}"))
        );
    }
    body += "(let [v0:f32] (atom u0))";
    for k in 1..count {
        body += &format!("(let [v{k}:f32] (add f32 v{} u{k}))\n", k - 1);
    }
    body += &format!("(in v{})", count - 1);
    let program = fused(
        &of_vector("f32", "r:f32", &body),
        &[&["[1 2]", "0"], &["[]", "0"]],
    );
    let operations = counts(&program).0;
    assert!((2..=30).contains(&operations), "{operations}");
}

/// Stores one block after another. The elements that the second one stores are read from the array
/// before the first. All positions and lengths of both, and all distances, are tested.
#[test]
fn reads_that_move_after_a_change_see_the_same_elements() {
    let mut moved = 0;
    for (first, second, count) in
        (0..5).flat_map(|a| (0..5).flat_map(move |b| (1..4).map(move |c| (a, b, c))))
    {
        for distance in [-3, -1, 0, 1, 3] {
            let from = second + distance;
            if first + count > 8 || second + count > 8 || from < 0 || from + count > 8 {
                continue;
            }
            let body = format!(
                "(let [eight:i64] (atom 8)) (let [same:bool] (eq i64 n eight))
                 (let [] (check same length [n 8]))
                 (let [own:[n]f32] (operation [n] [i:i64] []
                   (do (let [a:f32] (index x [i])) (let [b:f32] (exp f32 a)) (in b)) (map)))
                 (let [y:[{count}]f32] (operation [{count}] [j:i64] []
                   (do (let [at:i64] (add i64 j {from})) (let [c:f32] (index own [at]))
                       (let [d:f32] (exp f32 c)) (in d)) (map)))
                 (let [one:[n]f32] (operation [{count}] [k2:i64] []
                   (do (in 1f)) (scatter_block [{first}] [own])))
                 (let [two:[n]f32] (operation [{count}] [l:i64] []
                   (do (let [e:f32] (index y [l])) (let [g:f32] (add f32 e 2f)) (in g))
                   (scatter_block [{second}] [one])))
                 (in n two)"
            );
            let text = of_vector("(vector f32)", "r:i64 s:[r]f32", &body);
            let program = fused(&text, &[&["[1 2 3 4 5 6 7 8]", "0"]]);
            moved += usize::from(counts(&program).0 < 4);
        }
    }
    assert!(moved > 20, "{moved}");
}
