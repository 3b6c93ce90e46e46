//! Tests of prefix scans in strips: loops with running results give what they gave before, for every length,
//! a few iterations at a time. Loops whose order matters stay as they are.

use crate::programs::{after, read};
use crate::values::text_of_value;
use nova_core::text::read_value;
use nova_loop::ir::Program;
use nova_loop::print::print;

/// A function from numbers and a number to numbers, in which `body` writes the memory `t` of the
/// result, or `s` first.
fn function(element: &str, declared: &str, body: &str) -> String {
    let e = element;
    format!(
        "(program
          (entry \"f\" [(\"x\" (vector {e})) (\"a\" {e})] (vector {e}) \"f\")
          (function \"f\" [n:i64 x:(pointer {e}) xb:block a:{e}] [m:i64 r:(pointer {e}) rb:block]
            (declare t:(pointer {e})) (declare tb:block) (allocate_result tb t {e} n 1 1)
            (declare s:(pointer {e})) (declare sb:block) (allocate sb s {e} n)
            {declared}
            (for i n sequential {body})
            (release sb) (set m n) (set r t) (set rb tb)))"
    )
}

fn value(program: &Program, element: &str, length: usize) -> String {
    let of = |k: usize| match element {
        "bool" => ["false", "true"][usize::from(k % 23 == 11)].to_string(),
        "f32" | "f64" => format!("{:?}", (k * 37 % 101) as f64 / 4.0 - 6.0),
        _ => format!("{}", k * 37 % 101),
    };
    let x: Vec<String> = (0..length).map(of).collect();
    let texts = [format!("[{}]", x.join(" ")), of(3)];
    let entry = &program.entries[0];
    let inputs = entry.inputs.iter().zip(&texts);
    let inputs: Vec<_> = inputs
        .map(|((_, ty), text)| read_value(text, ty, &program.sums).unwrap())
        .collect();
    text_of_value(program, &inputs)
}

/// Returns the text after the pass, which must read back and give the same values.
fn rewritten(element: &str, text: &str) -> String {
    let before = read(text);
    let (after, printed) = after(&before, nova_loop_opt::strip_mining::run);
    for length in (0..20).chain([31, 32, 33, 47, 48, 63, 64, 65, 100, 200]) {
        let (a, b) = (
            value(&before, element, length),
            value(&after, element, length),
        );
        assert_eq!(a, b, "length {length}\n{printed}");
    }
    printed
}

/// Returns the number of prefix scans in the result of the pass for a loop over integers.
fn scans(declared: &str, body: &str) -> usize {
    let text = rewritten("i32", &function("i32", declared, body));
    text.matches("(prefix_scan_").count()
}

#[test]
fn every_operator_and_type() {
    let integers = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
    let mut all = Vec::new();
    for operation in ["add", "mul", "min", "max", "and", "or", "xor"] {
        all.extend(integers.map(|element| (operation, element)));
    }
    for operation in ["add", "min", "max"] {
        all.extend(["f32", "f64"].map(|element| (operation, element)));
    }
    all.extend(["and", "or"].map(|operation| (operation, "bool")));
    for (operation, element) in all {
        let step = format!("(set last ({operation} {element} last (load x i)))");
        let store = "(store t i last)";
        for (body, which) in [
            (format!("{step} {store}"), "inclusive"),
            (
                format!("(declare v:{element} (load x i)) {store} {step}")
                    .replace("(load x i)))", "v))"),
                "exclusive",
            ),
        ] {
            let text = function(element, &format!("(declare last:{element} a)"), &body);
            let text = rewritten(element, &text);
            let (word, combines) = (
                format!("(prefix_scan_{which} "),
                format!(" {element} {operation} "),
            );
            let found = text
                .lines()
                .any(|line| line.contains(&word) && line.contains(&combines));
            assert!(found, "{word} {combines} in {text}");
        }
    }
}

#[test]
fn computations_before_and_after_the_scan() {
    let sum = "(declare last:i32 a)";
    // The scan reads elements and writes results in place, without local arrays.
    let text = rewritten(
        "i32",
        &function(
            "i32",
            sum,
            "(set last (add i32 last (load x i))) (store t i last)",
        ),
    );
    assert!(text.contains("(prefix_scan_inclusive to_"), "{text}");
    assert!(!text.contains(" independent "), "{text}");
    // Fusion has made the sum a variable of the body.
    let body = "(declare v:i32 (load x i)) (declare w:i32 (mul i32 v v))
        (declare y:i32 (add i32 last w)) (store t i (sub i32 y v)) (set last y)";
    assert_eq!(scans(sum, body), 1);
    // An expensive value is stored.
    let body = "(declare v:i32 (load x i))
        (declare w:i32 (mul i32 v (add i32 v (mul i32 v (sub i32 v a)))))
        (set last (add i32 last w)) (store t i (sub i32 last w))";
    let text = rewritten("i32", &function("i32", sum, body));
    assert!(text.contains("(local w_"), "{text}");
    // The result is large enough for non-temporal stores.
    assert!(text.contains("(non_temporal_store_lines "), "{text}");
}

