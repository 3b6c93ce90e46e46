//! Tests of tiled maps of reductions: for all ratios of extents to sizes of tiles, the values are
//! those of the interpreter of Flat, and loops that must not be tiled are not.

use crate::support::{inputs_of, outcome, read};
use crate::{agrees, matrix};
use nova_core::interpret::Options;
use nova_expand::TileSizes;

/// Tiles of four rows of 3 × 4 bytes or a row of 8 × 4 bytes, so that small matrices have several.
const SMALL: TileSizes = TileSizes {
    lanes: 4,
    radix_keys: 4,
    accumulators: 32,
    step_accumulators: 64,
    panel_accumulators: 48,
    panel_lanes: 3,
    steps: 4,
    rows: 8,
    contracted_groups: [2, 2],
    contracted_tiles: [2, 2],
    stored: 3,
    line: 8,
};

/// A product of matrices over a reduction: `combine` of two elements, folded by `operator`.
fn product(ty: &str, combine: &str, operator: &str, start: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"a\" (array 2 {ty})) (\"b\" (array 2 {ty}))] (array 2 {ty}) \"f\")
          (function \"f\" [n:i64 m:i64 a:[n][m]{ty} q:i64 p:i64 b:[q][p]{ty}]
            [r:i64 s:i64 c:[r][s]{ty}] (do
            (let [same:bool] (eq i64 m q))
            (let [] (check same length [m q]))
            (let [d:[n][p]{ty}] (operation [n p] [i:i64 j:i64] []
              (do
                (let [e:{ty}] (operation [m] [k:i64] []
                  (do
                    (let [x:{ty}] (index a [i k]))
                    (let [y:{ty}] (index b [k j]))
                    (let [z:{ty}] ({combine} {ty} x y))
                    (in z))
                  (reduce_comm [{start}] (lambda [u:{ty} v:{ty}] (do
                    (let [w:{ty}] ({operator} {ty} u v)) (in w))))))
                (in e))
              (map)))
            (in n p d))))"
    )
}

/// A product with a transposed second factor.
fn transposed(product: &str) -> String {
    let changes = [
        ("(eq i64 m q)", "(eq i64 m p)"),
        ("[m q]", "[m p]"),
        ("d:[n][p]", "d:[n][q]"),
        ("(operation [n p]", "(operation [n q]"),
        ("(index b [k j])", "(index b [j k])"),
        ("(in n p d)", "(in n q d)"),
    ];
    let change = |text: String, (from, to): (&str, &str)| text.replace(from, to);
    changes.into_iter().fold(product.to_owned(), change)
}

/// Column sums and minima, two reductions at once, of which the map gives a combination.
const COLUMNS: &str = "
(program (entry \"f\" [(\"a\" (array 2 i32)) (\"x\" (vector i32))] (vector i32) \"f\")
  (function \"f\" [n:i64 m:i64 a:[n][m]i32 l:i64 x:[l]i32] [r:i64 c:[r]i32] (do
    (let [same:bool] (eq i64 m l))
    (let [] (check same length [m l]))
    (let [d:[m]i32] (operation [m] [j:i64] []
      (do
        (let [o:i32] (index x [j]))
        (let [e:i32 g:i32] (operation [n] [k:i64] []
          (do
            (let [y:i32] (index a [k j]))
            (let [z:i32] (sub i32 y o))
            (in z y))
          (reduce_comm [o 1000i32] (lambda [u:i32 v:i32 s:i32 t:i32] (do
            (let [w:i32] (add i32 u s)) (let [h:i32] (min i32 v t)) (in w h))))))
        (let [b:i32] (mul i32 e g))
        (in b))
      (map)))
    (in m d))))";

/// Runs a program of Flat with tiles of some sizes; it must agree with the interpreter of Flat.
fn run(flat: &str, input: &str, strict: bool, sizes: TileSizes, is_tiled: bool) -> String {
    let (text, found) = agrees(flat, input, strict, sizes);
    assert_eq!(text.contains("(local totals"), is_tiled, "{text}");
    found
}

#[test]
fn products_of_all_extents() {
    let programs = [
        // Sums of small integers are exact in floats, too.
        (product("f32", "sub", "add", "0.5f"), false),
        (product("f64", "sub", "add", "-0.0L"), false),
        (product("i32", "mul", "add", "7i32"), true),
        (product("i64", "add", "max", "-100"), true),
        (product("f32", "add", "min", "100.0f"), true),
    ];
    for (program, strict) in &programs {
        for n in [0, 1, 3, 4, 9, 17] {
            for m in [0, 1, 4, 5, 11] {
                for p in [0, 1, 2, 3, 7] {
                    // A matrix without rows has no columns as text.
                    if m == 0 && p > 0 || n == 0 && m > 0 {
                        continue;
                    }
                    let input = format!("{} {}", matrix(n, m, 1), matrix(m, p, 2));
                    run(program, &input, *strict, SMALL, true);
                }
            }
        }
    }
}

