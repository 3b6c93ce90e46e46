//! What work-groups do in their turns: they hand numbers on, each of which is combined with a number of
//! the iteration, by an operation that gives the same in whatever order numbers are put together. A
//! device does that without waiting for other turns (`runtime-c/cuda/turns.h`).

use crate::ir::{Command, Expression, Variable};
use nova_core::{Scalar, ScalarOperation};
use std::collections::BTreeSet;

/// A number that iterations hand on.
#[derive(Clone, Copy, Debug)]
pub struct HandedOn<'c> {
    /// Where it lies: first what the first iteration is given, in the end what the last one hands on.
    pub state: Variable,
    /// What an iteration is given.
    pub begin: Variable,
    /// What it combines that with.
    pub own: &'c Expression,
    /// How.
    pub operation: ScalarOperation,
    /// What these are.
    pub scalar: Scalar,
}

/// The numbers that the iterations of a loop with this body hand on, if there is a turn and that is all
/// that is done in it: for each of them `declare begin = state[0]` and
/// `state[0] = begin operation own`, each in a place of its own.
pub fn handed_on(body: &[Command]) -> Option<Vec<HandedOn<'_>>> {
    let begins = body
        .iter()
        .position(|c| matches!(c, Command::BeginOrdered(_)))?;
    let turn = body.get(begins + 1..)?;
    let ends = turn
        .iter()
        .position(|c| matches!(c, Command::EndOrdered(_)))?;
    let all: Option<Vec<HandedOn<'_>>> = turn.get(..ends)?.chunks(2).map(one).collect();
    let all = all.filter(|all| !all.is_empty())?;
    let states: BTreeSet<Variable> = all.iter().map(|one| one.state).collect();
    (states.len() == all.len()).then_some(all)
}

fn one(commands: &[Command]) -> Option<HandedOn<'_>> {
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
    fits.then_some(HandedOn {
        state: *state,
        begin: *begin,
        own,
        operation: *operation,
        scalar: *operand,
    })
}

/// True if an operation on two numbers gives the same in whatever order they are put together, and
/// cannot fail. Sums of floats do not.
pub(crate) fn is_associative(operation: ScalarOperation, scalar: Scalar) -> bool {
    use ScalarOperation as O;
    match operation {
        O::Add | O::Multiply | O::BitAnd | O::BitOr | O::BitXor => scalar.is_integer(),
        O::Minimum | O::Maximum => true,
        _others => false,
    }
}
