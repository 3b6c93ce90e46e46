//! The results of an operation by output, and its reads of the arrays that another operation makes.

use nova_core::ScalarOperation;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Statement, Variable};
use nova_flat::visit::{bodies, each_statement, used_variables};
use std::collections::{BTreeSet, HashMap};

/// An output of an operation. With it come its values among the results of the body, and its
/// results among the variables that the operation binds.
pub(super) struct Given<'a> {
    /// The number of the output.
    pub number: usize,
    pub output: &'a Output,
    /// The position of the first value.
    pub consumed: usize,
    pub values: &'a [Atom],
    /// The position of the first result.
    pub given: usize,
    pub bound: &'a [Variable],
}

/// Returns the outputs of an operation in order.
pub(super) fn outputs_of<'a>(
    statement: &'a Statement,
    operation: &'a ArrayOperation,
) -> impl Iterator<Item = Given<'a>> {
    let (mut consumed, mut given) = (operation.carries.len(), operation.carries.len());
    operation
        .outputs
        .iter()
        .enumerate()
        .map(move |(number, output)| {
            let (values, bound) = (
                consumed..consumed + output.consumes(),
                given..given + output.gives(),
            );
            let one = Given {
                number,
                output,
                consumed,
                values: operation
                    .body
                    .results
                    .get(values.clone())
                    .unwrap_or_default(),
                given,
                bound: statement.pattern.get(bound.clone()).unwrap_or_default(),
            };
            (consumed, given) = (values.end, bound.end);
            one
        })
}

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

/// Returns the arrays that an operation reads at its own index.
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

/// Returns the arrays that an operation over one index reads at the sum of its index and a number from outside, with
/// this number: the rows of a nested vector.
pub(super) fn rows_read_here(operation: &ArrayOperation) -> BTreeSet<(Variable, Variable)> {
    let (mut starts, mut rows) = (HashMap::new(), BTreeSet::new());
    let &[index] = &operation.indices[..] else {
        return rows;
    };
    let mut own = BTreeSet::new();
    each_statement(&operation.body, &mut |statement| {
        match (&statement.expression, &statement.pattern[..]) {
            (
                Expression::Scalar {
                    operation: ScalarOperation::Add,
                    arguments,
                    ..
                },
                [sum],
            ) => match &arguments[..] {
                [Atom::Variable(start), Atom::Variable(at)] if *at == index => {
                    starts.insert(*sum, *start);
                }
                [Atom::Variable(at), Atom::Variable(start)] if *at == index => {
                    starts.insert(*sum, *start);
                }
                _others => {}
            },
            (Expression::Index { array, indices }, _) => {
                if let [Atom::Variable(at)] = indices[..]
                    && let Some(start) = starts.get(&at)
                {
                    rows.insert((*array, *start));
                }
            }
            _others => {}
        }
        own.extend(statement.pattern.iter().copied());
    });
    rows.retain(|(_, start)| !own.contains(start));
    rows
}

/// True if an operation reads an array at its own index, and uses it for nothing else.
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

/// Returns the results of an operation that are maps, with the values that the body gives for them.
pub(super) fn map_results(
    statement: &Statement,
    operation: &ArrayOperation,
) -> HashMap<Variable, Atom> {
    let mut maps = HashMap::new();
    for given in outputs_of(statement, operation) {
        if let (Output::Map, [array], [value]) = (given.output, given.bound, given.values) {
            maps.insert(*array, *value);
        }
    }
    maps
}
