//! Tests of packed filters: they give what they gave before, for every length and number of survivors, and loops
//! that are no filters, or of whose arrays something else is needed, stay as they are.

use crate::programs::{after, floats, read};
use crate::values::text_of_value;
use nova_core::{ScalarValue, Value};
use nova_loop::idioms::Idiom;
use nova_loop::ir::{Command, Program};
use nova_loop::walk::each_command;

/// A function of floats and a limit that allocates `t` for floats, `p` for places and `b` for bytes. The loop keeps
/// `c` elements.
fn function(before: &str, body: &str, result: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector f32)) (\"a\" f32)] (vector {result}) \"f\")
          (function \"f\" [n:i64 x:(pointer f32) xb:block a:f32] [m:i64 r:(pointer {result}) rb:block]
            (declare t:(pointer f32)) (declare tb:block) (allocate tb t f32 n \"f.nova:1:1\")
            (declare p:(pointer i64)) (declare pb:block) (allocate pb p i64 n \"f.nova:1:1\")
            (declare b:(pointer u8)) (declare bb:block) (allocate bb b u8 n \"f.nova:1:1\")
            {before}
            (declare c:i64 0) (declare d:i64 0)
            (for i n sequential {body})
            {}))",
        match result {
            "f32" => "(set m c) (set r t) (set rb tb) (release pb) (release bb)",
            _places => "(set m c) (set r p) (set rb pb) (release tb) (release bb)",
        }
    )
}

/// The element of an iteration, and the condition under which it is kept.
const KEPT: &str = "(declare y:f32 (load x i)) (declare q:bool (gt f32 y a))";
/// The store of the element, and the place of the next one.
const STORE: &str = "(store t c y)";
const COUNT: &str = "(set c (add i64 c (convert.i64 bool q)))";

fn value(program: &Program, length: u16, limit: f32) -> String {
    let x = (0..length).map(|k| f32::from(k * 37 % 101));
    text_of_value(
        program,
        &[floats(x), Value::Scalar(ScalarValue::F32(limit))],
    )
}

/// Returns the number of loops after the pass that pack an array. The program must give the same values.
fn packed(text: &str) -> usize {
    let before = read(text);
    let (after, printed) = after(&before, nova_loop_opt::strip_mining::run);
    for length in (0..4).chain([31, 32, 33, 127, 128, 129, 255, 256, 257, 700]) {
        for limit in [-1.0, 0.0, 50.0, 97.0, 100.0] {
            let (a, b) = (value(&before, length, limit), value(&after, length, limit));
            assert_eq!(a, b, "length {length}, limit {limit}\n{printed}");
        }
    }
    let mut found = 0;
    for function in &after.functions {
        each_command(&function.body, |command| {
            if let Command::For { variable, body, .. } = command {
                let idiom = Idiom::of(&after, *variable, body);
                found += usize::from(matches!(idiom, Some(Idiom::Compaction { .. })));
            }
        });
    }
    found
}

#[test]
fn a_filter_packs_its_elements() {
    assert_eq!(
        packed(&function("", &format!("{KEPT} {STORE} {COUNT}"), "f32")),
        1
    );
}

#[test]
fn places_and_costly_values_are_packed_as_well() {
    let body = format!(
        "{KEPT} (declare z:f32 (sqrt f32 (sqrt f32 y))) (declare w:bool (gt f32 z 2.0f))
         (store p c (add i64 i 3)) (store t c z) (set c (add i64 c (convert.i64 bool w)))"
    );
    for result in ["f32", "i64"] {
        assert_eq!(packed(&function("", &body, result)), 2);
    }
}

#[test]
fn two_filters_of_one_loop_are_packed() {
    let body = format!(
        "{KEPT} {STORE} {COUNT} (store p d i) (set d (add i64 d (convert.i64 bool (lt f32 y 9.0f))))"
    );
    assert_eq!(packed(&function("", &body, "f32")), 2);
}

#[test]
fn the_place_may_begin_behind_others() {
    let before = "(declare s:i64 0)";
    let body = format!("{KEPT} (store t (add i64 s c) y) {COUNT}");
    assert_eq!(packed(&function(before, &body, "f32")), 1);
}

#[test]
fn what_else_is_in_the_array_stays() {
    // Elements behind those that are kept are results, too.
    let before = "(for j n sequential (store t j 7.0f))";
    let text = function(before, &format!("{KEPT} {STORE} {COUNT}"), "f32");
    assert_eq!(packed(&text.replace("(set m c)", "(set m n)")), 0);
}

#[test]
fn loops_that_are_no_filters_stay() {
    for body in [
        // Elements of a byte.
        format!("{KEPT} {STORE} (store b c 1u8) {COUNT}"),
        // The number of survivors is a value.
        format!("{KEPT} {STORE} (store p c c) {COUNT}"),
        // Steps of two.
        format!("{KEPT} {STORE} (set c (add i64 c (mul i64 2 (convert.i64 bool false))))"),
        // The place is that of the next element.
        format!(
            "{KEPT} (declare o:i64 (convert.i64 bool q)) (set c (add i64 c o)) (store t (sub i64 c o) y)"
        ),
        // Another value is passed on.
        format!("{KEPT} {STORE} {COUNT} (set d (add i64 d c))"),
    ] {
        assert_eq!(packed(&function("", &body, "f32")), 0, "{body}");
    }
}
