//! Arrays of places: each element is its own index. A comparison that ends with such elements, as to break
//! ties, asks for nothing but a stable sort.

use crate::ir::{ArrayOperation, Atom, Body, Expression, Output, Statement, Variable};
use crate::visit::each_statement;
use nova_core::ScalarOperation;
use std::collections::HashSet;

/// Returns the vectors of a function whose elements are their own indices.
pub fn places(body: &Body) -> HashSet<Variable> {
    let mut found = HashSet::new();
    each_statement(body, &mut |statement| match &statement.expression {
        Expression::Iota { start, step, .. }
            if (number(*start), number(*step)) == (Some(0), Some(1)) =>
        {
            found.extend(&statement.pattern);
        }
        Expression::Atom(Atom::Variable(other)) if found.contains(other) => {
            found.extend(&statement.pattern);
        }
        Expression::Operation(operation) => found.extend(mapped(statement, operation)),
        _others => {}
    });
    found
}

fn number(atom: Atom) -> Option<i128> {
    match atom {
        Atom::Constant(value) => value.as_integer(),
        Atom::Variable(_) => None,
    }
}

/// Returns the results of a map that are the indices of its elements.
fn mapped(statement: &Statement, operation: &ArrayOperation) -> Vec<Variable> {
    let &[index] = &operation.indices[..] else {
        return Vec::new();
    };
    let is_map = operation.outputs.iter().all(|o| matches!(o, Output::Map));
    if !operation.carries.is_empty() || !is_map {
        return Vec::new();
    }
    let results = statement.pattern.iter().zip(&operation.body.results);
    let places = results.filter(|(_, result)| is_index(&operation.body, **result, index));
    places.map(|(array, _)| *array).collect()
}

/// True if a result of a body is an index, perhaps in another type.
fn is_index(body: &Body, result: Atom, index: Variable) -> bool {
    if result == Atom::Variable(index) {
        return true;
    }
    let Atom::Variable(variable) = result else {
        return false;
    };
    let makes = |s: &&Statement| s.pattern == [variable];
    match body.statements.iter().find(makes).map(|s| &s.expression) {
        Some(Expression::Scalar {
            operation: ScalarOperation::Convert(to),
            arguments,
            ..
        }) => to.is_integer() && arguments[..] == [Atom::Variable(index)],
        _others => false,
    }
}
