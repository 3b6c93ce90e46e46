//! Workloads that reduce vectors, rows of vectors and texts to a few numbers.

use super::{FLOAT, draw, every_float, floats, matrix, moved, offsets, row, rows, side, vector};
use super::{Rc, vector_of_floats};
use crate::bench::memory::Array;
use crate::bench::workload::{Argument, Check, Output, Shape, Workload};
use crate::random::Random;
use crate::reference::cases::{exact, maximum, minimum, sum_of};
use crate::reference::reductions::{length, statistics, words};
use crate::reference::{Expected, compare_numbers};
use std::path::Path;

/// Returns the check that a result of some floats is the expected one.
fn result_floats(expected: Vec<Expected>) -> Check {
    let length = expected.len();
    every_float(length, move |k| expected[k])
}

pub fn bbox(random: &mut Random, n: usize) -> Workload {
    let points = Rc::new(Array::from_fn(n, || [draw(random), draw(random)]));
    let column = |k: usize| points.iter().map(move |p| p[k]);
    let expected = vec![
        minimum(column(0)),
        minimum(column(1)),
        maximum(column(0)),
        maximum(column(1)),
    ];
    Workload {
        size: format!("{n} points"),
        arguments: vector(&points).into(),
        result: Shape::Value(4 * FLOAT),
        work: moved(n * 2 * FLOAT, 0),
        check: result_floats(expected),
    }
}

pub fn dot3(random: &mut Random, n: usize) -> Workload {
    let mut triple = || [draw(random), draw(random), draw(random)];
    let a = Rc::new(Array::from_fn(n, &mut triple));
    let b = Rc::new(Array::from_fn(n, &mut triple));
    Workload {
        size: format!("{n} pairs"),
        arguments: [vector(&a), vector(&b)].concat(),
        result: vector_of_floats(n, 1),
        work: moved(n * 6 * FLOAT, n * FLOAT),
        check: every_float(n, move |k| {
            sum_of([0, 1, 2].map(|c| f64::from(a[k][c]) * f64::from(b[k][c])))
        }),
    }
}

pub fn norm(random: &mut Random, n: usize) -> Workload {
    let x = floats(random, n);
    Workload {
        size: format!("{n} floats"),
        arguments: vector(&x).into(),
        result: Shape::Value(FLOAT),
        work: moved(n * FLOAT, 0),
        check: result_floats(vec![length(&x)]),
    }
}

pub fn gridred(random: &mut Random, n: usize) -> Workload {
    let side = side(n);
    let width = side * 4000 / 4096;
    let grid = floats(random, side * side);
    let used = || grid.chunks(side).flat_map(|r| r[..width].iter().copied());
    let expected = vec![minimum(used()), maximum(used())];
    let width_argument = Argument::Int(width as i32);
    Workload {
        size: format!("{side} x {side}, {width} used"),
        arguments: [&matrix(side, side, &grid)[..], &[width_argument]].concat(),
        result: Shape::Value(2 * FLOAT),
        work: moved(side * width * FLOAT, 0),
        check: result_floats(expected),
    }
}

pub fn sumstats(random: &mut Random, n: usize) -> Workload {
    let x = floats(random, n);
    let expected = statistics(&x);
    Workload {
        size: format!("{n} floats"),
        arguments: vector(&x).into(),
        // Two floats, then four doubles.
        result: Shape::Value(5 * size_of::<f64>()),
        work: moved(n * FLOAT, 0),
        check: Box::new(move |output: &Output, summation| {
            let extremes = output.elements::<f32>().iter().take(2);
            let moments = output.elements::<f64>().iter().skip(1).copied();
            let found: Vec<f64> = extremes.map(|&x| f64::from(x)).chain(moments).collect();
            compare_numbers(found, expected.clone(), summation)
        }),
    }
}

pub fn sumrows(random: &mut Random, n: usize) -> Workload {
    let long = (n * 1_000_000) >> 20;
    let lengths: Vec<usize> = (0..n)
        .map(|k| if k == n / 3 { long } else { random.below(64) })
        .collect();
    sumrows_of(random, lengths)
}

/// Returns the sums of rows of these lengths.
pub fn sumrows_of(random: &mut Random, lengths: Vec<usize>) -> Workload {
    let n = lengths.len();
    let ends = offsets(lengths);
    let count = ends.last().map_or(0, |&end| end as usize);
    let data = floats(random, count);
    Workload {
        size: format!("{n} rows, {count} floats"),
        arguments: rows(&ends, &data).into(),
        result: vector_of_floats(n, 1),
        work: moved(count * FLOAT + n * size_of::<i64>(), n * FLOAT),
        check: every_float(n, move |r| {
            sum_of(row(&ends, &data, r).iter().map(|&x| f64::from(x)))
        }),
    }
}

/// Draws a text from the project's own documents and programs. Their paragraphs are in random
/// order, so that branch predictors find no period.
fn text(random: &mut Random, length: usize) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = [
        "README.md",
        "docs/devices.md",
        "docs/language.md",
        "docs/command.md",
    ];
    let read = |file: &&str| std::fs::read_to_string(root.join(file)).unwrap_or_default();
    let source: String = files.iter().map(read).collect();
    let paragraphs: Vec<&str> = source.split_inclusive("\n\n").collect();
    let mut text = Vec::with_capacity(length + source.len());
    while text.len() < length {
        let paragraph = paragraphs.get(random.below(paragraphs.len()));
        text.extend_from_slice(paragraph.map_or("A few words.\n", |p| p).as_bytes());
    }
    text.truncate(length);
    text
}

pub fn wordcount(random: &mut Random, n: usize) -> Workload {
    let text = Rc::new(Array::from_slice(&text(random, n)));
    let expected = exact(words(&text) as f64);
    Workload {
        size: format!("{n} bytes"),
        arguments: vector(&text).into(),
        result: Shape::Value(size_of::<i32>()),
        work: moved(n, 0),
        check: Box::new(move |output: &Output, summation| {
            let found = output.elements::<i32>().iter().map(|&n| f64::from(n));
            compare_numbers(found, [expected], summation)
        }),
    }
}