#[test]
fn several_running_results() {
    let both = "(declare last:i32 a) (declare most:i32 0i32)";
    let body = "(declare v:i32 (load x i)) (set last (add i32 last v)) (set most (max i32 most v))
        (store t i (sub i32 most last))";
    assert_eq!(scans(both, body), 2);
    // One of them is a scan of values that are computed from the other.
    let body = "(set last (add i32 last (load x i))) (set most (max i32 most (mul i32 last 3i32)))
        (store t i most) (store s i last)";
    assert_eq!(scans(both, body), 2);
    // One of them is not read inside the loop.
    let text = function(
        "i32",
        both,
        "(set last (add i32 last (load x i))) (set most (xor i32 most last)) (store t i last)",
    );
    let text = text.replace(
        "(release sb)",
        "(if (gt i64 n 0) (do (store t 0 most))) (release sb)",
    );
    assert_eq!(rewritten("i32", &text).matches("(prefix_scan_").count(), 2);
    // Results may be written anywhere.
    let body = "(set last (add i32 last 1i32))
        (store t (sub i64 (sub i64 n 1) i) last) (store s (convert.i64 i32 (sub i32 last a)) a)";
    let text = function("i32", "(declare last:i32 (sub i32 a 1i32))", body);
    assert!(rewritten("i32", &text).contains("(prefix_scan_"));
}

#[test]
fn arrays_are_changed_in_place() {
    let filled = "(declare last:i32 a) (for o n sequential (store t o (load x o)))";
    for body in [
        "(set last (add i32 last (load t i))) (store t i last)",
        "(declare v:i32 (load t i)) (set last (max i32 last v)) (store t i (sub i32 last v))",
        "(declare v:i32 (mul i32 a (load t i))) (declare y:i32 (add i32 last v))
         (store t i (sub i32 y (load t i))) (set last y)",
        "(declare v:i32 (load t i)) (store t i last) (set last (xor i32 last v))",
    ] {
        assert_eq!(scans(filled, body), 1, "{body}");
    }
    for body in [
        // Iterations read what others write.
        "(set last (add i32 last (load t (sub i64 (sub i64 n 1) i)))) (store t i last)",
        "(set last (add i32 last (load t i))) (store t (sub i64 (sub i64 n 1) i) last)",
        // The element is read after it is written.
        "(store t i a) (declare v:i32 (load t i)) (set last (add i32 last v)) (store s i last)",
        "(store t i last) (set last (add i32 last (load t i)))",
        // Other memory is read, which may be the same.
        "(set last (add i32 last (load t i))) (store t i (add i32 last (load x i)))",
    ] {
        assert_eq!(scans(filled, body), 0, "{body}");
    }
}

#[test]
fn loops_whose_order_matters_stay() {
    let sum = "(declare last:i32 a)";
    for body in [
        // No operator that is known to be associative.
        "(set last (sub i32 last (load x i))) (store t i last)",
        "(set last (add i32 (mul i32 last 3i32) (load x i))) (store t i last)",
        // The element that is combined depends on the running result.
        "(declare v:i32 (mul i32 last (load x i))) (set last (add i32 last v)) (store t i last)",
        // The running result is read before and after the step.
        "(store s i last) (set last (add i32 last (load x i))) (store t i last)",
        // A reduction.
        "(set last (add i32 last (load x i))) (store t i (load x i))",
        // The loop reads an array that it writes.
        "(store s i a) (set last (add i32 last (load s i))) (store t i last)",
    ] {
        assert_eq!(scans(sum, body), 0, "{body}");
    }
    let text = function(
        "f32",
        "(declare last:f32 a)",
        "(set last (add f32 last (load x i))) (store t i last)",
    );
    let mut program = read(&text);
    program.strict = true;
    nova_loop_opt::strip_mining::run(&mut program);
    assert!(!print(&program).contains("prefix_scan"));
}

#[test]
fn positions_of_a_filter_are_counted_in_order() {
    let kept = |body: &str| {
        let text = function("i32", "(declare kept:i64 0)", body);
        rewritten("i32", &text.replace("(set m n)", "(set m kept)"))
    };
    let cheap = "(declare v:i32 (load x i)) (declare k:i64 (convert.i64 bool (gt i32 v a)))
        (store t kept v) (set kept (add i64 kept k))";
    assert!(!kept(cheap).contains("(prefix_scan_"));
    // What decides is computed for a strip, where that saves more than the strip costs.
    let work = "(mul i32 (add i32 v a) (add i32 (mul i32 v v) (sub i32 v a)))";
    let costly = format!("(gt i32 (mul i32 {work} {work}) a)");
    let text = kept(&cheap.replace("(gt i32 v a)", &costly));
    assert!(text.contains(" independent"), "{text}");
    assert!(!text.contains("(prefix_scan_"), "{text}");
    // A position that is also a value is a running result.
    let value = cheap.replace("(store t kept v)", "(store t kept (wrap.i32 i64 kept))");
    assert!(kept(&value).contains("(prefix_scan_"));
}

/// Three steps, in each of which an array that the iteration allocates becomes the state `s`. `before` is what
/// happens to the new array before the loop over its elements.
fn steps(before: &str) -> String {
    format!(
        "(program
          (entry \"f\" [(\"x\" (vector i32)) (\"a\" i32)] (vector i32) \"f\")
          (function \"f\" [n:i64 x:(pointer i32) xb:block a:i32] [m:i64 r:(pointer i32) rb:block]
            (declare s:(pointer i32)) (declare sb:block) (allocate sb s i32 n)
            (for j n sequential (store s j (load x j)))
            (for k 3 sequential
              (declare t:(pointer i32)) (declare tb:block) (allocate tb t i32 n)
              {before}
              (declare last:i32 a)
              (for i n sequential
                (set last (max i32 last (load s i))) (store t i (add i32 last a)))
              (release sb) (set s t) (set sb tb))
            (set m n) (set r s) (set rb sb)))"
    )
}

#[test]
fn arrays_that_an_iteration_has_allocated() {
    let text = rewritten("i32", &steps(""));
    assert!(text.contains("(prefix_scan_inclusive"), "{text}");
    // Another pointer leads to the array.
    let text = rewritten("i32", &steps("(declare u:(pointer i32) t)"));
    assert!(!text.contains("(prefix_scan_inclusive"), "{text}");
}
