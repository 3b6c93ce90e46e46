//! The parts of cases: inputs that are hard in one way each, results and their tolerances.

use super::{C, Case, Expected};
use crate::random::Random;
use nova_core::{Elements, ScalarValue, Value};
use std::sync::Arc;

/// The distance of 1 to the next float.
pub const EPSILON: f64 = f32::EPSILON as f64;

/// Returns the bound for a sum of `n` terms whose magnitudes add up to `magnitude`, plus the
/// rounding of the result to the smallest denormal.
pub fn bound(n: usize, magnitude: f64) -> f64 {
    C * (n.max(2) as f64).log2() * EPSILON * magnitude + f32::from_bits(1) as f64
}

/// Maximum relative error of a sum in any order, as a part of its terms' magnitudes. A sum with so
/// many terms that recursive summation might lose more is not worth comparing with.
const MOST_LOST: f64 = 1.0 / 64.0;

/// Returns the bound of recursive summation for the same sum, which is at least that of a tree.
pub fn recursive_bound(n: usize, magnitude: f64) -> f64 {
    bound(n, magnitude).max((n as f64 * EPSILON).min(MOST_LOST) * magnitude)
}

/// Returns a number without rounding.
pub fn exact(value: f64) -> Expected {
    Expected::within(value, 0.0)
}

/// Returns a number that results from `n` roundings of magnitudes that add up to `magnitude`.
pub fn near(value: f64, n: usize, magnitude: f64) -> Expected {
    // Beyond the range of floats the result is infinite.
    let value = if value.abs() > f32::MAX as f64 {
        value * f64::INFINITY
    } else {
        value
    };
    Expected {
        value,
        tolerance: bound(n, magnitude),
        recursive: recursive_bound(n, magnitude),
    }
}

/// A sum in double precision, and the expected result as a float.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    count: usize,
    value: f64,
    magnitude: f64,
}

impl Sum {
    /// Adds a term.
    pub fn add(&mut self, term: f64) {
        self.count += 1;
        self.value += term;
        self.magnitude += term.abs();
    }

    /// Returns the expected result.
    pub fn expected(self) -> Expected {
        near(self.value, self.count, self.magnitude)
    }
}

/// Returns the sum of terms.
pub fn sum_of(terms: impl IntoIterator<Item = f64>) -> Expected {
    let mut sum = Sum::default();
    terms.into_iter().for_each(|term| sum.add(term));
    sum.expected()
}

/// Returns the sum of terms.
pub fn sum(terms: &[f64]) -> Expected {
    sum_of(terms.iter().copied())
}

/// Makes a vector of floats.
pub fn floats(v: &[f32]) -> Value {
    Value::Vector(Elements::F32(Arc::new(v.to_vec())))
}

/// Makes a vector of bytes.
pub fn bytes(v: &[u8]) -> Value {
    Value::Vector(Elements::U8(Arc::new(v.to_vec())))
}

/// Makes a vector of values.
pub fn values(v: Vec<Value>) -> Value {
    Value::Vector(Elements::Values(Arc::new(v)))
}

/// Makes a matrix of floats.
pub fn matrix(rows: usize, columns: usize, v: &[f32]) -> Value {
    Value::Array(
        vec![rows, columns].into(),
        Elements::F32(Arc::new(v.to_vec())),
    )
}

/// Makes a float.
pub fn float(v: f32) -> Value {
    Value::Scalar(ScalarValue::F32(v))
}

/// Makes a tuple of floats.
pub fn tuple_of_floats(v: &[f32]) -> Value {
    Value::Tuple(v.iter().map(|&x| float(x)).collect())
}

/// Draws random floats between -4 and 4.
pub fn draw(random: &mut Random, n: usize) -> Vec<f32> {
    (0..n)
        .map(|_| (random.below(2_000_001) as f32 - 1_000_000.0) / 250_000.0)
        .collect()
}

/// Draws vectors that are hard in one way each, then random ones of several lengths.
pub fn vectors(random: &mut Random) -> Vec<(String, Vec<f32>)> {
    let mut list: Vec<(String, Vec<f32>)> = vec![
        ("empty".into(), vec![]),
        ("one element".into(), vec![-2.5]),
        ("all equal".into(), vec![0.1; 4097]),
        ("huge".into(), vec![1e18; 3000]),
        ("a nan".into(), vec![1.0, f32::NAN, -3.0]),
        (
            "nan among many".into(),
            (0..3000)
                .map(|k| if k % 7 == 3 { f32::NAN } else { k as f32 })
                .collect(),
        ),
        ("denormal".into(), vec![1e-41; 1030]),
        (
            "sorted".into(),
            (0..5000).map(|k| k as f32 * 0.37).collect(),
        ),
        (
            "alternating".into(),
            (0..2049)
                .map(|k| if k % 2 == 0 { 1e6 } else { -1e6 })
                .collect(),
        ),
    ];
    for n in [2, 31, 32, 33, 1023, 1024, 1025, 2048, 100_000] {
        list.push((format!("{n} random"), draw(random, n)));
    }
    list
}

/// Makes a case.
pub fn case(what: &str, inputs: Vec<Value>, expected: Vec<Expected>) -> Case {
    Case {
        what: what.into(),
        inputs,
        expected,
    }
}

/// Returns the least of some floats.
pub fn minimum(v: impl Iterator<Item = f32>) -> Expected {
    exact(v.fold(f32::INFINITY, f32::min) as f64)
}

/// Returns the greatest of some floats.
pub fn maximum(v: impl Iterator<Item = f32>) -> Expected {
    exact(v.fold(f32::NEG_INFINITY, f32::max) as f64)
}

/// Draws row lengths that are hard in one way each.
pub fn row_lengths(random: &mut Random) -> Vec<(String, Vec<usize>)> {
    vec![
        ("no rows".into(), vec![]),
        ("empty rows".into(), vec![0; 1000]),
        ("one row".into(), vec![5000]),
        ("equal rows".into(), vec![17; 300]),
        (
            "many empty".into(),
            (0..2000)
                .map(|k| if k % 50 == 0 { 40 } else { 0 })
                .collect(),
        ),
        (
            "irregular".into(),
            (0..1000).map(|_| random.below(64)).collect(),
        ),
        (
            "one long".into(),
            (0..100)
                .map(|k| if k == 60 { 20_000 } else { k % 3 })
                .collect(),
        ),
    ]
}
