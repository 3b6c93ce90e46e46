//! The prefixes that work-groups propagate in their ordered regions. Each is combined with a number
//! of the iteration, by an operation that gives the same result in whatever order numbers are
//! combined. CUDA needs not wait for other ordered regions then: it uses decoupled look-back
//! (`runtime-c/cuda/ordered.h`).

use crate::ir::{Command, Expression, Variable};
use nova_core::{Scalar, ScalarOperation};
use std::collections::BTreeSet;

/// A prefix that iterations propagate.
#[derive(Clone, Copy, Debug)]
pub struct Propagated<'c> {
    /// The memory that holds it: at first the prefix of the first iteration, at the end what the
    /// last one propagates.
    pub state: Variable,
    /// The prefix that an iteration is given.
    pub begin: Variable,
    /// The number that the iteration combines with the prefix.
    pub own: &'c Expression,
    /// The operation that combines them.
    pub operation: ScalarOperation,
    /// The type of these numbers.
    pub scalar: Scalar,
}

/// Returns the prefixes that the iterations of a loop with this body propagate, if the body has an
/// ordered region that does nothing else. For each prefix the region consists of `declare begin =
/// state[0]` and `state[0] = begin operation own`. Each prefix has its own memory.
pub fn propagated(body: &[Command]) -> Option<Vec<Propagated<'_>>> {
    let begins = body
        .iter()
        .position(|c| matches!(c, Command::BeginOrdered(_)))?;
    let region = body.get(begins + 1..)?;
    let ends = region
        .iter()
        .position(|c| matches!(c, Command::EndOrdered(_)))?;
    let all: Option<Vec<Propagated<'_>>> = region.get(..ends)?.chunks(2).map(one).collect();
    let all = all.filter(|all| !all.is_empty())?;
    let states: BTreeSet<Variable> = all.iter().map(|one| one.state).collect();
    (states.len() == all.len()).then_some(all)
}

fn one(commands: &[Command]) -> Option<Propagated<'_>> {
    let [
        Command::Declare {
            variable: begin,
            value: Some(Expression::Load { pointer, index }),
        },
        Command::Store {
            pointer: state,
            index: at,
            value:
                Expression::Scalar {
                    operation,
                    operand,
                    arguments,
                },
        },
    ] = commands
    else {
        return None;
    };
    let [Expression::Variable(given), own] = &arguments[..] else {
        return None;
    };
    let is_state = matches!(&**pointer, Expression::Variable(p) if p == state);
    let fits = is_state
        && index.as_index() == Some(0)
        && at.as_index() == Some(0)
        && given == begin
        && own.is_simple()
        && is_associative(*operation, *operand);
    fits.then_some(Propagated {
        state: *state,
        begin: *begin,
        own,
        operation: *operation,
        scalar: *operand,
    })
}

/// True if an operation on numbers gives the same result in whatever order they are combined, and
/// cannot fail. This is false for sums of floats.
pub fn is_associative(operation: ScalarOperation, scalar: Scalar) -> bool {
    use ScalarOperation as O;
    match operation {
        O::Add | O::Multiply | O::BitAnd | O::BitOr | O::BitXor => scalar.is_integer(),
        O::Minimum | O::Maximum => true,
        _others => false,
    }
}
