//! Joins two operations over the same space into one. [`super::merge`] selects them.

use super::reads::map_results;
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Expression, Output, Program, Statement, Type, Variable, View,
};
use nova_flat::visit::{Substitution, each_body_mut, substitute};
use std::collections::HashMap;

/// Returns one operation that does what two did, and the statements that must follow it.
pub(super) fn join(program: &mut Program, first: Statement, second: Statement) -> Vec<Statement> {
    let maps = match &first.expression {
        Expression::Operation(operation) => map_results(&first, operation),
        _ => HashMap::new(),
    };
    let (Expression::Operation(producer), Expression::Operation(mut consumer)) =
        (first.expression, second.expression)
    else {
        return Vec::new();
    };
    let mut views = Vec::new();
    let mut given = match producer.shape == consumer.shape {
        true => first.pattern,
        false => {
            let (pattern, shape) = (&first.pattern, &consumer.shape);
            with_extents_of(
                program,
                pattern,
                &producer,
                shape,
                &second.place,
                &mut views,
            )
        }
    };
    let mut body = producer.body;
    let mut substitution = Substitution::default();
    for (from, to) in producer.indices.iter().zip(&consumer.indices) {
        substitution.insert(*from, Atom::Variable(*to));
    }
    substitute(program, &mut body, &substitution);
    let values = maps
        .into_iter()
        .map(|(array, value)| (array, substitution.atom(value)))
        .collect();
    replace_reads(&mut consumer.body, &values);
    // Carries come first: the producer's, then the consumer's.
    let (theirs, ours) = (producer.carries.len(), consumer.carries.len());
    body.statements.append(&mut consumer.body.statements);
    let mut outputs = body.results.split_off(theirs);
    let mut consumed = std::mem::take(&mut consumer.body.results).into_iter();
    body.results.extend(consumed.by_ref().take(ours));
    body.results.append(&mut outputs);
    body.results.extend(consumed);
    let mut arrays = given.split_off(theirs);
    let mut bound = second.pattern.into_iter();
    given.extend(bound.by_ref().take(ours));
    given.append(&mut arrays);
    given.extend(bound);
    consumer.carries.splice(0..0, producer.carries);
    consumer.outputs.splice(0..0, producer.outputs);
    consumer.body = body;
    let operation = Statement {
        pattern: given,
        expression: Expression::Operation(consumer),
        place: second.place,
    };
    [operation].into_iter().chain(views).collect()
}

/// Replaces reads of elements of some arrays in a body by values.
pub(super) fn replace_reads(body: &mut nova_flat::ir::Body, values: &HashMap<Variable, Atom>) {
    each_body_mut(body, &mut |inner| {
        for statement in &mut inner.statements {
            if let Expression::Index { array, .. } = &statement.expression
                && let Some(value) = values.get(array)
            {
                statement.expression = Expression::Atom(*value);
            }
        }
    });
}

/// Returns the variables that an operation binds once it has other extents of the same values.
/// Arrays over its space are new variables, and the old ones become views of them.
fn with_extents_of(
    program: &mut Program,
    pattern: &[Variable],
    operation: &ArrayOperation,
    shape: &[Atom],
    place: &Place,
    views: &mut Vec<Statement>,
) -> Vec<Variable> {
    let mut given = pattern.iter().copied();
    let mut bound: Vec<Variable> = given.by_ref().take(operation.carries.len()).collect();
    for output in &operation.outputs {
        // The number of its results that are arrays over the space.
        let over_space = match output {
            Output::Map => 1,
            Output::Scan { start, .. } => start.len(),
            Output::Collect { .. } => 2,
            Output::Reduce { .. }
            | Output::Filter { .. }
            | Output::Scatter { .. }
            | Output::Histogram { .. }
            | Output::Join { .. } => 0,
        };
        for (k, variable) in given.by_ref().take(output.gives()).enumerate() {
            bound.push(match k < over_space {
                true => with_extents(program, variable, shape, place, views),
                false => variable,
            });
        }
    }
    bound
}

/// Returns a new variable for an array with these extents. The old one becomes a view of it.
fn with_extents(
    program: &mut Program,
    variable: Variable,
    shape: &[Atom],
    place: &Place,
    views: &mut Vec<Statement>,
) -> Variable {
    let info = program.variable(variable).clone();
    let ty = Type::Array(info.ty.element(), shape.to_vec());
    let fresh = program.add_variable(info.name, ty);
    views.push(Statement {
        pattern: vec![variable],
        expression: Expression::View {
            array: fresh,
            view: View::Reshape(info.ty.shape().to_vec()),
        },
        place: place.clone(),
    });
    fresh
}
