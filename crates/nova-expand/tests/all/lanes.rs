//! Tests of commutative reductions as rows of lanes. At every length where rows or blocks begin or end they
//! give the value of the order that all representations share, under strict floating point to the
//! last bit.

use crate::results;
use crate::support::{outcome, read};
use nova_core::order::{Order, reduce};
use nova_core::text::print_value;
use nova_core::{ScalarValue, Value};

const LENGTHS: &[usize] = &[0, 1, 31, 32, 33, 1023, 1024, 1025, 3000, 4096, 4097];

/// Numbers whose sums in different orders soon differ.
fn numbers(count: usize) -> Vec<f64> {
    (0..count)
        .map(|k| {
            f64::from((k * 7919 % 1009) as f32 / 64.0 + 0.1) * if k % 3 == 0 { -1.0 } else { 1.0 }
        })
        .collect()
}

fn text_of(numbers: &[f64]) -> String {
    let word = |x: &f64| x.to_string().to_lowercase();
    let words: Vec<String> = numbers.iter().map(word).collect();
    format!("[{}]", words.join(" "))
}

/// Returns the outcome of Loop for a program of Flat, which must agree with that of the interpreter of Flat.
fn run(flat: &str, input: &str, strict: bool, has_lanes: bool) -> String {
    let single = flat.contains("f32");
    let program = read("lanes", flat);
    nova_flat::verify::verify(&program).unwrap();
    let translated = nova_expand::translate(&nova_mem::introduce(&program), strict).unwrap();
    nova_loop::verify(&translated).unwrap();
    let text = nova_loop::print::print(&translated);
    assert_eq!(text.contains("(local lanes"), has_lanes, "{text}");
    // Lanes that are filled row by row start with the neutral element.
    assert_eq!(text.contains("(for lane"), has_lanes, "{text}");
    let results = results(&program, &translated, input, strict);
    let [wanted, found] = results.map(|result| outcome(&program, result));
    assert_agree(&found, &wanted, strict, single);
    found
}

/// Asserts that texts of values agree: to the last bit where the order is strict, and to the last digits
/// where it is free. There the sign of a zero may differ, too. `single` is true for texts with numbers of
/// `f32`.
#[track_caller]
fn assert_agree(found: &str, wanted: &str, strict: bool, single: bool) {
    let precision = if single { 1e-5 } else { 1e-13 };
    let close = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => a == b || x == y || (x - y).abs() <= precision * y.abs(),
        _ => a == b,
    };
    let words = |text: &str| -> Vec<String> {
        let words = text.split(['(', ')', '[', ']', ',', ' ']);
        words.map(str::to_owned).collect()
    };
    let (left, right) = (words(found), words(wanted));
    let alike = left.len() == right.len() && left.iter().zip(&right).all(|(a, b)| close(a, b));
    let agree = found == wanted || (!strict && alike);
    let start = |text: &str| text.chars().take(200).collect::<String>();
    assert!(
        agree,
        "{} is not {}, strict: {strict}",
        start(found),
        start(wanted)
    );
}

/// A reduction of a vector of `ty` by `operation`.
fn reduction(ty: &str, operation: &str, start: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (vector {ty}))] {ty} \"f\")
          (function \"f\" [n:i64 x:[n]{ty}] [r:{ty}] (do
            (let [s:{ty}] (operation [n] [i:i64] [] (do (let [a:{ty}] (index x [i])) (in a))
              (reduce_comm [{start}]
                (lambda [p:{ty} q:{ty}] (do (let [t:{ty}] ({operation} {ty} p q)) (in t))))))
            (in s))))"
    )
}

/// Returns the value of a reduction in the order that all representations share, of `f32` if `single`, else
/// of `f64`.
fn expected(
    numbers: &[f64],
    single: bool,
    strict: bool,
    start: f64,
    f: fn(f64, f64) -> f64,
) -> String {
    let order = Order {
        commutes: true,
        strict,
        scalars_only: true,
    };
    // Each sum and product of two f32 is rounded once, also by way of f64.
    let rounded = |x: f64| if single { f64::from(x as f32) } else { x };
    let element = |k: usize| Ok::<_, ()>(rounded(numbers[k]));
    let value = reduce(numbers.len(), order, start, element, |a, b| {
        Ok(rounded(f(a, b)))
    });
    let (value, ty) = match single {
        true => (
            ScalarValue::F32(value.unwrap() as f32),
            nova_core::Scalar::F32,
        ),
        false => (ScalarValue::F64(value.unwrap()), nova_core::Scalar::F64),
    };
    print_value(&Value::Scalar(value), &nova_core::Type::Scalar(ty), &[])
}

