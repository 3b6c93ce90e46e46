//! Tests of unroll-and-jam: nests write what they wrote before, for every number of rows and columns. Nests
//! whose rows have no loads in common, or may not be interchanged, stay as they are.

use crate::programs::{after, floats, read};
use crate::values::text_of_value;
use nova_core::{ScalarValue, Value};
use nova_loop::ir::Program;
use nova_loop::print::print;

/// A function from a matrix with rows of `w` floats to another one, `t`, with some elements after
/// it; `body` writes row `i`.
fn nest(body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector f32)) (\"w\" i64)] (vector f32) \"f\")
          (function \"f\" [n:i64 x:(pointer f32) xb:block w:i64] [m:i64 r:(pointer f32) rb:block]
            (declare h:i64 (div i64 n (max i64 w 1)))
            (declare last:i32 (sub i32 (convert.i32 i64 h) 1i32))
            (declare t:(pointer f32)) (declare tb:block)
            (declare size:i64 (add i64 (mul i64 h w) 40))
            (allocate_result tb t f32 size 1 1)
            (for z size sequential (store t z 0.5f))
            (for i h sequential {body})
            (set m size) (set r t) (set rb tb)))"
    )
}

/// The sum of three elements in a column, one of each of these rows.
fn sum(rows: [&str; 3], column: &str) -> String {
    let [a, b, c] = rows.map(|row| format!("(load x (add i64 (mul i64 {row} w) {column}))"));
    format!("(add f32 (add f32 {a} {b}) {c})")
}

/// The row above and the row below, clamped at the edges.
const AROUND: &str = "(declare above:i64 (max i64 0 (sub i64 i 1)))
    (declare below:i64 (convert.i64 i32 (min i32 last (add i32 (convert.i32 i64 i) 1i32))))";
const ROWS: [&str; 3] = ["above", "i", "below"];

/// A loop over `count` columns from `first` on that writes a row.
fn columns(count: &str, first: &str, value: &str) -> String {
    format!(
        "(for j {count} sequential
           (declare k:i64 (add i64 j {first}))
           (store t (add i64 (mul i64 i w) k) {value}))"
    )
}

fn value(program: &Program, rows: u16, width: u16) -> String {
    let x = (0..rows * width).map(|k| 0.5 + f32::from(k % 101 * 37 % 101));
    let width = Value::Scalar(ScalarValue::I64(i64::from(width)));
    text_of_value(program, &[floats(x), width])
}

/// Returns the text after the pass, which must read back and give the same values, also after strip-mining
/// of the loops over single rows.
fn rewritten(text: &str) -> String {
    let before = read(text);
    let (together, printed) = after(&before, nova_loop_opt::unroll_and_jam::run);
    let (in_strips, _) = after(&together, nova_loop_opt::strip_mining::run);
    for rows in [0, 1, 3, 4, 5, 7, 8, 13] {
        for width in (0..20).chain([32, 48, 64, 80, 100, 144]) {
            let expected = value(&before, rows, width);
            for program in [&together, &in_strips] {
                let found = value(program, rows, width);
                assert_eq!(
                    expected,
                    found,
                    "{rows} rows of {width}\n{}",
                    print(program)
                );
            }
        }
    }
    printed
}

fn stays(body: &str) {
    let text = rewritten(&nest(body));
    assert!(!text.contains("together"), "{text}");
}

#[test]
fn rows_that_neighbours_read_are_read_once() {
    let body = format!("{AROUND} {}", columns("w", "0", &sum(ROWS, "k")));
    let text = rewritten(&nest(&body));
    assert!(text.contains("(if together"), "{text}");
    // The starts of six rows for four iterations, and none for one.
    assert_eq!(text.matches("(declare row_").count(), 6, "{text}");
    assert_eq!(text.matches("(non_temporal_store [t_").count(), 4, "{text}");
    assert_eq!(text.matches("(store_fence)").count(), 1, "{text}");
    // A clamped row in the middle is the row itself if it is not beyond an edge.
    assert!(text.contains("(eq i64 row_"), "{text}");
}

#[test]
fn sums_of_a_row_are_computed_once() {
    let line = |row: &str| sum([row; 3], "k");
    let body = format!(
        "{AROUND}
         (for j (sub i64 w 2) sequential
           (declare k:i64 (add i64 j 1))
           (declare a:f32 {}) (declare b:f32 {}) (declare c:f32 {})
           (store t (add i64 (mul i64 i w) k) (add f32 (add f32 a b) c)))
         (if (ge i64 w 1) (do (store t (mul i64 i w) 1.0f)))
         (if (ge i64 w 2) (do (store t (sub i64 (mul i64 (add i64 i 1) w) 1) 2.0f)))",
        line("above"),
        line("i"),
        line("below")
    );
    let text = rewritten(&nest(&body));
    assert!(text.contains("(if together"), "{text}");
    // Two additions for each of six rows, two for each of four, and the additions for a single row.
    assert_eq!(
        text.matches("(add f32 ").count(),
        6 * 2 + 4 * 2 + 3 * 2 + 2,
        "{text}"
    );
}

