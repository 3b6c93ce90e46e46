//! Operations whose indices stand for the rows of a nested vector: the cost of an index depends on the
//! length of its row.

use nova_core::ScalarOperation;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Program, Variable};
use nova_flat::visit::{binders, each_statement};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of a nested vector: row `i` has the elements `starts[i]` to `ends[i] - 1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) starts: Variable,
    pub(crate) ends: Variable,
    /// The length of the row of the index, in the operation's body.
    pub(crate) length: Variable,
}

impl Rows {
    /// Returns all nested vectors of which the body of an operation measures the row of its index. They
    /// have a row for each index, whatever the body checks, so that all rows may be read before it
    /// runs.
    pub(crate) fn measured(program: &Program, operation: &ArrayOperation) -> Vec<Rows> {
        let [index] = operation.indices.as_slice() else {
            return Vec::new();
        };
        let bound = bound_in(&operation.body);
        let mut elements: BTreeMap<Variable, Variable> = BTreeMap::new();
        let mut found = Vec::new();
        for statement in &operation.body.statements {
            let [variable] = statement.pattern.as_slice() else {
                continue;
            };
            match &statement.expression {
                Expression::Index { array, indices }
                    if *indices == [Atom::Variable(*index)]
                        && !bound.contains(array)
                        && *program.ty(*array).shape() == operation.shape =>
                {
                    elements.insert(*variable, *array);
                }
                Expression::Scalar {
                    operation: ScalarOperation::Subtract,
                    arguments,
                    ..
                } => {
                    if let [Atom::Variable(end), Atom::Variable(start)] = arguments.as_slice()
                        && let (Some(ends), Some(starts)) = (elements.get(end), elements.get(start))
                    {
                        found.push(Rows {
                            starts: *starts,
                            ends: *ends,
                            length: *variable,
                        });
                    }
                }
                _measures_nothing => {}
            }
        }
        found
    }
}

/// Returns the variables that a body and the bodies in it bind.
pub(crate) fn bound_in(body: &Body) -> BTreeSet<Variable> {
    let mut bound = BTreeSet::new();
    each_statement(body, &mut |statement| {
        bound.extend(statement.pattern.iter().copied());
        binders(&statement.expression, &mut |v| {
            bound.insert(*v);
        });
    });
    bound
}