#[test]
fn sums_and_products() {
    for length in LENGTHS {
        let numbers = numbers(*length);
        let near_one: Vec<f64> = numbers.iter().map(|x| 1.0 + x / 1024.0).collect();
        for strict in [false, true] {
            for (ty, start, single) in [("f32", "0.5f", true), ("f64", "0.5L", false)] {
                let sum = run(
                    &reduction(ty, "add", start),
                    &text_of(&numbers),
                    strict,
                    true,
                );
                let wanted = expected(&numbers, single, strict, 0.5, |a, b| a + b);
                assert_agree(&sum, &wanted, strict, single);
                let product = run(
                    &reduction(ty, "mul", start),
                    &text_of(&near_one),
                    strict,
                    true,
                );
                let wanted = expected(&near_one, single, strict, 0.5, |a, b| a * b);
                assert_agree(&product, &wanted, strict, single);
            }
        }
    }
}

#[test]
fn the_sum_of_negative_zeros_is_negative() {
    for length in LENGTHS {
        let zeros = text_of(&vec![-0.0; *length]);
        for strict in [false, true] {
            let sum = run(&reduction("f32", "add", "-0.0f"), &zeros, strict, true);
            assert_eq!(sum, "-0.0", "{length}");
        }
    }
}

#[test]
fn least_and_greatest() {
    for length in LENGTHS {
        for strict in [false, true] {
            let extremes = |numbers: &[f64], start: &str| {
                ["min", "max"].map(|word| {
                    run(
                        &reduction("f64", word, start),
                        &text_of(numbers),
                        strict,
                        true,
                    )
                })
            };
            let numbers = numbers(*length);
            let least = numbers.iter().copied().fold(0.25, f64::min);
            let greatest = numbers.iter().copied().fold(0.25, f64::max);
            let printed = |x: f64| {
                let ty = nova_core::Type::Scalar(nova_core::Scalar::F64);
                print_value(&Value::Scalar(ScalarValue::F64(x)), &ty, &[])
            };
            assert_eq!(extremes(&numbers, "0.25L"), [least, greatest].map(printed));
            // A nan loses, unless there is nothing else.
            let nans = vec![f64::NAN; *length];
            assert_eq!(extremes(&nans, "nan.f64"), ["nan", "nan"]);
            assert_eq!(extremes(&nans, "3.0L"), ["3.0", "3.0"]);
            // A negative zero is less than a zero, wherever it stands, in the strict order.
            let mut zeros = vec![0.0; *length];
            if let Some(last) = zeros.last_mut().filter(|_| strict) {
                *last = -0.0;
                assert_eq!(extremes(&zeros, "0.0L")[0], "-0.0");
                assert_eq!(extremes(&zeros, "-0.0L")[0], "-0.0");
            }
            assert_eq!(extremes(&vec![-0.0; *length], "-0.0L"), ["-0.0", "-0.0"]);
        }
    }
}

#[test]
fn several_reductions_with_a_map() {
    let flat = "(program
      (entry \"f\" [(\"x\" (vector f32))] (tuple f32 f32 i32 f32 (vector f32)) \"f\")
      (function \"f\" [n:i64 x:[n]f32] [r0:f32 r1:f32 r2:i32 r3:f32 l:i64 r4:[l]f32] (do
        (let [u0:f32 u1:f32 u2:i32 u3:f32 m:[n]f32] (operation [n] [i:i64] []
          (do
            (let [a:f32] (index x [i]))
            (let [b:f32] (mul f32 a a))
            (let [c:i32] (wrap.i32 i64 i))
            (let [d:bool] (gt f32 a 0f))
            (let [e:f32] (if d (do (in a)) (do (let [g:f32] (neg f32 b)) (in g))))
            (in a b c e b))
          (reduce_comm [0f -1f] (lambda [p0:f32 p1:f32 q0:f32 q1:f32]
            (do (let [t0:f32] (add f32 p0 q0)) (let [t1:f32] (mul f32 q1 p1)) (in t0 t1))))
          (reduce_comm [7i32] (lambda [p2:i32 q2:i32] (do (let [t2:i32] (max i32 p2 q2)) (in t2))))
          (reduce_comm [0f] (lambda [p3:f32 q3:f32] (do (let [t3:f32] (max f32 p3 q3)) (in t3))))
          (map)))
        (in u0 u1 u2 u3 n m))))";
    for length in LENGTHS {
        for strict in [false, true] {
            run(flat, &text_of(&numbers(*length)), strict, true);
        }
    }
}

