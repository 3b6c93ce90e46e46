//! Tests of narrow accumulators: sums of small integers are the same in narrow lanes, for every length and
//! also where they wrap. Other sums stay as they are.

use crate::programs::{after, read};
use crate::values::value;
use nova_loop::print::print;

/// Lengths near those where lanes, rows and blocks begin and end.
const LENGTHS: &[usize] = &[
    0, 1, 63, 1023, 1024, 1025, 1087, 1088, 1279, 1280, 8191, 8192, 8193, 8256, 9300, 16383, 16384,
    16640, 20001, 32768, 33001,
];

/// A function from bytes to a number of type `ty`, with the loop `body` over `i` that changes `s`.
fn function(ty: &str, start: &str, body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector u8))] {ty} \"f\")
          (function \"f\" [n:i64 x:(pointer u8) xb:block] [r:{ty}]
            (declare s:{ty} {start})
            (for i n sequential {body})
            (set r s)))"
    )
}

/// Returns the text after the pass, which must give the same values.
fn rewritten(ty: &str, start: &str, body: &str) -> String {
    let before = read(&function(ty, start, body));
    let (after, text) = after(&before, nova_loop_opt::narrow_accumulators::run);
    for length in LENGTHS {
        let bytes: Vec<u8> = (0..*length).map(|k| (k * 37 % 251) as u8).collect();
        let values = [&before, &after].map(|program| value(program, bytes.clone()));
        assert_eq!(values[0], values[1], "length {length}\n{text}");
    }
    text
}

#[track_caller]
fn becomes(ty: &str, start: &str, body: &str, lanes: Option<&str>) {
    let text = rewritten(ty, start, body);
    match lanes {
        Some(lanes) => assert!(text.contains(lanes), "{text}"),
        None => assert!(!text.contains("lanes"), "{text}"),
    }
}

#[test]
fn counts_of_bytes_go_to_lanes_of_bytes() {
    let condition = "(lt u8 (load x i) 100u8)";
    let body = format!("(set s (add i32 s (select {condition} 1i32 0i32)))");
    becomes("i32", "5i32", &body, Some("(pointer u8)"));
    // The total wraps.
    becomes("i32", "2147483640i32", &body, Some("(pointer u8)"));
    let body = format!("(set s (add i64 (convert.i64 bool {condition}) s))");
    becomes("i64", "-7", &body, Some("lanes_"));
    let body = format!(
        "(declare c:bool {condition})
         (declare v:i16 (select c 3i16 1i16))
         (set s (add i16 s v))"
    );
    becomes("i16", "32760i16", &body, Some("lanes_"));
}

#[test]
fn rows_prefetch_for_later_rows() {
    let count = |array: &str| format!("(set s (add i32 s (select (lt u8 {array} 9u8) 1i32 0i32)))");
    let text = rewritten("i32", "0i32", &count("(load x i)"));
    assert!(text.contains("(prefetch_stream x"), "{text}");
    // Nothing is prefetched where no array is read from front to back.
    let text = rewritten("i32", "0i32", &count("(wrap.u8 i64 i)"));
    assert!(!text.contains("(prefetch"), "{text}");
}

#[test]
fn lanes_are_as_wide_as_the_elements_that_they_count() {
    let lanes = |condition: &str| {
        let body = format!("(set s (add i64 s (select {condition} 1 0)))");
        let text = rewritten("i64", "0", &body);
        let (_, lanes) = text.split_once("(local lanes_").unwrap_or_default();
        let (_, count) = lanes.split_once(") ").unwrap_or_default();
        count.split(')').next().unwrap_or_default().to_string()
    };
    assert_eq!(lanes("(lt u8 (load x i) 9u8)"), "64");
    assert_eq!(lanes("(lt u16 (convert.u16 u8 (load x i)) 9u16)"), "32");
    assert_eq!(lanes("(lt f32 (convert.f32 u8 (load x i)) 9.0f)"), "16");
    assert_eq!(lanes("(lt f64 (convert.f64 u8 (load x i)) 9.0L)"), "");
    assert_eq!(lanes("(lt i64 i 900)"), "");
}

#[test]
fn sums_of_bytes_go_to_lanes_of_two() {
    let element = "(convert.i32 u8 (load x i))";
    let body = format!("(set s (add i32 s {element}))");
    becomes("i32", "-1i32", &body, Some("lanes_"));
    let body = format!("(declare b:u8 (load x i)) (set s (add i32 s (and i32 {element} 3i32)))");
    // The numbers are small, but are computed in as many bits as the total has.
    becomes("i32", "0i32", &body, None);
    let body = "(set s (add i32 s (convert.i32 u8 (and u8 (load x i) 3u8))))";
    becomes("i32", "0i32", body, Some("64"));
}

#[test]
fn several_totals_have_lanes_each() {
    let body = "(declare b:u8 (load x i))
         (declare t:i64 (load y 0))
         (set s (add i32 s (select (gt u8 b 7u8) 1i32 0i32)))
         (set q (add i64 q (select (lt u8 b 7u8) 2 0)))";
    let text = function("i32", "0i32", body)
        .replace(
            "(declare s",
            "(local y:(pointer i64) 1) (store y 0 0) (declare q:i64 0) (declare s",
        )
        .replace("(set r s)", "(set r (add i32 s (convert.i32 i64 q)))");
    let before = read(&text);
    let mut after = before.clone();
    nova_loop_opt::narrow_accumulators::run(&mut after);
    nova_loop::verify(&after).unwrap();
    let text = print(&after);
    assert_eq!(text.matches("(local lanes").count(), 2, "{text}");
    for length in LENGTHS {
        let bytes: Vec<u8> = (0..*length).map(|k| (k % 11) as u8).collect();
        let values = [&before, &after].map(|program| value(program, bytes.clone()));
        assert_eq!(values[0], values[1], "length {length}\n{text}");
    }
}

#[test]
fn other_loops_stay() {
    // A total that is read, one that is added to twice, numbers that may be negative or large.
    let count = "(select (lt u8 (load x i) 100u8) 1i32 0i32)";
    for body in [
        "(set s (add i32 s (select (lt i32 s 100i32) 1i32 0i32)))".to_string(),
        format!("(set s (add i32 s {count})) (set s (add i32 s {count}))"),
        "(set s (add i32 s (select (lt u8 (load x i) 100u8) 1i32 -1i32)))".to_string(),
        "(set s (sub i32 s (select (lt u8 (load x i) 100u8) 1i32 0i32)))".to_string(),
        "(set s (add i32 s (select (lt u8 (load x i) 100u8) 60000i32 0i32)))".to_string(),
        format!("(declare t:i32 s) (set s (add i32 s {count}))"),
        format!("(check (lt i64 i 90000) index [i n]) (set s (add i32 s {count}))"),
    ] {
        becomes("i32", "0i32", &body, None);
    }
}
