//! Reductions and scans whose values may be combined in any order and bracketing: operators on
//! integers, component by component.

use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{ArrayOperation, Atom, Expression, Lambda, Output};

/// For each component of a lambda's values the one that changes nothing, where the lambda combines
/// integers, each component with its like, by operators for which no order matters.
pub(super) fn identities(lambda: &Lambda) -> Option<Vec<Atom>> {
    let (left, right) = lambda.parameters.split_at(lambda.parameters.len() / 2);
    let components = left.iter().zip(right).zip(&lambda.body.results);
    let identities = components.map(|((left, right), result)| {
        let statement = lambda
            .body
            .statements
            .iter()
            .find(|s| matches!((&s.pattern[..], result), ([v], Atom::Variable(r)) if v == r))?;
        let Expression::Scalar {
            operation,
            operand,
            arguments,
        } = &statement.expression
        else {
            return None;
        };
        let operands = [Atom::Variable(*left), Atom::Variable(*right)];
        let forwards = arguments[..] == operands;
        let backwards = arguments[..] == [operands[1], operands[0]];
        (forwards || backwards)
            .then(|| identity(*operation, *operand))
            .flatten()
    });
    identities.collect()
}

/// The identity of an operator on integers that is associative and commutes.
fn identity(operation: ScalarOperation, scalar: Scalar) -> Option<Atom> {
    if !scalar.is_integer() {
        return None;
    }
    let number = |value| {
        let value = ScalarValue::from_integer_wrapping(scalar, value);
        Some(Atom::Constant(value))
    };
    let smallest = match scalar.is_signed() {
        true => -1 << (scalar.bits() - 1),
        false => 0,
    };
    match operation {
        ScalarOperation::Add | ScalarOperation::BitOr | ScalarOperation::BitXor => number(0),
        ScalarOperation::Multiply => number(1),
        ScalarOperation::BitAnd => number(-1),
        ScalarOperation::Maximum => number(smallest),
        // The largest has all the bits that the smallest has not.
        ScalarOperation::Minimum => number(!smallest),
        ScalarOperation::Subtract
        | ScalarOperation::Divide
        | ScalarOperation::Remainder
        | ScalarOperation::Negate
        | ScalarOperation::Absolute
        | ScalarOperation::Sqrt
        | ScalarOperation::ReciprocalSqrt
        | ScalarOperation::Reciprocal
        | ScalarOperation::Exp
        | ScalarOperation::Exp2
        | ScalarOperation::Log
        | ScalarOperation::Log2
        | ScalarOperation::Log10
        | ScalarOperation::Sin
        | ScalarOperation::Cos
        | ScalarOperation::Tan
        | ScalarOperation::Asin
        | ScalarOperation::Acos
        | ScalarOperation::Atan
        | ScalarOperation::Sinh
        | ScalarOperation::Cosh
        | ScalarOperation::Tanh
        | ScalarOperation::Pow
        | ScalarOperation::Atan2
        | ScalarOperation::Floor
        | ScalarOperation::Ceil
        | ScalarOperation::Round
        | ScalarOperation::Truncate
        | ScalarOperation::Erf
        | ScalarOperation::Equal
        | ScalarOperation::NotEqual
        | ScalarOperation::Less
        | ScalarOperation::LessEqual
        | ScalarOperation::Greater
        | ScalarOperation::GreaterEqual
        | ScalarOperation::Not
        | ScalarOperation::BitNot
        | ScalarOperation::ShiftLeft
        | ScalarOperation::ShiftRight
        | ScalarOperation::Convert(_)
        | ScalarOperation::Wrap(_)
        | ScalarOperation::Fits(_) => None,
    }
}

/// Whether an operation has a reduction whose operator is not exact: it is fast only where many
/// values can be computed at a time.
pub(super) fn wants_lanes(operation: &ArrayOperation) -> bool {
    operation.outputs.iter().any(|output| match output {
        Output::Reduce { lambda, .. } => identities(lambda).is_none(),
        Output::Map
        | Output::Scan { .. }
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. } => false,
    })
}

/// Whether an operation has an output for which values are computed one at a time.
pub(super) fn is_sequential(operation: &ArrayOperation) -> bool {
    operation.outputs.iter().any(|output| match output {
        Output::Map | Output::Reduce { .. } => false,
        Output::Scan { .. }
        | Output::Filter { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. } => true,
    })
}
