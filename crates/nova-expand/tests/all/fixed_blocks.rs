//! Tests of reductions inside loops, where few elements take another path than many: at every length near the
//! limits they give what Flat gives, errors included.

use crate::results;
use crate::support::{outcome, read};
use nova_core::error::Failure;

/// A group of rows that are all short, one with long rows, and too few rows for a group.
const LENGTHS: &[usize] = &[
    0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 128, 129, 1024, 1090, 7, 64, 5, 64, 3,
];

/// A program that reduces each row of numbers and indices, from a start value. It reduces `element`, which is
/// computed from a number `a`, the number `x!j`, and a number `c` from outside the row.
fn rows(element: &str, operation: &str, start: &str, checked: bool) -> String {
    let gather = match checked {
        true => {
            "(let [u:u64] (wrap.u64 i64 j)) (let [w:u64] (wrap.u64 i64 m))
             (let [ok:bool] (lt u64 u w)) (let [] (check ok index [j m]))
             (let [b:f32] (index x [j]))"
        }
        false => "(let [b:f32] (index data [k]))",
    };
    format!(
        "(program
          (entry \"f\" [(\"rows\" (vector (vector f32))) (\"js\" (vector i64)) (\"x\" (vector f32))]
            (vector f64) \"f\")
          (function \"f\"
            [n:i64 starts:[n]i64 ends:[n]i64 total:i64 data:[total]f32 l:i64 js:[l]i64
             m:i64 x:[m]f32]
            [r:i64 results:[r]f64]
            (do
              (let [z:bool] (eq i64 l total)) (let [] (check z length [l total]))
              (let [ys:[n]f64] (operation [n] [i:i64] []
                (do
                  (let [from:i64] (index starts [i]))
                  (let [to:i64] (index ends [i]))
                  (let [count:i64] (sub i64 to from))
                  (let [c:f64] (convert.f64 i64 count))
                  (let [y:f64] (operation [count] [q:i64] []
                    (do
                      (let [k:i64] (add i64 from q))
                      (let [a:f32] (index data [k]))
                      (let [j:i64] (index js [k]))
                      {gather}
                      (let [p:f64] (convert.f64 f32 a))
                      (let [s:f64] (convert.f64 f32 b))
                      {element}
                      (in e))
                    (reduce_comm [{start}] (lambda [v:f64 t:f64]
                      (do (let [g:f64] ({operation} f64 v t)) (in g))))))
                  (in y))
                (map)))
              (in n ys))))"
    )
}

const PLAIN: &str = "(let [e:f64] (convert.f64 f32 a))";
const PRODUCT: &str = "(let [e:f64] (mul f64 p s))";
const FROM_OUTSIDE: &str = "(let [e:f64] (sub f64 p c))";

/// Rows of these lengths, as text; indices, the one at `bad` out of range; eight numbers.
fn input(lengths: &[usize], bad: &[usize]) -> String {
    let mut rows = Vec::new();
    let mut count = 0;
    for length in lengths {
        let row: Vec<String> = (count..count + length)
            .map(|k| format!("{:?}", (k * 7919 % 1009) as f32 / 64.0 - 7.9))
            .collect();
        rows.push(format!("[{}]", row.join(" ")));
        count += length;
    }
    let index = |k: usize| match bad.iter().position(|b| *b == k) {
        Some(which) => 8 + which,
        None => k % 8,
    };
    let indices: Vec<String> = (0..count).map(|k| index(k).to_string()).collect();
    format!(
        "[{}] [{}] [0.5 1.5 -2.25 3.0 4.75 -5.0 6.5 -0.0]",
        rows.join(" "),
        indices.join(" ")
    )
}

/// Returns the outcomes of Loop and of Flat, and the text of Loop, which must read back.
fn run(flat: &str, input: &str, strict: bool) -> (String, String, String) {
    let program = read("few", flat);
    nova_flat::verify::verify(&program).unwrap();
    let translated = nova_expand::translate(&nova_mem::introduce(&program), strict).unwrap();
    nova_loop::verify(&translated).unwrap();
    let text = nova_loop::print::print(&translated);
    let mut sources = nova_diag::SourceMap::new();
    let file = sources.add("few", text.as_str());
    let again = nova_loop::parse::parse(&text, file).unwrap();
    assert_eq!(nova_loop::print::print(&again), text);
    let [wanted, found] = results(&program, &translated, input, strict);
    let said = |result| match &result {
        Err(Failure::Runtime(error)) => format!("error {:?} {:?}", error.kind, error.arguments),
        Ok(_) | Err(Failure::Internal(_)) => outcome(&program, result),
    };
    (said(found), said(wanted), text)
}

