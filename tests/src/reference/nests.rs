//! Cases of nested programs: quicksort, n queens, the product of sparse matrices.

use super::cases::{case, exact, row_lengths, values};
use super::{Case, Expected};
use crate::random::Random;
use nova_core::{Elements, ScalarValue, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

pub fn quicksort(random: &mut Random) -> Vec<Case> {
    let mut vectors: Vec<(String, Vec<i32>)> = vec![
        ("empty".into(), vec![]),
        ("one".into(), vec![7]),
        ("all equal".into(), vec![3; 5000]),
        ("rising".into(), (-3000..3000).collect()),
        ("falling".into(), (0..6000).rev().collect()),
        (
            "the extremes".into(),
            vec![i32::MAX, 0, i32::MIN, -1, i32::MAX],
        ),
    ];
    for n in [10, 1000, 100_000] {
        let drawn = (0..n).map(|_| random.bits() as i32).collect();
        vectors.push((format!("{n} random"), drawn));
    }
    let of = |(what, x): (String, Vec<i32>)| {
        let mut sorted = x.clone();
        sorted.sort_unstable();
        let expected = sorted.into_iter().map(|v| exact(v as f64)).collect();
        let input = Value::Vector(Elements::I32(Arc::new(x)));
        case(&what, vec![input], expected)
    };
    vectors.into_iter().map(of).collect()
}

/// Known numbers of solutions.
const QUEENS: [u32; 9] = [1, 1, 0, 0, 2, 10, 4, 40, 92];

pub fn queens(_: &mut Random) -> Vec<Case> {
    let of = |(n, &count): (usize, &u32)| {
        let input = Value::Scalar(ScalarValue::I32(n as i32));
        case(
            &format!("{n} queens"),
            vec![input],
            vec![exact(count as f64)],
        )
    };
    QUEENS.iter().enumerate().map(of).collect()
}

/// A row of a sparse matrix.
type Row = Vec<(usize, f64)>;

pub fn spgemm(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    for (what, lengths) in row_lengths(random) {
        let b: Vec<Row> = (0..200)
            .map(|k| row(random, if k == 17 { 150 } else { k % 9 }, 300))
            .collect();
        let a: Vec<Row> = lengths.iter().map(|&n| row(random, n, b.len())).collect();
        let expected = a.iter().flat_map(|row| product(row, &b)).collect();
        cases.push(case(&what, vec![matrix(&a), matrix(&b)], expected));
    }
    cases
}

/// Draws a row with this many elements, whose products and sums are exact.
fn row(random: &mut Random, count: usize, columns: usize) -> Row {
    let element = |_| (random.below(columns), random.below(33) as f64 / 4.0 - 4.0);
    (0..count).map(element).collect()
}

/// Returns the numbers of a row of the product.
fn product(row: &Row, b: &[Row]) -> Vec<Expected> {
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    for (k, x) in row {
        for (j, y) in &b[*k] {
            *sums.entry(*j).or_default() += x * y;
        }
    }
    let pair = |(j, sum)| [exact(j as f64), exact(sum)];
    sums.into_iter().flat_map(pair).collect()
}

fn matrix(rows: &[Row]) -> Value {
    let element = |&(column, value): &(usize, f64)| {
        let column = Value::Scalar(ScalarValue::I32(column as i32));
        Value::Tuple([column, Value::Scalar(ScalarValue::F64(value))].into())
    };
    let row = |row: &Row| values(row.iter().map(element).collect());
    values(rows.iter().map(row).collect())
}
