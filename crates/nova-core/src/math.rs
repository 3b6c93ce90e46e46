//! The mathematical functions of strict floating point. They use the same algorithms, operation for
//! operation, as `runtime-c/common/nova_math.h`, so that the interpreters and every target compute the
//! same bits.
//!
//! Only `+ - * /`, correctly rounded square roots and integer operations are used, never contracted.
//! The unevaluated sum of two doubles (`double`) represents a number where one is not precise enough. So results
//! are within 2 ulp over the whole range (nearly all within 0.75). The functions on `float` are these,
//! rounded once more. A change here requires the same change there, and a test compares the bits.

// The constants are written as digits, as in the C text.
#![allow(clippy::approx_constant, clippy::excessive_precision)]

mod double;
mod error_function;
mod exponential;
mod inverse;
mod trigonometric;

use crate::ScalarOperation;
pub use error_function::erf;
pub use exponential::{cosh, exp, exp2, log, log2, log10, pow, sinh, tanh};
pub use inverse::{acos, asin, atan, atan2};
pub use trigonometric::{cos, sin, tan};

/// Applies one of the functions of this module. Any other operation returns `a`.
pub fn evaluate(operation: ScalarOperation, a: f64, b: f64) -> f64 {
    match operation {
        ScalarOperation::Exp => exp(a),
        ScalarOperation::Exp2 => exp2(a),
        ScalarOperation::Log => log(a),
        ScalarOperation::Log2 => log2(a),
        ScalarOperation::Log10 => log10(a),
        ScalarOperation::Sin | ScalarOperation::SinBounded => sin(a),
        ScalarOperation::Cos | ScalarOperation::CosBounded => cos(a),
        ScalarOperation::Tan => tan(a),
        ScalarOperation::Asin => asin(a),
        ScalarOperation::Acos => acos(a),
        ScalarOperation::Atan => atan(a),
        ScalarOperation::Sinh => sinh(a),
        ScalarOperation::Cosh => cosh(a),
        ScalarOperation::Tanh => tanh(a),
        ScalarOperation::Pow => pow(a, b),
        ScalarOperation::Atan2 => atan2(a, b),
        ScalarOperation::Erf => erf(a),
        _ => a,
    }
}

#[cfg(test)]
mod tests;
