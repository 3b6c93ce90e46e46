//! Independent references of the benchmark programs, in double precision or exact.
//!
//! A [`Case`] is one run: inputs, and for each number of the result what it must be and how far it
//! may be off. Bounds follow `c·log₂ n·ε·Σ|x|` with ε of `float` and Σ|x| the sum of the magnitudes
//! that were added; [`C`] is the constant.

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
    /// The largest absolute difference allowed.
    pub tolerance: f64,
}

impl Expected {
    /// Whether a number found is near enough.
    pub fn accepts(&self, found: f64) -> bool {
        found == self.value
            || (found.is_nan() && self.value.is_nan())
            || (found - self.value).abs() <= self.tolerance
            || self.tolerance.is_infinite()
    }
}

/// One run of a benchmark program.
pub struct Case {
    /// What is special about it.
    pub what: String,
    /// The inputs in order.
    pub inputs: Vec<Value>,
    /// The numbers of the result, in the order in which they are written.
    pub expected: Vec<Expected>,
}

/// A benchmark program and the cases to run it on.
pub struct Benchmark {
    /// The program's name.
    pub name: &'static str,
    /// Draws its cases.
    pub cases: fn(&mut Random) -> Vec<Case>,
}

/// The product of two matrices, which is none of the sixteen.
pub const MATMUL: Benchmark = Benchmark {
    name: "matmul",
    cases: linear_algebra::matmul,
};

/// The same with sums that plain loops in C get wrong.
pub const LONG_MATMUL: Benchmark = Benchmark {
    name: "matmul",
    cases: linear_algebra::long_matmul,
};

/// The nested examples, which are not among them either.
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

/// The numbers of a value in the order in which they are written.
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

/// Compares a result with what is expected; the first difference as text.
pub fn compare(result: &Value, expected: &[Expected]) -> Result<(), String> {
    let mut found = Vec::new();
    numbers(result, &mut found);
    compare_numbers(found, expected.iter().copied())
}

/// Compares numbers with what is expected; the first difference as text.
pub fn compare_numbers(
    found: impl IntoIterator<Item = f64, IntoIter: ExactSizeIterator>,
    expected: impl IntoIterator<Item = Expected, IntoIter: ExactSizeIterator>,
) -> Result<(), String> {
    let (found, expected) = (found.into_iter(), expected.into_iter());
    if found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        return Err(format!("{found} numbers instead of {expected}"));
    }
    for (k, (found, wanted)) in found.zip(expected).enumerate() {
        if !wanted.accepts(found) {
            let Expected { value, tolerance } = wanted;
            return Err(format!(
                "number {k} is {found:e}, not {value:e} (± {tolerance:e})"
            ));
        }
    }
    Ok(())
}
