//! Addresses of Loop: the pointers that they begin at.

use nova_diag::deep;
use nova_loop::ir::{Expression, Variable};

/// Returns the pointer to which an address is relative.
pub(crate) fn root(address: &Expression) -> Option<Variable> {
    match address {
        Expression::Variable(variable) => Some(*variable),
        Expression::Offset { pointer, .. } => deep(|| root(pointer)),
        Expression::Constant(_)
        | Expression::Bytes(_)
        | Expression::Data(..)
        | Expression::Scalar { .. }
        | Expression::Select { .. }
        | Expression::Load { .. }
        | Expression::NullPointer(_)
        | Expression::NullBlock
        | Expression::NodeTag { .. } => None,
    }
}
