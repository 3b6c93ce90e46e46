//! Prefixes: where only the first elements of arrays are used, as by `(slice 0 1 k …)`, a map makes no
//! others. It then stands where the slice is, since the number of elements may be computed after the place
//! where the whole would have been made.
//!
//! All arrays of a map must be used by slices of one number of first elements, or by operations with so many
//! iterations of which each reads the element of its index, and by nothing else. What could fail is computed for
//! all elements as before.

use nova_diag::deep;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Output, Program, SliceDimension, Statement, Type,
    Variable, View,
};
use nova_flat::visit::{
    bodies, bodies_mut, count_uses, each_function, each_statement, used_variables,
};
use nova_opt::effects::FunctionEffects;

/// Shortens maps in every function.
pub fn run(program: &mut Program) {
    let effects = FunctionEffects::new(program);
    let mut uses = Vec::new();
    each_function(program, |program, body| {
        count_uses(program, body, &mut uses);
        in_body(program, (&effects, &uses), body);
    });
}

fn in_body(program: &mut Program, facts: (&FunctionEffects, &[u32]), body: &mut Body) {
    for statement in &mut body.statements {
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| in_body(program, facts, inner));
        });
    }
    let mut at = 0;
    while at < body.statements.len() {
        match prefix(facts, body, at) {
            Some((count, first)) => shorten(program, body, (at, first), count),
            None => at += 1,
        }
    }
}

/// Returns the number of elements that are used of what a statement makes, and the first statement that
/// uses them.
fn prefix(
    (effects, uses): (&FunctionEffects, &[u32]),
    body: &Body,
    at: usize,
) -> Option<(Atom, usize)> {
    let statement = body.statements.get(at)?;
    let Expression::Operation(operation) = &statement.expression else {
        return None;
    };
    if !is_plain_map(operation) || !effects.of_body(&operation.body).is_pure() {
        return None;
    }
    let mut found: Option<(Atom, usize)> = None;
    let mut left: u32 = 0;
    for array in &statement.pattern {
        left += uses.get(array.index()).copied().unwrap_or_default();
    }
    for (place, user) in body.statements.iter().enumerate().skip(at + 1) {
        let Some(count) = prefix_of(user, &statement.pattern) else {
            continue;
        };
        let (count, own) = count;
        left = left.checked_sub(own)?;
        match found {
            Some((known, _)) if known != count => return None,
            Some(_) => {}
            None => found = Some((count, place)),
        }
    }
    found.filter(|(count, _)| left == 0 && operation.shape[..] != [*count])
}

/// True for a map over a vector without state.
fn is_plain_map(operation: &ArrayOperation) -> bool {
    operation.shape.len() == 1
        && operation.carries.is_empty()
        && !operation.is_marked()
        && !operation.outputs.is_empty()
        && operation
            .outputs
            .iter()
            .all(|output| matches!(output, Output::Map))
}

/// Returns the number of elements if a statement takes the first ones of some of these arrays, and how often it names
/// these arrays.
fn prefix_of(statement: &Statement, arrays: &[Variable]) -> Option<(Atom, u32)> {
    match &statement.expression {
        Expression::View {
            array,
            view: View::Slice(dimensions),
        } if arrays.contains(array) => match &dimensions[..] {
            [SliceDimension { start, step, count }]
                if start.as_i64() == Some(0) && step.as_i64() == Some(1) =>
            {
                Some((*count, 1))
            }
            _others => None,
        },
        Expression::Operation(operation) => {
            let (&[count], &[index]) = (&operation.shape[..], &operation.indices[..]) else {
                return None;
            };
            let is_own = |statement: &&Statement| match &statement.expression {
                Expression::Index { array, indices } => {
                    arrays.contains(array) && *indices == [Atom::Variable(index)]
                }
                _others => false,
            };
            // Elements that every iteration reads are there.
            let own = operation.body.statements.iter().filter(is_own).count() as u32;
            (own > 0 && own == times_named(statement, arrays)).then_some((count, own))
        }
        _others => None,
    }
}

/// Returns how often an operation and its bodies name some arrays.
fn times_named(statement: &Statement, arrays: &[Variable]) -> u32 {
    let mut found = 0;
    let mut count = |expression: &Expression| {
        used_variables(expression, &mut |variable| {
            found += u32::from(arrays.contains(&variable));
        });
        bodies(expression, &mut |body| {
            let results = body.results.iter().filter_map(|a| a.as_variable());
            found += results.filter(|v| arrays.contains(v)).count() as u32;
        });
    };
    count(&statement.expression);
    bodies(&statement.expression, &mut |body| {
        each_statement(body, &mut |inner| count(&inner.expression));
    });
    found
}

/// Moves a map to the first statement that uses what it makes, and shortens it. The slices become other
/// names of the arrays.
fn shorten(program: &mut Program, body: &mut Body, (at, first): (usize, usize), count: Atom) {
    let mut statement = body.statements.remove(at);
    for user in &mut body.statements {
        if prefix_of(user, &statement.pattern).is_some()
            && let Expression::View { array, .. } = &user.expression
        {
            user.expression = Expression::Atom(Atom::Variable(*array));
        }
    }
    for array in &statement.pattern {
        let info = &mut program.variables[array.index()];
        info.ty = Type::Array(info.ty.element(), vec![count]);
    }
    if let Expression::Operation(operation) = &mut statement.expression {
        operation.shape = vec![count];
    }
    body.statements.insert(first - 1, statement);
}