#[test]
fn two_dimensions() {
    let program = |operation: &str| {
        format!(
            "(program (entry \"f\" [(\"x\" (array 2 f32))] f32 \"f\")
              (function \"f\" [n:i64 m:i64 x:[n][m]f32] [r:f32] (do
                (let [s:f32] (operation [n m] [i:i64 j:i64] []
                  (do (let [a:f32] (index x [i j])) (let [b:f32] (add f32 a 0.5f)) (in b))
                  (reduce_comm [0f]
                    (lambda [p:f32 q:f32] (do (let [t:f32] ({operation} f32 p q)) (in t))))))
                (in s))))"
        )
    };
    for (rows, columns) in [(0, 3), (3, 0), (1, 1), (2, 33), (40, 40), (3, 1025)] {
        let row = |k: usize| text_of(&numbers(columns + k)[k..]);
        let rows: Vec<String> = (0..rows).map(row).collect();
        let input = match rows.is_empty() {
            true => "[]".to_string(),
            false => format!("[{}]", rows.join(" ")),
        };
        for strict in [false, true] {
            // The order of a sum is one of numbers, which rows of lanes do not follow.
            run(&program("max"), &input, strict, true);
            let flat = program("add");
            let translated =
                nova_expand::translate(&nova_mem::introduce(&read("sum", &flat)), strict).unwrap();
            assert!(!nova_loop::print::print(&translated).contains("(for lane_"));
        }
    }
}

/// A sum of doubles for each row of a matrix, of the elements chosen by `element`. `length` is how many: `m`,
/// or the number that the statements `before` compute for each row.
fn row_sums(element: &str, length: &str, before: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"x\" (array 2 f64))] (vector f64) \"f\")
          (function \"f\" [n:i64 m:i64 x:[n][m]f64] [l:i64 r:[l]f64] (do
            (let [t:[n]f64] (operation [n] [i:i64] []
              (do
                {before}
                (let [s:f64] (operation [{length}] [j:i64] []
                  (do {element} (in a))
                  (reduce_comm [0.5L]
                    (lambda [p:f64 q:f64] (do (let [u:f64] (add f64 p q)) (in u))))))
                (in s))
              (map)))
            (in n t))))"
    )
}

#[test]
fn short_rows_inside_a_loop() {
    let element = "(let [a:f64] (index x [i j]))";
    let plain = row_sums(element, "m", "");
    let varying = row_sums(
        element,
        "k",
        "(let [h:i64] (sub i64 m i)) (let [k:i64] (max i64 h 0))",
    );
    let checked = row_sums(
        "(let [c:bool] (lt i64 j m))
         (let [] (check c index [j m]))
         (let [a:f64] (index x [i j]))",
        "m",
        "",
    );
    let rows = |columns: usize| {
        let row = |k: usize| text_of(&numbers(columns + k)[k..]);
        format!("[{}]", (0..3).map(row).collect::<Vec<_>>().join(" "))
    };
    for program in [&plain, &varying, &checked] {
        let flat = read("rows", program);
        for columns in [1, 4, 7, 31, 32, 33, 70, 1500] {
            let rows = rows(columns);
            for strict in [false, true] {
                let translated = nova_expand::translate(&nova_mem::introduce(&flat), strict);
                let translated = translated.unwrap();
                let results = results(&flat, &translated, &rows, strict);
                let [wanted, found] = results.map(|result| outcome(&flat, result));
                assert_agree(&found, &wanted, strict, false);
            }
        }
    }
    let text = |program: &str| {
        let flat = nova_mem::introduce(&read("rows", program));
        let translated = nova_expand::translate(&flat, false).unwrap();
        nova_loop::print::print(&translated)
    };
    // Where lengths vary, the last row is filled up with lanes that keep their values.
    assert!(text(&varying).contains("(select (lt i64 lane_"));
    // Where they do not, its elements are added one by one.
    assert!(!text(&plain).contains("(select (lt i64 lane_"));
    for program in [&plain, &varying] {
        let text = text(program);
        assert!(text.contains("(prefetch_stream x_"), "{text}");
    }
    // Elements with a check are taken one by one.
    assert!(
        text(&checked).contains("(pointer f64) 4)"),
        "{}",
        text(&checked)
    );
}

