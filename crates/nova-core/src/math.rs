//! The project's own mathematical functions.

use crate::ScalarOperation;

/// Temporarily the host's functions.
pub fn evaluate(operation: ScalarOperation, a: f64, b: f64) -> f64 {
    match operation {
        ScalarOperation::Exp => a.exp(),
        ScalarOperation::Exp2 => a.exp2(),
        ScalarOperation::Log => a.ln(),
        ScalarOperation::Log2 => a.log2(),
        ScalarOperation::Log10 => a.log10(),
        ScalarOperation::Sin => a.sin(),
        ScalarOperation::Cos => a.cos(),
        ScalarOperation::Tan => a.tan(),
        ScalarOperation::Asin => a.asin(),
        ScalarOperation::Acos => a.acos(),
        ScalarOperation::Atan => a.atan(),
        ScalarOperation::Sinh => a.sinh(),
        ScalarOperation::Cosh => a.cosh(),
        ScalarOperation::Tanh => a.tanh(),
        ScalarOperation::Pow => a.powf(b),
        ScalarOperation::Atan2 => a.atan2(b),
        _ => a,
    }
}
