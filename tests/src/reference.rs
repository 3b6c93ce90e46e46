//! Independent references of the benchmark programs, in double precision or exact.
//!
//! A [`Case`] is one run: inputs, and for each number of the result what it must be and how far it
//! may be off. Bounds follow `c·log₂ n·ε·Σ|x|` with ε of `float` and Σ|x| the sum of the magnitudes
//! that were added; [`C`] is the constant.

mod cases;
mod linear_algebra;
mod models;
mod reductions;

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
    if found.len() != expected.len() {
        return Err(format!(
            "{} numbers instead of {}",
            found.len(),
            expected.len()
        ));
    }
    for (k, (&found, wanted)) in found.iter().zip(expected).enumerate() {
        let equal = found == wanted.value
            || (found.is_nan() && wanted.value.is_nan())
            || (found - wanted.value).abs() <= wanted.tolerance
            || wanted.tolerance.is_infinite();
        if !equal {
            let Expected { value, tolerance } = wanted;
            return Err(format!(
                "number {k} is {found:e}, not {value:e} (± {tolerance:e})"
            ));
        }
    }
    Ok(())
}
