//! Operations that store into arrays from enclosing code, and whether the order of stores matters.

use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Output, Positions, Statement, Variable,
};
use nova_flat::visit::each_statement;

/// True if an operation stores blocks of arrays, and otherwise only maps.
pub(crate) fn stores_blocks(operation: &ArrayOperation) -> bool {
    let is_block = |positions: &Positions| matches!(positions, Positions::Block(_));
    maps_and_scatters(operation)
        && positions(operation).all(is_block)
        && positions(operation).next().is_some()
}

/// True if an operation scatters to given positions, and otherwise only maps.
pub(crate) fn scatters(operation: &ArrayOperation) -> bool {
    maps_and_scatters(operation)
        && operation.shape.len() == 1
        && operation.outputs.iter().any(is_given)
}

/// True if an operation only maps and scatters.
fn maps_and_scatters(operation: &ArrayOperation) -> bool {
    let fits = |output: &Output| matches!(output, Output::Map | Output::Scatter { .. });
    operation.carries.is_empty() && operation.outputs.iter().all(fits)
}

/// Returns the positions to which an operation scatters, of each such output.
fn positions(operation: &ArrayOperation) -> impl Iterator<Item = &Positions> {
    operation.outputs.iter().filter_map(|output| match output {
        Output::Scatter { positions, .. } => Some(positions),
        _other_outputs => None,
    })
}

pub(crate) fn is_given(output: &Output) -> bool {
    matches!(output, Output::Scatter { positions, .. } if positions.are_given())
}

/// True if a body has operations, which may be worth more threads than those of the indices.
pub(crate) fn has_operations(body: &Body) -> bool {
    let mut found = false;
    each_statement(body, &mut |statement| {
        found |= match &statement.expression {
            Expression::Operation(_)
            | Expression::Call { .. }
            | Expression::Sort { .. }
            | Expression::SortKeys { .. } => true,
            _scalars => false,
        };
    });
    found
}

/// True if an atom is the same for all indices of an operation.
pub(crate) fn is_same(operation: &ArrayOperation, atom: Atom) -> bool {
    match atom {
        Atom::Constant(_) => true,
        Atom::Variable(variable) => {
            let bound = |s: &Statement| s.pattern.contains(&variable);
            !operation.indices.contains(&variable) && !operation.body.statements.iter().any(bound)
        }
    }
}

/// True if the stores of an operation do not depend on the order of threads, and its indices have no
/// operations that would be worth threads of their own.
pub(crate) fn is_orderless(operation: &ArrayOperation) -> bool {
    contended(operation).is_empty() && !has_operations(&operation.body)
}

/// Lets any of several threads store if each of them would store the same.
pub(crate) fn leave_order(operation: &mut ArrayOperation) {
    for output in &mut operation.outputs {
        if let Output::Scatter { positions, .. } = output
            && *positions == Positions::Given
        {
            *positions = Positions::Unordered;
        }
    }
}

/// A scatter whose values differ: the number of the body's result that is its position, and one of its
/// destinations.
pub(crate) struct Contended {
    pub(crate) position: usize,
    pub(crate) destination: Variable,
}

/// Returns the scatters of an operation whose values are not the same for all indices.
pub(crate) fn contended(operation: &ArrayOperation) -> Vec<Contended> {
    let mut found = Vec::new();
    let mut at = 0;
    for output in &operation.outputs {
        let consumed = output.consumes();
        if let Output::Scatter {
            destinations,
            positions: Positions::Given,
        } = output
        {
            let values = operation.body.results.get(at + 1..at + consumed);
            let mut values = values.unwrap_or_default().iter();
            if let Some(destination) = destinations.first()
                && !values.all(|value| is_same(operation, *value))
            {
                found.push(Contended {
                    position: at,
                    destination: *destination,
                });
            }
        }
        at += consumed;
    }
    found
}