#[test]
fn chunks_of_a_grid_are_long() {
    // Chunks are no short rows: several short rows would be summed at once, or a row would be filled up.
    let program = |level: &str| {
        format!(
            "(program (entry \"f\" [(\"x\" (vector f64))] (vector f64) \"f\")
              (function \"f\" [n:i64 x:[n]f64] [l:i64 r:[l]f64] (do
                (let [d:i64] (add i64 n 69)) (let [k:i64] (div i64 d 70))
                (let [t:[k]f64] ({level} [k] [i:i64] []
                  (do
                    (let [b:i64] (mul i64 i 70)) (let [h:i64] (sub i64 n b))
                    (let [m:i64] (min i64 h 70))
                    (let [s:f64] (operation [m] [j:i64] []
                      (do (let [g:i64] (add i64 b j)) (let [a:f64] (index x [g])) (in a))
                      (reduce_comm [0.5L]
                        (lambda [p:f64 q:f64] (do (let [u:f64] (add f64 p q)) (in u))))))
                    (in s))
                  (map)))
                (in k t))))"
        )
    };
    let text = |level: &str| {
        let flat = nova_mem::introduce(&read("parts", &program(level)));
        let translated = nova_expand::translate(&flat, false).unwrap();
        nova_loop::print::print(&translated)
    };
    assert!(text("operation").contains("(tree_reduce"));
    let chunks = text("grid");
    assert!(chunks.contains(" grid\n"), "{chunks}");
    assert!(
        !chunks.contains("tree_reduce") && !chunks.contains("(select (lt i64 lane_"),
        "{chunks}"
    );
    for length in [0, 69, 70, 71, 300] {
        run(&program("grid"), &text_of(&numbers(length)), false, true);
    }
}

#[test]
fn a_prefetch_reads_back() {
    let program = nova_mem::introduce(&read("sum", &reduction("f64", "add", "0.5L")));
    let translated = nova_expand::translate(&program, false).unwrap();
    let text = nova_loop::print::print(&translated);
    assert!(text.contains("(prefetch_stream "), "{text}");
    let file = nova_diag::SourceMap::new().add("printed", &*text);
    let again = nova_loop::parse::parse(&text, file).unwrap();
    nova_loop::verify(&again).unwrap();
    assert_eq!(nova_loop::print::print(&again), text);
}

#[test]
fn a_loop_that_gathers_prefetches_on_every_processor() {
    let program = |element: &str| {
        format!(
            "(program (entry \"f\" [(\"c\" (vector i64)) (\"x\" (vector f64))] f64 \"f\")
              (function \"f\" [n:i64 c:[n]i64 m:i64 x:[m]f64] [r:f64] (do
                (let [s:f64] (operation [n] [i:i64] []
                  (do (let [j:i64] (index c [i])) {element} (in a))
                  (reduce_comm [0.5L]
                    (lambda [p:f64 q:f64] (do (let [u:f64] (add f64 p q)) (in u))))))
                (in s))))"
        )
    };
    let text = |element: &str| {
        let flat = nova_mem::introduce(&read("gathers", &program(element)));
        let translated = nova_expand::translate(&flat, false).unwrap();
        nova_loop::print::print(&translated)
    };
    let gathers = text("(let [a:f64] (index x [j]))");
    assert!(gathers.contains("(prefetch c"), "{gathers}");
    assert!(!gathers.contains("(prefetch_stream"), "{gathers}");
    let streams = text("(let [a:f64] (convert.f64 i64 j))");
    assert!(streams.contains("(prefetch_stream c"), "{streams}");
}

#[test]
fn elements_two_apart_are_prefetched_in_a_loop() {
    // Every other element, as one field of pairs is read at the FFI boundary.
    let flat = "(program
      (entry \"f\" [(\"x\" (vector f64))] f64 \"f\")
      (function \"f\" [n:i64 x:[n]f64] [r:f64] (do
        (let [h:i64] (div i64 n 2i64))
        (let [s:f64] (operation [h] [i:i64] []
          (do (let [k:i64] (mul i64 i 2i64)) (let [a:f64] (index x [k])) (in a))
          (reduce_comm [0.5L]
            (lambda [p:f64 q:f64] (do (let [t:f64] (add f64 p q)) (in t))))))
        (in s))))";
    for length in LENGTHS {
        for strict in [false, true] {
            run(flat, &text_of(&numbers(*length)), strict, true);
        }
    }
    let program = nova_mem::introduce(&read("fields", flat));
    let translated = nova_expand::translate(&program, false).unwrap();
    let text = nova_loop::print::print(&translated);
    // The prefetches of eight lines in each row are a loop, which is not unrolled.
    assert!(text.contains("(for line_"), "{text}");
}

#[test]
fn every_row_is_read_once() {
    let program = "(program (entry \"f\" [(\"x\" (vector f64))] f64 \"f\")
          (function \"f\" [n:i64 x:[n]f64] [r:f64] (do
            (let [s:f64] (operation [n] [i:i64] []
              (do (let [a:f64] (index x [i])) (in a))
              (reduce_comm [0.5L]
                (lambda [p:f64 q:f64] (do (let [u:f64] (add f64 p q)) (in u))))))
            (in s))))";
    for rows in [0, 1, 3, 4, 5, 63, 64, 65, 67, 129] {
        for rest in [0, 1, 31] {
            run(program, &text_of(&numbers(32 * rows + rest)), false, true);
        }
    }
}
