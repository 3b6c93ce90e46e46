//! Cases of vectors and matrices, dense and sparse.

use super::Case;
use super::cases::{case, draw, float, floats, matrix, row_lengths, sum, sum_of, values, vectors};
use crate::random::Random;
use nova_core::{Elements, ScalarValue, Value};
use std::sync::Arc;

pub fn scal(random: &mut Random) -> Vec<Case> {
    let of = |(what, x): (String, Vec<f32>)| {
        let expected = x
            .iter()
            .map(|&v| sum(&[v as f64 * -1.7f32 as f64]))
            .collect();
        case(&what, vec![float(-1.7), floats(&x)], expected)
    };
    vectors(random).into_iter().map(of).collect()
}

pub fn asum(random: &mut Random) -> Vec<Case> {
    let of = |(what, x): (String, Vec<f32>)| {
        let terms: Vec<f64> = x.iter().map(|v| v.abs() as f64).collect();
        case(&what, vec![floats(&x)], vec![sum(&terms)])
    };
    vectors(random).into_iter().map(of).collect()
}

pub fn dot(random: &mut Random) -> Vec<Case> {
    let of = |(what, x): (String, Vec<f32>)| {
        let y: Vec<f32> = x.iter().rev().copied().collect();
        let terms: Vec<f64> = x
            .iter()
            .zip(&y)
            .map(|(&a, &b)| a as f64 * b as f64)
            .collect();
        case(&what, vec![floats(&x), floats(&y)], vec![sum(&terms)])
    };
    vectors(random).into_iter().map(of).collect()
}

pub fn gemv(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    for (rows, columns) in [(0, 0), (1, 1), (4, 0), (60, 70), (3, 4000)] {
        let (a, x, y) = (
            draw(random, rows * columns),
            draw(random, columns),
            draw(random, rows),
        );
        let (alpha, beta) = (1.25f32, -0.5f32);
        let expected = (0..rows)
            .map(|r| {
                let mut terms: Vec<f64> = (0..columns)
                    .map(|c| alpha as f64 * a[r * columns + c] as f64 * x[c] as f64)
                    .collect();
                terms.push(beta as f64 * y[r] as f64);
                sum(&terms)
            })
            .collect();
        let inputs = vec![
            matrix(rows, columns, &a),
            floats(&x),
            floats(&y),
            float(alpha),
            float(beta),
        ];
        cases.push(case(&format!("{rows} x {columns}"), inputs, expected));
    }
    cases
}

pub fn matmul(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    // Fewer columns than a tile has lanes, as many, and one more; rows and steps that do not fill a
    // block.
    let extents = [
        (0, 0, 0),
        (1, 1, 1),
        (4, 0, 0),
        (20, 30, 10),
        (1, 5, 64),
        (67, 129, 65),
        (5, 300, 130),
        (130, 1, 200),
    ];
    for (rows, inner, columns) in extents {
        let (a, b) = (draw(random, rows * inner), draw(random, inner * columns));
        cases.push(product(
            &format!("{rows} x {inner} x {columns}"),
            rows,
            inner,
            columns,
            &a,
            &b,
        ));
    }
    cases
}

/// Returns sums that miss the bound by far when they are added one by one in single precision.
pub fn long_matmul(_: &mut Random) -> Vec<Case> {
    let (a, b) = (vec![1.0; 20_000], vec![0.1; 20_000 * 64]);
    vec![product("all equal, long", 1, 20_000, 64, &a, &b)]
}

/// Returns the case of a product of matrices.
fn product(what: &str, rows: usize, inner: usize, columns: usize, a: &[f32], b: &[f32]) -> Case {
    let element = |k: usize| {
        let (i, j) = (k / columns, k % columns);
        sum_of((0..inner).map(|l| a[i * inner + l] as f64 * b[l * columns + j] as f64))
    };
    let expected = (0..rows * columns).map(element).collect();
    let inputs = vec![matrix(rows, inner, a), matrix(inner, columns, b)];
    case(what, inputs, expected)
}

pub fn spmv(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    for (rows, width, n) in [(0, 0, 0), (1, 1, 1), (500, 16, 700), (100, 1500, 50)] {
        let mut v = draw(random, rows * width);
        let mut columns: Vec<i32> = (0..rows * width).map(|_| random.below(n) as i32).collect();
        for k in (0..v.len()).step_by(3) {
            (v[k], columns[k]) = (0.0, 0);
        }
        let x = draw(random, n);
        let expected = (0..rows)
            .map(|r| {
                let row = r * width..(r + 1) * width;
                sum(&row
                    .map(|k| v[k] as f64 * x[columns[k] as usize] as f64)
                    .collect::<Vec<_>>())
            })
            .collect();
        let columns = Value::Array(vec![rows, width].into(), Elements::I32(Arc::new(columns)));
        let what = format!("{rows} rows of {width}");
        cases.push(case(
            &what,
            vec![matrix(rows, width, &v), columns, floats(&x)],
            expected,
        ));
    }
    cases
}

pub fn spmv_csr(random: &mut Random) -> Vec<Case> {
    let mut cases = Vec::new();
    for (what, lengths) in row_lengths(random) {
        let x = draw(random, 500);
        let mut expected = Vec::new();
        let mut rows = Vec::new();
        for n in lengths {
            let v = draw(random, n);
            let columns: Vec<usize> = (0..n).map(|_| random.below(x.len())).collect();
            let products = v
                .iter()
                .zip(&columns)
                .map(|(&a, &c)| a as f64 * x[c] as f64);
            expected.push(sum(&products.collect::<Vec<_>>()));
            let entry = |(&a, &c): (&f32, &usize)| {
                Value::Tuple([Value::Scalar(ScalarValue::I32(c as i32)), float(a)].into())
            };
            rows.push(values(v.iter().zip(&columns).map(entry).collect()));
        }
        cases.push(case(&what, vec![values(rows), floats(&x)], expected));
    }
    cases
}
