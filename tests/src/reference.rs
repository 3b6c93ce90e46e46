//! Independent references of the benchmark programs, in double precision or exact.
//!
//! A [`Case`] is one run: inputs, and for each number of the result the exact value and the
//! tolerance. Bounds of NOVA's own sums follow `c·log₂ n·ε·Σ|x|` with ε of `float` and Σ|x| the sum
//! of the magnitudes that were added; [`C`] is the constant. The bound for other people's code is
//! that of recursive summation, `n·ε·Σ|x|` ([`Summation`]).

pub(crate) mod cases;
mod linear_algebra;
pub(crate) mod models;
mod nests;
pub(crate) mod reductions;

use crate::random::Random;
use nova_core::{ScalarValue, Value};

/// The constant of the bound on rounding errors.
pub const C: f64 = 4.0;

/// One number of a result.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The reference's value.
    pub value: f64,
    /// The largest absolute difference allowed to sums in a tree.
    pub tolerance: f64,
    /// The largest absolute difference allowed to sums in any order. It is at least `tolerance`.
    pub recursive: f64,
}

/// The order of additions by which a number is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summation {
    /// A tree of few levels, which every program of NOVA's guarantees.
    Tree,
    /// Any order. A library adds in the order that its author chose for this very processor, and
    /// its rounding errors are no defect of NOVA's.
    Recursive,
}

impl Expected {
    /// Returns a number that no order of additions changes.
    pub fn within(value: f64, tolerance: f64) -> Expected {
        Expected {
            value,
            tolerance,
            recursive: tolerance,
        }
    }

    /// Returns the largest absolute difference allowed.
    pub fn allowed(&self, summation: Summation) -> f64 {
        match summation {
            Summation::Tree => self.tolerance,
            Summation::Recursive => self.recursive,
        }
    }

    /// True if a number is within the tolerance.
    pub fn accepts(&self, found: f64, summation: Summation) -> bool {
        let allowed = self.allowed(summation);
        found == self.value
            || (found.is_nan() && self.value.is_nan())
            || (found - self.value).abs() <= allowed
            || allowed.is_infinite()
    }
}

/// One run of a benchmark program.
pub struct Case {
    /// Its special property.
    pub what: String,
    /// The inputs in order.
    pub inputs: Vec<Value>,
    /// The numbers of the result, in the order of their text.
    pub expected: Vec<Expected>,
}

/// A benchmark program and the cases to run it on.
pub struct Benchmark {
    /// The program's name.
    pub name: &'static str,
    /// Draws its cases.
    pub cases: fn(&mut Random) -> Vec<Case>,
}

/// The product of two matrices, which is not one of the sixteen.
pub const MATMUL: Benchmark = Benchmark {
    name: "matmul",
    cases: linear_algebra::matmul,
};

/// The same product with sums that plain loops in C compute wrong.
pub const LONG_MATMUL: Benchmark = Benchmark {
    name: "matmul",
    cases: linear_algebra::long_matmul,
};

/// The nested examples, which are not among the sixteen either.
pub const NESTS: [Benchmark; 3] = [
    Benchmark {
        name: "quicksort",
        cases: nests::quicksort,
    },
    Benchmark {
        name: "queens",
        cases: nests::queens,
    },
    Benchmark {
        name: "spgemm",
        cases: nests::spgemm,
    },
];

/// All sixteen array programs.
pub const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "bbox",
        cases: reductions::bbox,
    },
    Benchmark {
        name: "dot3",
        cases: reductions::dot3,
    },
    Benchmark {
        name: "norm",
        cases: reductions::norm,
    },
    Benchmark {
        name: "gridred",
        cases: reductions::gridred,
    },
    Benchmark {
        name: "sumstats",
        cases: reductions::sumstats,
    },
    Benchmark {
        name: "sumrows",
        cases: reductions::sumrows,
    },
    Benchmark {
        name: "wordcount",
        cases: reductions::wordcount,
    },
    Benchmark {
        name: "blackscholes",
        cases: models::blackscholes,
    },
    Benchmark {
        name: "nbody",
        cases: models::nbody,
    },
    Benchmark {
        name: "spmv",
        cases: linear_algebra::spmv,
    },
    Benchmark {
        name: "box3x3",
        cases: models::box3x3,
    },
    Benchmark {
        name: "scal",
        cases: linear_algebra::scal,
    },
    Benchmark {
        name: "asum",
        cases: linear_algebra::asum,
    },
    Benchmark {
        name: "dot",
        cases: linear_algebra::dot,
    },
    Benchmark {
        name: "gemv",
        cases: linear_algebra::gemv,
    },
    Benchmark {
        name: "spmv_csr",
        cases: linear_algebra::spmv_csr,
    },
];

