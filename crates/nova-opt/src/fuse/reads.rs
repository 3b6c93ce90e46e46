//! What an operation reads of the arrays that another one makes.

use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Statement, Variable};
use nova_flat::visit::{bodies, each_statement, used_variables};
use std::collections::{BTreeSet, HashMap};

/// Calls `visit` on every statement inside an expression.
pub(super) fn each_nested(expression: &Expression, visit: &mut dyn FnMut(&Statement)) {
    bodies(expression, &mut |body| each_statement(body, visit));
}

fn at_index(operation: &ArrayOperation, indices: &[Atom]) -> bool {
    indices.len() == operation.indices.len()
        && operation
            .indices
            .iter()
            .zip(indices)
            .all(|(index, atom)| *atom == Atom::Variable(*index))
}

/// The arrays that an operation reads at its own index.
pub(super) fn arrays_read_here(operation: &ArrayOperation) -> BTreeSet<Variable> {
    let mut arrays = BTreeSet::new();
    each_statement(&operation.body, &mut |statement| {
        if let Expression::Index { array, indices } = &statement.expression
            && at_index(operation, indices)
        {
            arrays.insert(*array);
        }
    });
    arrays
}

/// Whether an operation reads an array at its own index, and uses it for nothing else.
pub(super) fn is_read_only_here(array: Variable, statement: &Statement) -> bool {
    let Expression::Operation(operation) = &statement.expression else {
        return false;
    };
    let (mut uses, mut reads) = (0, 0);
    let count = |expression: &Expression, uses: &mut u32| {
        used_variables(expression, &mut |v| *uses += u32::from(v == array));
    };
    count(&statement.expression, &mut uses);
    each_nested(&statement.expression, &mut |inner| {
        count(&inner.expression, &mut uses);
        bodies(&inner.expression, &mut |body| {
            uses += uses_as_result(body, array);
        });
    });
    bodies(&statement.expression, &mut |body| {
        uses += uses_as_result(body, array);
    });
    each_statement(&operation.body, &mut |statement| {
        if let Expression::Index {
            array: source,
            indices,
        } = &statement.expression
        {
            reads += u32::from(*source == array && at_index(operation, indices));
        }
    });
    uses == reads
}

fn uses_as_result(body: &Body, variable: Variable) -> u32 {
    let uses = body
        .results
        .iter()
        .filter(|r| **r == Atom::Variable(variable));
    uses.count() as u32
}

/// The array results of an operation that are maps, and what the body gives for each.
pub(super) fn map_results(
    statement: &Statement,
    operation: &ArrayOperation,
) -> HashMap<Variable, Atom> {
    let carries = operation.carries.len();
    let mut given = statement.pattern.iter().skip(carries);
    let mut consumed = operation.body.results.iter().skip(carries);
    let mut maps = HashMap::new();
    for output in &operation.outputs {
        let arrays: Vec<_> = given.by_ref().take(output.gives()).collect();
        let values: Vec<_> = consumed.by_ref().take(output.consumes()).collect();
        if let (Output::Map, [array], [value]) = (output, &arrays[..], &values[..]) {
            maps.insert(**array, **value);
        }
    }
    maps
}
