//! Inputs of the applications: scalars, vectors, matrices, graphs and sparse matrices, drawn from a seed.

use crate::random::Random;
use nova_core::{Elements, ScalarValue, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Returns an `int`.
pub fn int(value: usize) -> Value {
    Value::Scalar(ScalarValue::I32(value as i32))
}

/// Returns a `uint64`.
pub fn uint64(value: u64) -> Value {
    Value::Scalar(ScalarValue::U64(value))
}

/// Returns a `float`.
pub fn float(value: f32) -> Value {
    Value::Scalar(ScalarValue::F32(value))
}

/// Returns a `double`.
pub fn double(value: f64) -> Value {
    Value::Scalar(ScalarValue::F64(value))
}

/// Returns a `vector int`.
pub fn ints(values: Vec<i32>) -> Value {
    Value::Vector(Elements::I32(Arc::new(values)))
}

/// Returns a `vector double`.
pub fn doubles(values: Vec<f64>) -> Value {
    Value::Vector(Elements::F64(Arc::new(values)))
}

/// Draws a number from a range.
pub fn uniform(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (random.bits() >> 11) as f64 * ((high - low) / (1u64 << 53) as f64)
}

fn many(random: &mut Random, n: usize, low: f64, high: f64) -> Vec<f64> {
    (0..n).map(|_| uniform(random, low, high)).collect()
}

/// Draws a vector of doubles from a range.
pub fn random_doubles(random: &mut Random, n: usize, low: f64, high: f64) -> Value {
    doubles(many(random, n, low, high))
}

/// Draws a vector of floats from a range.
pub fn random_floats(random: &mut Random, n: usize, low: f64, high: f64) -> Value {
    Value::Vector(floats_of(many(random, n, low, high)))
}

/// Draws a vector of integers from 0 to below a bound.
pub fn random_ints(random: &mut Random, n: usize, bound: usize) -> Value {
    ints((0..n).map(|_| random.below(bound) as i32).collect())
}

fn floats_of(values: Vec<f64>) -> Elements {
    Elements::F32(Arc::new(values.into_iter().map(|x| x as f32).collect()))
}

/// Draws an array of floats from a range.
pub fn float_array(random: &mut Random, extents: &[usize], low: f64, high: f64) -> Value {
    let values = many(random, extents.iter().product(), low, high);
    Value::Array(Arc::new(extents.to_vec()), floats_of(values))
}

/// Draws an array of doubles from a range.
pub fn double_array(random: &mut Random, extents: &[usize], low: f64, high: f64) -> Value {
    let values = many(random, extents.iter().product(), low, high);
    let elements = Elements::F64(Arc::new(values));
    Value::Array(Arc::new(extents.to_vec()), elements)
}

/// Draws an array of integers from 0 to below a bound.
pub fn int_array(random: &mut Random, extents: &[usize], bound: usize) -> Value {
    let n = extents.iter().product();
    let values = (0..n).map(|_| random.below(bound) as i32).collect();
    Value::Array(Arc::new(extents.to_vec()), Elements::I32(Arc::new(values)))
}

/// Returns a tuple of numbers.
fn tuple(parts: impl IntoIterator<Item = Value>) -> Value {
    Value::Tuple(parts.into_iter().collect())
}

/// Returns a vector of tuples.
pub fn tuples<const N: usize, T>(
    rows: impl IntoIterator<Item = [T; N]>,
    scalar: fn(T) -> Value,
) -> Value {
    let rows = rows.into_iter().map(|row| tuple(row.map(scalar)));
    Value::Vector(Elements::Values(Arc::new(rows.collect())))
}

/// Returns a tuple of floats.
pub fn float_tuple(parts: &[f32]) -> Value {
    tuple(parts.iter().copied().map(float))
}

/// Draws tuples of doubles, each from the same range.
pub fn double_tuples<const N: usize>(
    random: &mut Random,
    n: usize,
    low: f64,
    high: f64,
) -> Vec<[f64; N]> {
    let one = |random: &mut Random| [(); N].map(|()| uniform(random, low, high));
    (0..n).map(|_| one(random)).collect()
}

/// Draws directions: vectors of length 1.
pub fn directions(random: &mut Random, n: usize) -> Value {
    let one = |_| {
        let z = uniform(random, -1.0, 1.0);
        let angle = uniform(random, 0.0, std::f64::consts::TAU);
        let r = (1.0 - z * z).sqrt();
        [r * angle.cos(), r * angle.sin(), z]
    };
    tuples((0..n).map(one), double)
}

/// Draws points of a disc, where quickhull has the most to do.
pub fn disc(random: &mut Random, n: usize) -> Value {
    let one = |_| {
        let (r, angle) = (
            uniform(random, 0.0, 1.0).sqrt(),
            uniform(random, 0.0, std::f64::consts::TAU),
        );
        [r * angle.cos(), r * angle.sin()]
    };
    tuples((0..n).map(one), double)
}

/// Draws an order of the numbers below n.
pub fn permutation(random: &mut Random, n: usize) -> Value {
    let mut order: Vec<i32> = (0..n as i32).collect();
    for k in (1..n).rev() {
        order.swap(k, random.below(k + 1));
    }
    ints(order)
}

/// The neighbours of all nodes of a graph in one vector, and where those of each node begin.
pub struct Graph {
    /// Where the neighbours of each node begin, and the end.
    pub starts: Vec<i32>,
    /// The neighbours.
    pub neighbours: Vec<i32>,
}

impl Graph {
    /// Draws a graph whose nodes have this many neighbours on average. Each edge leads both ways.
    pub fn draw(random: &mut Random, n: usize, degree: usize) -> Graph {
        let mut edges = Vec::with_capacity(n * degree);
        for u in 0..n {
            for _ in 0..degree / 2 {
                let v = random.below(n);
                if u != v {
                    edges.push((u as i32, v as i32));
                    edges.push((v as i32, u as i32));
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut starts = vec![0i32; n + 1];
        edges.iter().for_each(|(u, _)| starts[*u as usize + 1] += 1);
        for k in 0..n {
            starts[k + 1] += starts[k];
        }
        let neighbours = edges.into_iter().map(|(_, v)| v).collect();
        Graph { starts, neighbours }
    }
}

/// Draws a symmetric, positive matrix with this many numbers in a row on average: where rows begin, the columns and
/// the values. A diagonal above the sum of its row makes it positive.
pub fn sparse_matrix(random: &mut Random, n: usize, row: usize) -> [Value; 3] {
    let mut entries = BTreeSet::new();
    for i in 0..n {
        for _ in 0..row / 2 {
            let j = random.below(n);
            entries.insert((i.min(j), i.max(j)));
        }
    }
    let mut rows = vec![Vec::new(); n];
    for (i, j) in entries.into_iter().filter(|(i, j)| i != j) {
        let value = uniform(random, -1.0, 1.0);
        rows[i].push((j as i32, value));
        rows[j].push((i as i32, value));
    }
    let (mut starts, mut columns, mut values) = (vec![0i32], Vec::new(), Vec::new());
    for (i, mut row) in rows.into_iter().enumerate() {
        let sum: f64 = row.iter().map(|(_, x)| x.abs()).sum();
        row.push((i as i32, 1.0 + sum));
        row.sort_unstable_by_key(|(column, _)| *column);
        columns.extend(row.iter().map(|(column, _)| *column));
        values.extend(row.iter().map(|(_, value)| *value));
        starts.push(columns.len() as i32);
    }
    [ints(starts), ints(columns), doubles(values)]
}

/// Draws links between pages, most of them to few pages.
pub fn links(random: &mut Random, pages: usize, count: usize) -> Value {
    let one = |_| {
        let popular = uniform(random, 0.0, 1.0).powi(3);
        [random.below(pages), (popular * pages as f64) as usize]
    };
    tuples((0..count).map(one), int)
}

/// Draws the colours of pixels, most of them near the middle of all.
pub fn colours(random: &mut Random, n: usize, bins: usize) -> Value {
    let one = |_| {
        let sum: f64 = (0..4).map(|_| uniform(random, 0.0, 0.25)).sum();
        (sum * bins as f64) as i32
    };
    ints((0..n).map(one).collect())
}

/// Draws a sequence of letters.
pub fn letters(random: &mut Random, n: usize, alphabet: usize) -> Value {
    let values = (0..n).map(|_| random.below(alphabet) as u8).collect();
    Value::Vector(Elements::U8(Arc::new(values)))
}

/// Returns vectors of equal length.
pub fn rows(values: Vec<Value>, length: usize) -> Value {
    let row = |row: &[Value]| Value::Vector(Elements::Values(Arc::new(row.to_vec())));
    let rows = values.chunks(length.max(1)).map(row).collect();
    Value::Vector(Elements::Values(Arc::new(rows)))
}
