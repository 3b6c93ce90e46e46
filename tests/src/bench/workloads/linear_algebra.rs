//! Workloads on vectors and matrices, dense and sparse.

use super::{FLOAT, Rc, draw, every_float, floats, matrix, moved, offsets, row, rows, side};
use super::{vector, vector_of_floats};
use crate::bench::memory::{Array, Entry, Pages};
use crate::bench::workload::{Argument, Shape, Work, Workload};
use crate::random::Random;
use crate::reference::cases::sum_of;

pub fn scal(random: &mut Random, n: usize) -> Workload {
    let (a, x) = (-1.7f32, floats(random, n));
    Workload {
        size: format!("{n} floats"),
        arguments: [&[Argument::Float(a)], &vector(&x)[..]].concat(),
        result: vector_of_floats(n, 1),
        work: moved(n * FLOAT, n * FLOAT),
        check: every_float(n, move |k| sum_of([f64::from(a) * f64::from(x[k])])),
    }
}

pub fn asum(random: &mut Random, n: usize) -> Workload {
    let x = floats(random, n);
    let expected = sum_of(x.iter().map(|&v| f64::from(v.abs())));
    Workload {
        size: format!("{n} floats"),
        arguments: vector(&x).into(),
        result: Shape::Value(FLOAT),
        work: moved(n * FLOAT, 0),
        check: every_float(1, move |_| expected),
    }
}

pub fn dot(random: &mut Random, n: usize) -> Workload {
    let (x, y) = (floats(random, n), floats(random, n));
    let product = |(&a, &b): (&f32, &f32)| f64::from(a) * f64::from(b);
    let expected = sum_of(x.iter().zip(y.iter()).map(product));
    Workload {
        size: format!("2 x {n} floats"),
        arguments: [vector(&x), vector(&y)].concat(),
        result: Shape::Value(FLOAT),
        work: moved(2 * n * FLOAT, 0),
        check: every_float(1, move |_| expected),
    }
}

pub fn gemv(random: &mut Random, n: usize) -> Workload {
    let side = side(n);
    let a = floats(random, side * side);
    let (x, y) = (floats(random, side), floats(random, side));
    let (alpha, beta) = (1.25f32, -0.5f32);
    let numbers = [Argument::Float(alpha), Argument::Float(beta)];
    Workload {
        size: format!("{side} x {side}"),
        arguments: [
            &matrix(side, side, &a)[..],
            &vector(&x),
            &vector(&y),
            &numbers,
        ]
        .concat(),
        result: vector_of_floats(side, 1),
        work: moved((side * side + 2 * side) * FLOAT, side * FLOAT),
        check: every_float(side, move |r| {
            let row = &a[r * side..(r + 1) * side];
            let product = |(&a, &b): (&f32, &f32)| f64::from(alpha) * f64::from(a) * f64::from(b);
            let last = f64::from(beta) * f64::from(y[r]);
            sum_of(row.iter().zip(x.iter()).map(product).chain([last]))
        }),
    }
}

/// Draws a product of square matrices, one of which has n elements.
pub fn matmul(random: &mut Random, n: usize) -> Workload {
    let side = side(n);
    let (a, b) = (floats(random, side * side), floats(random, side * side));
    let elements = side * side;
    let columns: Vec<f32> = (0..elements)
        .map(|k| b[k % side * side + k / side])
        .collect();
    Workload {
        size: format!("{side} x {side} x {side}, three loops"),
        arguments: [matrix(side, side, &a), matrix(side, side, &b)].concat(),
        result: Shape::Elements(vec![side, side], FLOAT),
        work: Work {
            read: 2 * elements * FLOAT,
            written: elements * FLOAT,
            operations: elements * side / 16,
        },
        check: every_float(elements, move |k| {
            let [row, column] = [(&a[..], k / side), (&columns[..], k % side)]
                .map(|(matrix, r)| &matrix[r * side..(r + 1) * side]);
            let product = |(&a, &b): (&f32, &f32)| f64::from(a) * f64::from(b);
            sum_of(row.iter().zip(column).map(product))
        }),
    }
}

/// Draws the same product for an opponent from a library.
pub fn matmul_library(random: &mut Random, n: usize) -> Workload {
    let workload = matmul(random, n);
    Workload {
        size: workload.size.replace("three loops", "OpenBLAS"),
        ..workload
    }
}

pub fn spmv(random: &mut Random, n: usize) -> Workload {
    const WIDTH: usize = 16;
    let x = floats(random, n);
    let mut values = Array::<f32>::zeros(n * WIDTH, Pages::Small);
    let mut columns = Array::<i32>::zeros(n * WIDTH, Pages::Small);
    for (k, (value, column)) in values.iter_mut().zip(columns.iter_mut()).enumerate() {
        // Every row has up to four entries of padding at its end.
        if k % WIDTH < WIDTH - (k / WIDTH) % 5 {
            (*value, *column) = (draw(random), random.below(n) as i32);
        }
    }
    let (values, columns) = (Rc::new(values), Rc::new(columns));
    Workload {
        size: format!("{n} rows of {WIDTH}"),
        arguments: [
            &matrix(n, WIDTH, &values)[..],
            &matrix(n, WIDTH, &columns),
            &vector(&x),
        ]
        .concat(),
        result: vector_of_floats(n, 1),
        work: moved(
            n * WIDTH * (FLOAT + size_of::<i32>()) + n * FLOAT,
            n * FLOAT,
        ),
        check: every_float(n, move |r| {
            let term = |k| f64::from(values[k]) * f64::from(x[columns[k] as usize]);
            sum_of((r * WIDTH..(r + 1) * WIDTH).map(term))
        }),
    }
}

/// Draws row lengths whose tail falls as a power law (Lomax's distribution of exponent 3/2), 16
/// times `scale` on average.
pub fn power_law(random: &mut Random, n: usize, scale: f64) -> Vec<usize> {
    let mut length = || {
        let uniform = (random.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let length = 8.25 * scale * ((1.0 - uniform).powf(-2.0 / 3.0) - 1.0);
        (length as usize).min(n)
    };
    (0..n).map(|_| length()).collect()
}

pub fn spmv_csr(random: &mut Random, n: usize) -> Workload {
    let lengths = power_law(random, n, 1.0);
    spmv_csr_of(random, lengths, n)
}

/// Draws a matrix with this number of columns, rows of these lengths, and random entries.
pub fn spmv_csr_of(random: &mut Random, lengths: Vec<usize>, columns: usize) -> Workload {
    let ends = offsets(lengths);
    let count = ends.last().map_or(0, |&end| end as usize);
    let x = floats(random, columns);
    let entries = Rc::new(Array::from_fn(count, || Entry {
        column: random.below(columns) as i32,
        value: draw(random),
    }));
    product(ends, entries, x)
}

/// Returns the product of a sparse matrix and a vector.
pub fn product(ends: Rc<Array<i64>>, entries: Rc<Array<Entry>>, x: Rc<Array<f32>>) -> Workload {
    let (n, count) = (ends.len() - 1, entries.len());
    Workload {
        size: format!("{n} rows, {count} entries"),
        arguments: [&rows(&ends, &entries)[..], &vector(&x)].concat(),
        result: vector_of_floats(n, 1),
        work: moved(
            count * size_of::<Entry>() + n * size_of::<i64>() + x.len() * FLOAT,
            n * FLOAT,
        ),
        check: every_float(n, move |r| {
            let product = |e: &Entry| f64::from(e.value) * f64::from(x[e.column as usize]);
            sum_of(row(&ends, &entries, r).iter().map(product))
        }),
    }
}