/// True if the numbers of two texts agree to the last digits of a double.
fn close(found: &str, wanted: &str) -> bool {
    let numbers = |text: &str| -> Vec<f64> {
        let words = text.split(['[', ']', ' ']);
        words.filter_map(|word| word.parse().ok()).collect()
    };
    let (found, wanted) = (numbers(found), numbers(wanted));
    let near = |(a, b): (&f64, &f64)| {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-10 * (1.0 + b.abs())
    };
    found.len() == wanted.len() && found.iter().zip(&wanted).all(near)
}

#[test]
fn every_length_gives_the_order() {
    let programs = [
        (rows(PLAIN, "add", "0.0L", false), true),
        (rows(PLAIN, "add", "-0.0L", false), true),
        (rows(PRODUCT, "add", "0.0L", false), true),
        // The padding would give a zero of the other sign.
        (rows(PRODUCT, "add", "-0.0L", false), false),
        (rows(PRODUCT, "mul", "1.0L", false), true),
        // Values from outside the row are not padded.
        (rows(FROM_OUTSIDE, "add", "0.0L", false), false),
        (rows(PLAIN, "max", "0.0L", false), false),
        (rows(PRODUCT, "add", "0.0L", true), false),
        (rows(PRODUCT, "min", "0.0L", true), false),
    ];
    let input = input(LENGTHS, &[]);
    for (flat, vectors) in &programs {
        for strict in [false, true] {
            let (found, wanted, text) = run(flat, &input, strict);
            assert_eq!(text.contains("(padded_copy"), *vectors, "{text}");
            assert!(!vectors || text.contains("(tree_reduce parts"), "{text}");
            let agree = found == wanted || (!strict && close(&found, &wanted));
            assert!(agree, "{found} is not {wanted}, strict: {strict}: {flat}");
        }
    }
}

#[test]
fn many_empty_rows() {
    let programs = [
        (rows(PLAIN, "add", "-0.0L", false), true),
        (rows(PRODUCT, "mul", "1.5L", false), true),
        (rows(PRODUCT, "add", "0.5L", true), false),
    ];
    // Groups of empty rows alone, and between others.
    let mut between = vec![0; 100];
    between[20..30].fill(3);
    between[61] = 70;
    for (flat, grouped) in &programs {
        for lengths in [vec![0; 100], between.clone()] {
            for strict in [false, true] {
                let (found, wanted, text) = run(flat, &input(&lengths, &[]), strict);
                let agree = found == wanted || (!strict && close(&found, &wanted));
                assert!(agree, "{found} is not {wanted}, strict: {strict}: {flat}");
                // Groups without elements are not combined.
                let skips = text.contains("(if (eq i64 longest");
                assert_eq!(skips, *grouped, "{text}");
            }
        }
    }
}

#[test]
fn the_first_error_is_reported() {
    let flat = rows(PRODUCT, "add", "0.0L", true);
    let lengths = [0, 5, 64, 65];
    for bad in [
        &[0][..],
        &[4],
        &[5],
        &[68],
        &[69],
        &[133],
        &[0, 4],
        &[66, 67],
        &[70, 100],
        &[4, 133],
    ] {
        for strict in [false, true] {
            let (found, wanted, text) = run(&flat, &input(&lengths, bad), strict);
            assert_eq!(found, wanted, "{bad:?}");
            assert_eq!(found, "error Index [8, 8]", "{bad:?}: {text}");
        }
    }
}

/// The lengths of strips of rows that are joined, the second with a long row, and of a shorter strip.
fn many_lengths() -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..100).map(|k| k * 7 % 19).collect();
    lengths[40] = 130;
    lengths[41] = 65;
    lengths
}

#[test]
fn rows_that_follow_each_other_are_joined() {
    let programs = [
        (rows(PRODUCT, "add", "0.0L", true), true),
        (rows(PRODUCT, "mul", "2.0L", true), true),
        // A value from outside the row is different for each row.
        (rows(FROM_OUTSIDE, "add", "0.0L", true), false),
        (rows(PRODUCT, "min", "0.0L", true), false),
    ];
    let mut long = many_lengths();
    long[3] = 3000;
    for (flat, joined) in &programs {
        for lengths in [&many_lengths(), &long, &vec![0; 64], &vec![1; 31]] {
            let input = input(lengths, &[]);
            for strict in [false, true] {
                let (found, wanted, text) = run(flat, &input, strict);
                assert_eq!(text.contains("(lane_reduce"), *joined && !strict, "{text}");
                let agree = found == wanted || (!strict && close(&found, &wanted));
                assert!(agree, "{found} is not {wanted}, strict: {strict}: {flat}");
            }
        }
    }
}