#[test]
fn transposed_products_of_all_extents() {
    let programs = [
        (product("f32", "sub", "add", "0.5f"), false),
        (product("f64", "sub", "add", "-0.0L"), false),
        (product("i32", "mul", "add", "7i32"), true),
    ];
    for (program, strict) in &programs {
        let program = transposed(program);
        for n in [0, 1, 15, 16, 17, 34] {
            for m in [0, 1, 4, 5, 11] {
                for q in [0, 1, 2, 3, 7] {
                    if m == 0 && (n > 0 || q > 0) || n == 0 && m > 0 || q == 0 && m > 0 {
                        continue;
                    }
                    let input = format!("{} {}", matrix(n, m, 1), matrix(q, m, 2));
                    run(&program, &input, *strict, SMALL, true);
                }
            }
        }
    }
}

#[test]
fn products_of_the_usual_tiles() {
    let program = product("f32", "sub", "add", "0.0f");
    for (n, m, p) in [(1, 3, 64), (67, 129, 65), (5, 128, 130), (65, 1, 64)] {
        let input = format!("{} {}", matrix(n, m, 3), matrix(m, p, 4));
        run(&program, &input, false, TileSizes::default(), true);
        let input = format!("{} {}", matrix(n, m, 3), matrix(p, m, 4));
        run(
            &transposed(&program),
            &input,
            false,
            TileSizes::default(),
            true,
        );
    }
}

#[test]
fn columns_of_all_extents() {
    for n in [0, 1, 4, 5, 13] {
        for m in [1, 2, 3, 4, 5, 11] {
            if n == 0 {
                continue;
            }
            let x = matrix(1, m, 6);
            let input = format!("{} {}", matrix(n, m, 5), &x[1..x.len() - 1]);
            run(COLUMNS, &input, true, SMALL, true);
        }
    }
}

#[test]
fn the_order_of_strict_sums_is_kept() {
    let program = product("f32", "sub", "add", "0.0f");
    let input = format!("{} {}", matrix(5, 5, 1), matrix(5, 9, 2));
    run(&program, &input, true, SMALL, false);
}

#[test]
fn long_sums_of_floats_are_right() {
    // 0.1 a hundred thousand times: added one by one in single precision it would be off by 0.04 %.
    let count = 100_000;
    let program = product("f32", "min", "add", "0.0f");
    let row = vec!["1"; count].join(" ");
    let column = vec!["[0.1 0.1 0.1]"; count].join(" ");
    let program = read("tiles", &program);
    let mem = nova_mem::introduce(&program);
    let translated =
        nova_expand::translate_with(&mem, false, SMALL, nova_machine::Machine::Processor).unwrap();
    let values = inputs_of(&program, &format!("[[{row}]] [{column}]"));
    let found = nova_loop::interpret::evaluate(&translated, 0, &values, &Options::default());
    let found = outcome(&program, found);
    let first = found.trim_start_matches('[').split(' ').next().unwrap();
    let difference = first.parse::<f64>().unwrap() - f64::from(0.1f32) * count as f64;
    assert!(difference.abs() < 1e-3, "{found}");
}

#[test]
fn maps_whose_neighbours_read_far_apart_are_not_tiled() {
    // The sum of each row: neighbouring results read elements a row apart.
    let program = "
      (program (entry \"f\" [(\"a\" (array 2 i32))] (vector i32) \"f\")
        (function \"f\" [n:i64 m:i64 a:[n][m]i32] [r:i64 c:[r]i32] (do
          (let [d:[n]i32] (operation [n] [i:i64] []
            (do
              (let [e:i32] (operation [m] [k:i64] []
                (do (let [y:i32] (index a [i k])) (in y))
                (reduce_comm [0i32] (lambda [u:i32 v:i32] (do
                  (let [w:i32] (add i32 u v)) (in w))))))
              (in e))
            (map)))
          (in n d))))";
    run(program, &matrix(9, 5, 1), true, SMALL, false);
}

#[test]
fn the_tiles_of_a_function_leave_room_on_the_stack() {
    // Forty products, each of which would take some 37 KB.
    let one = product("f32", "sub", "add", "0.0f");
    let (head, rest) = one.split_at(one.find("(let [d:").unwrap());
    let (operation, tail) = rest.split_at(rest.find("(in n p d)").unwrap());
    let copies: Vec<String> = (0..40)
        .map(|k| {
            ["d", "i", "j", "e", "k", "x", "y", "z", "u", "v", "w"]
                .iter()
                .fold(operation.to_string(), |text, name| {
                    let number = format!("{name}{k}");
                    text.replace(&format!("[{name}:"), &format!("[{number}:"))
                        .replace(&format!(" {name}:"), &format!(" {number}:"))
                        .replace(&format!(" {name})"), &format!(" {number})"))
                        .replace(&format!(" {name}]"), &format!(" {number}]"))
                        .replace(&format!("[{name} "), &format!("[{number} "))
                        .replace(&format!(" {name} "), &format!(" {number} "))
                })
        })
        .collect();
    let text = format!("{head}{}{}", copies.concat(), tail.replace("p d)", "p d0)"));
    let program = read("tiles", &text);
    let mem = nova_mem::introduce(&program);
    let translated = nova_loop::print::print(&nova_expand::translate(&mem, false).unwrap());
    let panels = translated.matches("(local panel").count();
    assert!((1..40).contains(&panels), "{panels}");
}
