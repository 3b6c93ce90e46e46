//! Tests of contractions: for all ratios of extents to blocks, and factors in any orientation, the values are
//! those of the interpreter of Flat, and maps that must not become panels do not.

use crate::support::{outcome, read};
use crate::{agrees, matrix, results};
use nova_expand::TileSizes;

/// A map of sums of products, whose factors are `left` and `right`: statements that define x and y.
fn sums(ty: &str, [left, right]: [&str; 2], extents: [&str; 3]) -> String {
    let [rows, columns, steps] = extents;
    format!(
        "(program (entry \"f\" [(\"a\" (array 2 {ty})) (\"b\" (array 2 {ty}))] (array 2 {ty}) \"f\")
          (function \"f\" [n:i64 m:i64 a:[n][m]{ty} q:i64 p:i64 b:[q][p]{ty}]
            [r:i64 s:i64 c:[r][s]{ty}] (do
            (let [d:[{rows}][{columns}]{ty}] (operation [{rows} {columns}] [i:i64 j:i64] []
              (do
                (let [g:{ty}] (index a [0 0]))
                (let [e:{ty}] (operation [{steps}] [k:i64] []
                  (do
                    {left}
                    {right}
                    (let [z:{ty}] (mul {ty} x y))
                    (in z))
                  (reduce_comm [1.0{suffix}] (lambda [u:{ty} v:{ty}] (do
                    (let [w:{ty}] (add {ty} u v)) (in w))))))
                (let [t:{ty}] (add {ty} e g))
                (in t))
              (map)))
            (in {rows} {columns} d))))",
        suffix = match ty {
            "f32" => "f",
            _ => "L",
        }
    )
}

/// Blocks of two groups of rows, two rows of lanes and four steps.
fn small() -> TileSizes {
    TileSizes {
        contracted_groups: [2, 2],
        contracted_tiles: [2, 2],
        steps: 4,
        ..TileSizes::default()
    }
}

/// Runs a program of Flat; it must agree with the interpreter of Flat.
fn run(flat: &str, input: &str, strict: bool, sizes: TileSizes, has_panels: bool) {
    let (text, _) = agrees(flat, input, strict, sizes);
    assert_eq!(text.contains("(multiply_panels"), has_panels, "{text}");
}

fn read_at(ty: &str, name: &str, array: &str, indices: &str) -> String {
    format!("(let [{name}:{ty}] (index {array} [{indices}]))")
}

#[test]
fn all_extents_around_a_block() {
    for (ty, lanes) in [("f64", 16), ("f32", 32)] {
        let factors = [read_at(ty, "x", "a", "i k"), read_at(ty, "y", "b", "k j")];
        let program = sums(ty, [&factors[0], &factors[1]], ["n", "p", "m"]);
        for n in [1, 5, 6, 7, 12, 13, 25] {
            for m in [7, 8, 9, 17] {
                for p in [lanes - 1, lanes, lanes + 1, 3 * lanes + 5] {
                    let input = format!("{} {}", matrix(n, m, 1), matrix(m, p, 2));
                    run(&program, &input, false, small(), true);
                }
            }
        }
    }
}

#[test]
fn all_orientations() {
    let (n, m, p) = (13, 9, 35);
    for left in [("i k", n, m), ("k i", m, n)] {
        for right in [("k j", m, p), ("j k", p, m)] {
            let factors = [
                read_at("f64", "x", "a", left.0),
                read_at("f64", "y", "b", right.0),
            ];
            let rows = if left.0 == "i k" { "n" } else { "m" };
            let steps = if left.0 == "i k" { "m" } else { "n" };
            let columns = if right.0 == "k j" { "p" } else { "q" };
            let input = format!(
                "{} {}",
                matrix(left.1, left.2, 1),
                matrix(right.1, right.2, 2)
            );
            for factors in [[&factors[0], &factors[1]], [&factors[1], &factors[0]]] {
                let program = sums("f64", factors.map(|f| f.as_str()), [rows, columns, steps]);
                run(&program, &input, false, small(), true);
            }
        }
    }
}

