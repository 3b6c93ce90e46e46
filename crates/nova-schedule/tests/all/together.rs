//! Rows that are reduced together.

use crate::support::{apply, read, value_with};
use nova_core::interpret::Options;
use nova_flat::ir::Program;
use nova_flat::print::print;

/// Returns the program of a map over the rows of `x` after the pass. Its values must stay the same.
#[track_caller]
fn unrolled_and_jammed(before: &str, element: &str, after: &str) -> String {
    let length = if before.contains("[l:i64]") { "l" } else { "m" };
    let text = format!(
        "(program (entry \"f\" [(\"x\" (array 2 f32)) (\"y\" (vector f32))] (vector f32) \"f\")
          (function \"f\" [n:i64 m:i64 x:[n][m]f32 k:i64 y:[k]f32] [r0:i64 r:[r0]f32] (do
            (let [o:bool] (eq i64 m k)) (let [] (check o length [m k]))
            (let [z:[n]f32] (operation [n] [i:i64] []
              (do {before}
                (let [s:f32] (operation [{length}] [j:i64] [] (do {element} (in e))
                  (reduce_comm [0.5f]
                    (lambda [p:f32 q:f32] (do (let [t:f32] (add f32 p q)) (in t))))))
                {after} (in u)) (map)))
            (in n z))))"
    );
    let mut program = read(&text);
    let values = |program: &Program| {
        let mut values = Vec::new();
        for (strict, rows, columns) in SIZES {
            let options = Options {
                strict,
                trace: &|_| {},
                ..Options::default()
            };
            let numbers = |i: usize, count: usize| {
                let number = |j: usize| format!("{}.25", (i * 7 + j * 5) % 11);
                let numbers: Vec<String> = (0..count).map(number).collect();
                format!("[{}]", numbers.join(" "))
            };
            let matrix = format!(
                "(reshape ({rows}, {columns}) {})",
                numbers(1, rows * columns)
            );
            values.push(value_with(
                program,
                &[&matrix, &numbers(2, columns)],
                &options,
            ));
        }
        values
    };
    let expected = values(&program);
    let run: fn(&mut Program) = |program| nova_schedule::together::run(program, false);
    apply(run, &mut program);
    assert_eq!(values(&program), expected, "{}", print(&program));
    print(&program)
}

/// Strict order, rows and columns: short rows, and long ones, which are reduced together.
const SIZES: [(bool, usize, usize); 10] = [
    (false, 0, 3),
    (false, 5, 3),
    (true, 4, 4095),
    (false, 0, 4096),
    (false, 1, 4096),
    (true, 3, 4096),
    (false, 4, 4100),
    (true, 5, 4096),
    (false, 7, 4097),
    (true, 8, 4096),
];

const PRODUCT: &str = "(let [a:f32] (index x [i j])) (let [b:f32] (index y [j]))
    (let [e:f32] (mul f32 a b))";
const SUM: &str = "(let [u:f32] (add f32 s s))";

#[test]
fn rows_that_read_something_in_common_are_reduced_together() {
    let text = unrolled_and_jammed("", PRODUCT, SUM);
    assert!(text.contains("(join [n_"), "{text}");
    let before = "(let [g:i64] (sub i64 n i)) (let [h:i64] (sub i64 g 1))";
    let element = PRODUCT.replace("[i j]", "[h j]");
    let text = unrolled_and_jammed(before, &element, SUM);
    assert!(text.contains("(join [n_"), "{text}");
}

#[test]
fn other_rows_are_reduced_one_by_one() {
    for (before, element, after) in [
        // The rows read nothing in common.
        ("", "(let [e:f32] (index x [i j]))", SUM),
        // The rows read nothing of their own.
        ("", "(let [e:f32] (index y [j]))", SUM),
        // The map may fail.
        (
            "",
            PRODUCT,
            "(let [o2:bool] (lt i64 i 7)) (let [] (check o2 index [i n])) (let [u:f32] (add f32 s s))",
        ),
        // The length is known only inside.
        ("(let [l:i64] (add i64 m 0))", PRODUCT, SUM),
    ] {
        let text = unrolled_and_jammed(before, element, after);
        assert!(!text.contains("(join [n_"), "{text}");
    }
}
