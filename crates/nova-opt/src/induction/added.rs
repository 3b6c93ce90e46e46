//! States to which an iteration adds a number.

use nova_core::ScalarOperation;
use nova_flat::ir::{Atom, Body, Expression, Variable};
use nova_flat::visit::binding;

/// Returns the operation and the number that turn a state into a result of the body. The operation
/// is an addition or a subtraction.
pub(super) fn added_to(
    state: Variable,
    body: &Body,
    result: Atom,
) -> Option<(ScalarOperation, Atom)> {
    let Expression::Scalar {
        operation: change @ (ScalarOperation::Add | ScalarOperation::Subtract),
        arguments,
        ..
    } = &binding(body, result)?.expression
    else {
        return None;
    };
    let own = Atom::Variable(state);
    match (change, &arguments[..]) {
        (_, [left, right]) if *left == own => Some((*change, *right)),
        (ScalarOperation::Add, [left, right]) if *right == own => Some((*change, *left)),
        (_, _) => None,
    }
}
