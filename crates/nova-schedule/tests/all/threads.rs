//! What threads of a processor get: chunks with all lanes, chunks of vector instructions, and what loops repeat.

use crate::parallelise::{ELEMENT, NUMBER, VECTOR, combine, program, values};
use crate::parallelise_strict;
use crate::support::apply;
use nova_flat::ir::Program;
use nova_flat::print::print;
use nova_schedule::Parallelism;

/// Returns the text of a parallelised map whose elements make vectors of these statements `made`, from `x` and
/// perhaps in a loop.
fn nested(made: &str, in_loop: bool) -> String {
    let body = match in_loop {
        true => {
            format!("(let [st:[n]f64] (operation [3] [l:i64] [c:[n]f64 = x] (do {made} (in v))))")
        }
        false => made
            .replace(" c [", " x [")
            .replace("[v:[n]f64]", "[st:[n]f64]"),
    };
    let body = format!(
        "(let [ys:[n]f64] (operation [n] [i:i64] [] (do {body} (let [y0:f64] (index st [i])) (in y0)) (map)))
         (let [m:f64] (operation [n] [i2:i64] [] (do (let [e2:f64] (index ys [i2])) (in e2)) {}))
         (in m)",
        combine("0.0L", "max")
    );
    let mut program = program(NUMBER, &body);
    let expected = values(&program, true);
    apply(parallelise_strict, &mut program);
    assert_eq!(values(&program, true), expected, "{}", print(&program));
    print(&program)
}

#[test]
fn what_a_loop_in_a_chunk_repeats_is_shared_while_threads_are_idle() {
    let map = |value: &str| {
        format!(
            "(let [v:[n]f64] (operation [n] [j:i64] [] (do (let [e:f64] (index c [j])) {value} (in w)) (map)))"
        )
    };
    let product = map("(let [w:f64] (mul f64 e k))");
    assert!(nested(&product, true).contains("may_split"));
    assert!(!nested(&product, false).contains("may_split"));
    // Vectors of functions differ from functions in the last bits.
    let function = map("(let [w:f64] (exp f64 e))");
    assert!(!nested(&function, true).contains("may_split"));
}

#[test]
fn chunks_of_maps_in_lockstep_have_all_lanes() {
    let fold = |state: &str| {
        format!(
            "(let [ys:[n]f64] (operation [n] [i:i64] [] (do
               (let [st:f64] (operation [n] [j:i64] [c:f64 = k] (do
                 (let [e:f64] (index x [j])) (let [w:f64] (mul f64 c e)) (in w))))
               {state} (in st)) (map)))
             (let [m:f64] (operation [n] [i2:i64] [] (do (let [e2:f64] (index ys [i2])) (in e2)) {}))
             (in m)",
            combine("0.0L", "max")
        )
    };
    let text = |state: &str| {
        let mut program = program(NUMBER, &fold(state));
        let expected = values(&program, true);
        apply(parallelise_strict, &mut program);
        assert_eq!(values(&program, true), expected, "{}", print(&program));
        print(&program)
    };
    assert!(text("").contains("(div i64 n_0 32)"));
    let array = "(let [z:[n]f64] (operation [2] [l:i64] [d:[n]f64 = x] (do
        (let [d2:[n]f64] (operation [n] [j2:i64] [] (do (let [e3:f64] (index d [j2])) (in e3)) (map))) (in d2))))";
    assert!(!text(array).contains("(div i64 n_0 32)"));
}

#[test]
fn operations_of_vector_instructions_have_more_work_in_a_chunk() {
    let text = |value: &str| {
        let body = format!(
            "(let [ys:[n]f64] (operation [n] [i:i64] [] (do {ELEMENT} {value} (in w)) (map))) (in n ys)"
        );
        let mut program = program(VECTOR, &body);
        let expected = values(&program, true);
        let parallelise = |program: &mut Program| {
            nova_schedule::run(
                program,
                Parallelism {
                    vectors: 1 << 20,
                    ..Parallelism::SMALL
                },
            );
        };
        apply(parallelise, &mut program);
        assert_eq!(values(&program, true), expected, "{}", print(&program));
        print(&program)
    };
    let (few, many) = (4, 4 << 20);
    assert!(text("(let [w:f64] (mul f64 b k))").contains(&format!(" {many})")));
    let scalar = [
        "(let [w:f64] (exp f64 b))",
        "(let [c:bool] (lt f64 b k)) (let [h:i64] (convert.i64 bool c)) (let [l:i64] (sub i64 h h))
         (let [w:f64] (index x [l]))",
    ];
    for value in scalar {
        assert!(text(value).contains(&format!(" {few})")), "{}", text(value));
    }
}
