//! The cost model: the price of each scalar operation and of an access. The tables for the operations of
//! Flat (`nova-schedule/src/cost.rs`) and of Loop (`nova-loop/src/cost.rs`) take their numbers from here.

use nova_core::builtin::Cost;
use nova_core::{Scalar, ScalarOperation};

/// The price of an operation on numbers or of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Instructions.
    pub work: u32,
    /// Cycles until its result is available.
    pub latency: u32,
    /// The time of a thread, in simple operations. The sizes of chunks are computed from it.
    pub weight: i64,
}

/// An operation that takes a few cycles at most, in vectors too: an addition, a comparison, a conversion.
pub const SIMPLE: Price = price(1, 4, 1);
/// A load from the first-level cache.
pub const LOAD: Price = price(1, 5, 1);
/// A conversion of a float to an integer that wraps, which is no instruction of processors. Its work and
/// latency are underestimated.
const WRAP: Price = price(1, 4, 16);
/// A division.
const DIVISION: Price = price(4, 15, 4);
/// A square root or a reciprocal, which runs in the unit of divisions too.
const ROOT: Price = price(4, 15, 16);
/// A reciprocal square root: a root and a division.
const RECIPROCAL_ROOT: Price = price(8, 30, 16);
/// A function of the mathematical library.
const FUNCTION: Price = price(20, 50, 16);

const fn price(work: u32, latency: u32, weight: i64) -> Price {
    Price {
        work,
        latency,
        weight,
    }
}

/// Returns the price of a scalar operation on arguments of type `operand`.
pub fn price_of(operation: ScalarOperation, operand: Scalar) -> Price {
    use ScalarOperation as O;
    match operation {
        O::Wrap(_) if operand.is_float() => WRAP,
        O::Divide | O::Remainder => DIVISION,
        O::Sqrt | O::Reciprocal => ROOT,
        O::ReciprocalSqrt => RECIPROCAL_ROOT,
        O::SinBounded | O::CosBounded => FUNCTION,
        other => match other.info().map_or(Cost::Low, |info| info.cost) {
            Cost::Low => SIMPLE,
            Cost::High => FUNCTION,
        },
    }
}

/// True if an operation is [simple](SIMPLE) for arguments of type `operand`.
pub fn is_simple(operation: ScalarOperation, operand: Scalar) -> bool {
    price_of(operation, operand).weight <= SIMPLE.weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_are_the_cheapest_of_the_costly() {
        let weight = |operation| price_of(operation, Scalar::F64).weight;
        assert_eq!(weight(ScalarOperation::Add), SIMPLE.weight);
        assert!(weight(ScalarOperation::Divide) > SIMPLE.weight);
        assert!(weight(ScalarOperation::Divide) < weight(ScalarOperation::Sqrt));
        assert!(!is_simple(ScalarOperation::Wrap(Scalar::I32), Scalar::F32));
        assert!(is_simple(ScalarOperation::Wrap(Scalar::I32), Scalar::I64));
    }
}