#[test]
fn computations_of_the_outer_loop_are_done_for_each_row() {
    let body = format!(
        "{AROUND} (declare scale:f32 (load x (mul i64 i w)))
         {}",
        columns("w", "0", &format!("(mul f32 scale {})", sum(ROWS, "k")))
    );
    // Rows without elements have none to scale with.
    let body = format!("{body} (if (ge i64 w 1) (do (store t (mul i64 h w) 0.25f)))");
    stays(&body);
    let body = body.replace("(if (ge i64 w 1) (do (store t (mul i64 h w) 0.25f)))", "");
    let text = rewritten(&nest(
        &body.replace("(load x (mul i64 i w))", "(convert.f32 i64 i)"),
    ));
    assert!(text.contains("(if together"), "{text}");
    assert_eq!(text.matches("(convert.f32 i64 ").count(), 4, "{text}");
}

#[test]
fn rows_of_an_array_and_of_its_chunks() {
    let body = format!(
        "(declare row:i64 (add i64 h (mul i64 -1 h)))
         (declare here:i64 (add i64 row i))
         (declare above:i64 (max i64 0 (sub i64 here 1)))
         (for j w sequential
           (store t (add i64 (mul i64 row w) (add i64 (mul i64 i w) j)) {}))",
        sum(["above", "here", "above"], "j")
    );
    let text = rewritten(&nest(&body));
    assert!(text.contains("(if together"), "{text}");
}

#[test]
fn a_map_stays() {
    stays(&columns("w", "0", &sum(["i"; 3], "k")));
}

#[test]
fn loads_that_all_rows_have_in_common_are_no_reason() {
    stays(&columns("w", "0", &sum(["0", "i", "0"], "k")));
}

#[test]
fn rows_that_overlap_stay() {
    // Each element has the value of the last row that writes it.
    let overlapping = format!(
        "{AROUND} (for j w sequential
           (if (lt i64 (add i64 i j) w) (do (store t (add i64 i j) (convert.f32 i64 j)))))"
    );
    stays(&overlapping);
    let diagonal = format!(
        "{AROUND} (for j (min i64 w 3) sequential
           (store t (add i64 (mul i64 2 i) j) {}))",
        sum(ROWS, "j")
    );
    stays(&diagonal);
    let longer = format!(
        "{AROUND} {}",
        columns("(add i64 w 1)", "0", &sum(ROWS, "0"))
    );
    let text = nest(&longer).replace("(for i h", "(for i (select (ge i64 w 1) h 0)");
    assert!(!rewritten(&text).contains("together"));
}

#[test]
fn columns_that_are_written_twice_keep_their_order() {
    let inner = columns("(sub i64 w 2)", "1", &sum(ROWS, "k"));
    for (least, column) in [(3, "1"), (3, "(sub i64 w 2)"), (2, "(div i64 w 2)")] {
        let edge =
            format!("(if (ge i64 w {least}) (do (store t (add i64 (mul i64 i w) {column}) 7.0f)))");
        stays(&format!("{AROUND} {edge} {inner}"));
        stays(&format!("{AROUND} {inner} {edge}"));
    }
    // A column of the next row, before that row is written.
    let next = "(if (and (ge i64 w 2) (lt i64 (add i64 i 1) h))
        (do (store t (add i64 (mul i64 (add i64 i 1) w) 1) 7.0f)))";
    let next = next.replace("(and (ge", "(and bool (ge");
    stays(&format!("{AROUND} {inner} {next}"));
}

#[test]
fn a_result_that_is_read_stays() {
    let back = "(load t (mul i64 h w))";
    let value = format!("(add f32 {back} {})", sum(ROWS, "k"));
    stays(&format!("{AROUND} {}", columns("w", "0", &value)));
    let before = format!("(declare old:f32 {back})");
    stays(&format!(
        "{AROUND} {before} {}",
        columns("w", "0", &sum(ROWS, "k"))
    ));
}

#[test]
fn a_body_that_may_fail_stays() {
    let inner = columns("w", "0", &sum(ROWS, "k"));
    let check = "(check (le i64 i h) overflow [i] \"a.nova:1:1\")";
    stays(&format!("{AROUND} {check} {inner}"));
    let inside = inner.replace("(store", &format!("{check} (store"));
    stays(&format!("{AROUND} {inside}"));
}

#[test]
fn a_loop_carried_value_stays() {
    let inner = columns("w", "0", &sum(ROWS, "k"));
    let body = format!("{AROUND} (set carried (add f32 carried 1.0f)) {inner}");
    let text = nest(&body).replace("(for i h", "(declare carried:f32 0.0f) (for i h");
    assert!(!rewritten(&text).contains("together"));
}
