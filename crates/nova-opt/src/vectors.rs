//! Operations that run as vector instructions: maps and reductions that compute by cheap scalar operations from
//! elements at places that do not depend on data. Such an operation takes a small part of the time of as many scalar
//! operations.

use nova_core::ScalarOperation;
use nova_flat::ir::{ArrayOperation, Atom, Expression, Level, Output, Variable};
use nova_flat::operators::by_component;
use nova_flat::visit::each_statement;
use nova_machine::cost::is_simple;
use std::collections::BTreeSet;

/// True if C compilers make vector instructions of an operation.
pub fn is_vector(operation: &ArrayOperation) -> bool {
    let mut loaded: BTreeSet<Variable> = BTreeSet::new();
    let mut suits = is_plain(operation);
    each_statement(
        &operation.body,
        &mut |statement| match &statement.expression {
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => {
                let quotient = *operation == ScalarOperation::Divide && operand.is_float();
                suits &= quotient || is_simple(*operation, *operand);
                if arguments.iter().any(|atom| is_in(&loaded, *atom)) {
                    loaded.extend(statement.pattern.iter().copied());
                }
            }
            Expression::Index { indices, .. } => {
                suits &= !indices.iter().any(|atom| is_in(&loaded, *atom));
                loaded.extend(statement.pattern.iter().copied());
            }
            Expression::Operation(inner) => {
                suits &= is_plain(inner);
                loaded.extend(statement.pattern.iter().copied());
            }
            Expression::If { .. } => loaded.extend(statement.pattern.iter().copied()),
            Expression::Atom(_) | Expression::View { .. } => {}
            _other => suits = false,
        },
    );
    suits
}

/// True if an operation makes elements and reduces them by known operators, without states and without a level of
/// its own.
fn is_plain(operation: &ArrayOperation) -> bool {
    let is_plain = |output: &Output| match output {
        Output::Map => true,
        Output::Reduce { lambda, .. } => by_component(lambda).is_some(),
        _others => false,
    };
    operation.level == Level::Sequential
        && !operation.is_marked()
        && operation.carries.is_empty()
        && operation.outputs.iter().all(is_plain)
}

fn is_in(variables: &BTreeSet<Variable>, atom: Atom) -> bool {
    matches!(atom, Atom::Variable(variable) if variables.contains(&variable))
}