/// Adds the numbers of a value in the order of their text.
pub fn numbers(value: &Value, out: &mut Vec<f64>) {
    match value {
        Value::Scalar(scalar) => out.push(match scalar {
            ScalarValue::F32(v) => *v as f64,
            ScalarValue::F64(v) => *v,
            ScalarValue::Bool(v) => *v as u8 as f64,
            other => other.as_integer().unwrap_or(0) as f64,
        }),
        Value::Unit | Value::Function(_) => {}
        Value::Tuple(elements) => elements.iter().for_each(|e| numbers(e, out)),
        Value::Vector(elements) | Value::Array(_, elements) => {
            elements.iter().for_each(|e| numbers(&e, out))
        }
        Value::Sum(tag, payload) => {
            out.push(*tag as f64);
            numbers(payload.get(), out);
        }
    }
}

/// Compares a result with the expected one. The error is the first difference as text.
pub fn compare(result: &Value, expected: &[Expected], summation: Summation) -> Result<(), String> {
    let mut found = Vec::new();
    numbers(result, &mut found);
    compare_numbers(found, expected.iter().copied(), summation)
}

/// Compares numbers with the expected ones. The error is the first difference as text.
pub fn compare_numbers(
    found: impl IntoIterator<Item = f64, IntoIter: ExactSizeIterator>,
    expected: impl IntoIterator<Item = Expected, IntoIter: ExactSizeIterator>,
    summation: Summation,
) -> Result<(), String> {
    let (found, expected) = (found.into_iter(), expected.into_iter());
    if found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        return Err(format!("{found} numbers instead of {expected}"));
    }
    for (k, (found, wanted)) in found.zip(expected).enumerate() {
        if !wanted.accepts(found, summation) {
            let (value, allowed) = (wanted.value, wanted.allowed(summation));
            return Err(format!(
                "number {k} is {found:e}, not {value:e} (± {allowed:e})"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::cases::sum_of;
    use super::*;

    /// Returns a sum in the order of a processor with this many lanes: lane by lane, then the lanes
    /// one after the other.
    fn in_lanes(terms: &[f32], lanes: usize) -> f32 {
        let mut sums = vec![0.0f32; lanes];
        for (k, term) in terms.iter().enumerate() {
            sums[k % lanes] += term;
        }
        sums.iter().sum()
    }

    #[test]
    fn every_order_of_additions_is_within_the_bound_of_recursive_summation() {
        for n in [1, 2, 33, 4097, 100_000] {
            for term in [0.1f32, 1e6, -3.7] {
                let terms = vec![term; n];
                let expected = sum_of(terms.iter().map(|&term| f64::from(term)));
                for lanes in [1, 2, 3, 4, 8, 16, 64, 1024] {
                    let found = f64::from(in_lanes(&terms, lanes));
                    assert!(
                        expected.accepts(found, Summation::Recursive),
                        "{n} times {term} in {lanes} lanes: {found}, {expected:?}"
                    );
                }
                let one_less = expected.value * (1.0 - 1.5 / (n as f64).min(50.0));
                assert!(!expected.accepts(one_less, Summation::Recursive), "{n}");
            }
        }
    }

    #[test]
    fn a_tree_is_asked_for_more_than_any_order() {
        let terms = vec![0.1f32; 100_000];
        let expected = sum_of(terms.iter().map(|&term| f64::from(term)));
        let one_by_one = f64::from(in_lanes(&terms, 1));
        assert!(!expected.accepts(one_by_one, Summation::Tree));
        assert!(expected.accepts(one_by_one, Summation::Recursive));
    }
}