#[test]
fn factors_are_any_expressions() {
    let left = "(let [x0:f64] (index a [i k])) (let [x1:f64] (index a [i 0]))
                (let [x:f64] (sub f64 x0 x1))";
    let right = "(let [y0:f64] (index b [k j])) (let [y1:f64] (convert.f64 i64 j))
                 (let [y:f64] (add f64 y0 y1))";
    let program = sums("f64", [left, right], ["n", "p", "m"]);
    let input = format!("{} {}", matrix(14, 11, 1), matrix(11, 37, 2));
    run(&program, &input, false, small(), true);
    run(&program, &input, false, TileSizes::default(), true);
}

#[test]
fn of_symmetric_results_only_a_half_is_computed() {
    let (x, y) = (
        read_at("f64", "x", "a", "k i"),
        "(let [y:f64] (index a [k j]))",
    );
    let program = sums("f64", [&x, y], ["m", "m", "n"]);
    for (n, m) in [(8, 16), (9, 17), (8, 31), (10, 45), (13, 70)] {
        let input = format!("{} {}", matrix(n, m, 1), matrix(1, 1, 2));
        let (text, _) = agrees(&program, &input, false, small());
        assert!(
            text.contains("(multiply_panels") && text.contains("skipped"),
            "{text}"
        );
    }
    // The factors differ, the extents do, or the result depends on the row.
    let other = "(let [y0:f64] (index a [k j])) (let [y:f64] (add f64 y0 y0))";
    let of_row = program.replace("(index a [0 0])", "(index a [0 i])");
    let programs = [
        sums("f64", [&x, other], ["m", "m", "n"]),
        sums("f64", [&x, y], ["7", "m", "n"]),
        of_row,
    ];
    for program in programs {
        let input = format!("{} {}", matrix(9, 45, 1), matrix(1, 1, 2));
        let (text, _) = agrees(&program, &input, false, small());
        assert!(
            text.contains("(multiply_panels") && !text.contains("skipped"),
            "{text}"
        );
    }
}

#[test]
fn other_maps_have_no_panels() {
    let input = format!("{} {}", matrix(7, 8, 1), matrix(8, 33, 2));
    let (left, right) = (
        read_at("f64", "x", "a", "i k"),
        read_at("f64", "y", "b", "k j"),
    );
    // The order of a strict sum is kept.
    let plain = sums("f64", [&left, &right], ["n", "p", "m"]);
    run(&plain, &input, true, small(), false);
    // A factor depends on both row and column.
    let both = format!(
        "{left} (let [h:f64] (convert.f64 i64 i)) (let [o:f64] (index b [k j]))
                        (let [y:f64] (add f64 o h))"
    );
    run(
        &sums("f64", [&both, ""], ["n", "p", "m"]),
        &input,
        false,
        small(),
        false,
    );
    // The body is no product.
    let quotient = plain.replace("(mul f64 x y)", "(sub f64 x y)");
    run(&quotient, &input, false, small(), false);
    // Rows have lengths of their own.
    let inner = plain.replace("(operation [m] [k:i64]", "(let [l:i64] (min i64 i m)) X");
    let inner = inner.replace(
        "(let [e:f64] (let [l:i64] (min i64 i m)) X",
        "(let [l:i64] (min i64 i m)) (let [e:f64] (operation [l] [k:i64]",
    );
    run(&inner, &input, false, small(), false);
}

#[test]
fn long_sums_of_floats_are_right() {
    // 0.1 fifty thousand times: added one by one in single precision it would be off by 0.02 %.
    let count = 50_000;
    let factors = [
        read_at("f32", "x", "a", "i k"),
        read_at("f32", "y", "b", "k j"),
    ];
    let program = sums("f32", [&factors[0], &factors[1]], ["n", "p", "m"]);
    let row = format!("[{}]", vec!["1"; count].join(" "));
    let column = format!("[{}]", vec!["0.1"; 32].join(" "));
    let input = format!(
        "[{}] [{}]",
        vec![row; 6].join(" "),
        vec![column; count].join(" ")
    );
    let program = read("contractions", &program);
    let mem = nova_mem::introduce(&program);
    let translated =
        nova_expand::translate_with(&mem, false, small(), nova_machine::Machine::Processor)
            .unwrap();
    let [_, found] = results(&program, &translated, &input, false);
    let found = outcome(&program, found);
    let first = found.trim_start_matches('[').split(' ').next().unwrap();
    let difference = first.parse::<f64>().unwrap() - f64::from(0.1f32) * count as f64 - 2.0;
    assert!(difference.abs() < 1e-3, "{found}");
}