/// A program that sums, for each row of pairs of an index and a number, the products of the number and the
/// number at the index in an array. The three types are those of the index, the number and the array.
fn pairs(index: &str, element: &str, number: &str) -> String {
    // Reads the element of an array and converts it to another type.
    let element_as = |name: &str, array: &str, from: &str, to: &str| match from == to {
        true => format!("(let [{name}:{to}] (index {array}))"),
        false => format!(
            "(let [{name}_0:{from}] (index {array})) (let [{name}:{to}] (convert.{to} {from} {name}_0))"
        ),
    };
    let index_read = element_as("j", "cs [k]", index, "i64");
    let element_read = element_as("p", "ps [k]", element, "f64");
    let number_read = element_as("s", "x [j]", number, "f64");
    format!(
        "(program
          (entry \"f\" [(\"rows\" (vector (vector (tuple {index} {element}))))
              (\"x\" (vector {number}))]
            (vector f64) \"f\")
          (function \"f\"
            [n:i64 starts:[n]i64 ends:[n]i64 total:i64 cs:[total]{index} ps:[total]{element}
             m:i64 x:[m]{number}]
            [r:i64 results:[r]f64]
            (do
              (let [ys:[n]f64] (operation [n] [i:i64] []
                (do
                  (let [from:i64] (index starts [i]))
                  (let [to:i64] (index ends [i]))
                  (let [count:i64] (sub i64 to from))
                  (let [y:f64] (operation [count] [q:i64] []
                    (do
                      (let [k:i64] (add i64 from q))
                      {index_read}
                      (let [u:u64] (wrap.u64 i64 j)) (let [w:u64] (wrap.u64 i64 m))
                      (let [ok:bool] (lt u64 u w)) (let [] (check ok index [j m]))
                      {element_read}
                      {number_read}
                      (let [e:f64] (mul f64 p s))
                      (in e))
                    (reduce_comm [0.0L] (lambda [v:f64 t:f64]
                      (do (let [g:f64] (add f64 v t)) (in g))))))
                  (in y))
                (map)))
              (in n ys))))"
    )
}

/// Rows of pairs of these lengths, the index at `bad` out of range, and eight numbers.
fn pairs_input(lengths: &[usize], (element, number): (&str, &str), bad: &[usize]) -> String {
    let float = |ty: &str| ty.starts_with('f');
    let of = |ty: &str, k: usize| match float(ty) {
        true => format!("{:?}", (k * 37 % 101) as f64 / 4.0 - 6.0),
        false => format!("{}", (k * 37 % 101) as i64 - 50),
    };
    let mut count = 0;
    let mut rows = Vec::new();
    for length in lengths {
        let row: Vec<String> = (count..count + length)
            .map(|k| match bad.iter().position(|b| *b == k) {
                Some(which) => format!("({}, {})", 8 + which, of(element, k)),
                None => format!("({}, {})", k * 5 % 8, of(element, k)),
            })
            .collect();
        rows.push(format!("[{}]", row.join(" ")));
        count += length;
    }
    let numbers: Vec<String> = (0..8).map(|k| of(number, k + 3)).collect();
    format!("[{}] [{}]", rows.join(" "), numbers.join(" "))
}

#[test]
fn full_gathers_check_and_read_first() {
    // Elements between those of another field of the same size are read with a stride; others are read one by
    // one.
    let types = [
        ("i32", "f32", "f32", 1),
        ("i32", "i32", "f64", 1),
        ("i64", "f64", "i32", 1),
        ("i64", "i64", "i64", 1),
        ("i32", "f64", "f32", 1),
        ("i32", "i16", "f32", 0),
    ];
    for (index, element, number, stride) in types {
        let flat = pairs(index, element, number);
        for lengths in [many_lengths(), vec![16; 32], vec![0; 64], vec![1; 40]] {
            let input = pairs_input(&lengths, (element, number), &[]);
            let (found, wanted, text) = run(&flat, &input, false);
            assert!(close(&found, &wanted), "{found} is not {wanted}: {text}");
            assert!(text.contains("(gather_precheck fails"), "{text}");
            assert!(text.contains("(gather_indexed x"), "{text}");
            let strides = text.matches("(gather_strided ps").count();
            assert_eq!(strides, stride, "{text}");
        }
        let strip: usize = many_lengths().iter().take(32).sum();
        for bad in [&[0][..], &[15, 16], &[strip - 1], &[strip + 20, strip + 3]] {
            let input = pairs_input(&many_lengths(), (element, number), bad);
            let (found, wanted, text) = run(&flat, &input, false);
            assert_eq!(found, wanted, "{bad:?}: {text}");
            assert!(found.starts_with("error Index"), "{found}");
        }
    }
}

#[test]
fn the_first_error_of_a_strip_is_reported() {
    let flat = rows(PRODUCT, "add", "0.0L", true);
    let lengths = many_lengths();
    let strip: usize = lengths.iter().take(32).sum();
    let all: usize = lengths.iter().sum();
    for bad in [
        &[0][..],
        &[15, 16],
        &[strip - 1],
        &[strip, strip + 1],
        &[17, strip + 100, all - 1],
        &[all - 1],
    ] {
        let (found, wanted, _) = run(&flat, &input(&lengths, bad), false);
        assert_eq!(found, wanted, "{bad:?}");
        assert_eq!(found, "error Index [8, 8]", "{bad:?}");
    }
}

/// A program that reduces `n` rows of `m` numbers each. `length` computes the length of a row from `m`, in
/// the loop over rows.
fn equal_rows(length: &str, element: &str, operation: &str, start: &str) -> String {
    format!(
        "(program
          (entry \"f\" [(\"n\" i64) (\"m\" i64) (\"data\" (vector f32))] (vector f64) \"f\")
          (function \"f\" [n:i64 m:i64 l:i64 data:[l]f32] [r:i64 results:[r]f64]
            (do
              (let [ys:[n]f64] (operation [n] [i:i64] []
                (do
                  {length}
                  (let [from:i64] (mul i64 i m))
                  (let [c:f64] (convert.f64 i64 i))
                  (let [y:f64] (operation [count] [q:i64] []
                    (do
                      (let [k:i64] (add i64 from q))
                      (let [a:f32] (index data [k]))
                      (let [p:f64] (convert.f64 f32 a))
                      (let [s:f64] (convert.f64 f32 a))
                      {element}
                      (in e))
                    (reduce_comm [{start}] (lambda [v:f64 t:f64]
                      (do (let [g:f64] ({operation} f64 v t)) (in g))))))
                  (in y))
                (map)))
              (in n ys))))"
    )
}

#[test]
fn few_elements_of_rows_of_one_length_fill_few_lanes() {
    let own = "(let [count:i64] (min i64 m i)) ";
    let programs = [
        (equal_rows("", PRODUCT, "add", "0.0L"), true, false),
        (equal_rows("", PRODUCT, "add", "-0.0L"), true, false),
        (equal_rows("", FROM_OUTSIDE, "mul", "1.5L"), true, false),
        (equal_rows("", PLAIN, "max", "0.0L"), true, true),
        (equal_rows(own, PRODUCT, "add", "0.0L"), false, false),
    ];
    for (flat, steady, any_order) in programs {
        let flat = match steady {
            true => flat.replace("[count]", "[m]"),
            false => flat,
        };
        for length in (0..=66).chain([95, 96, 97, 127, 128, 129, 1024, 4096, 4099]) {
            let numbers =
                (0..3 * length).map(|k| format!("{:?}", (k * 7919 % 1009) as f32 / 504.5));
            let numbers: Vec<String> = numbers.collect();
            let input = format!("3 {length} [{}]", numbers.join(" "));
            for strict in [false, true] {
                let (found, wanted, text) = run(&flat, &input, strict);
                let agree = found == wanted || (!strict && close(&found, &wanted));
                assert!(
                    agree,
                    "{length}: {found} is not {wanted}, strict: {strict}: {flat}"
                );
                let few = text.contains("(if (le i64 m_1 128)") && text.contains("(local few");
                assert_eq!(few, steady && (any_order || !strict), "{text}");
                // Padding is for rows whose lengths are not known to be equal.
                assert!(!few || !text.contains("(padded_copy"), "{text}");
            }
        }
    }
}
