//! Rows whose lengths are cheap to compute before the rows are made. The lengths are added up
//! first. Then each row is made at its final place, in an array of the right size.
//!
//! Otherwise the array of all rows grows while they are made. It is copied now and then, and is
//! larger than it need be. Visiting each row twice costs less, if its length is a number that is
//! read or computed by a few operations, as that of a row of a nested vector. The pass is for rows
//! that one thread makes one after the other. Checks for the lengths are made twice.

use crate::cheap::is_cheap;
use crate::limits::STATEMENTS_OF_A_LENGTH;
use crate::writer::Writer;
use nova_core::{LONGEST, Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Program, Statement, Type, Variable,
};
use nova_flat::visit::{
    Substitution, bodies_mut, count_uses, each_function, fresh_copy, used_variables,
};
use std::collections::HashSet;

/// Measures rows in every function.
pub fn run(program: &mut Program) {
    let mut uses = Vec::new();
    each_function(program, |program, body| {
        count_uses(program, body, &mut uses);
        in_body(program, &uses, body);
    });
}

fn in_body(program: &mut Program, uses: &[u32], body: &mut Body) {
    let mut statements = Vec::with_capacity(body.statements.len());
    for mut statement in std::mem::take(&mut body.statements) {
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| in_body(program, uses, inner));
        });
        match lengths_of(&statement) {
            Some(lengths) => measure(program, uses, (statement, lengths), &mut statements),
            None => statements.push(statement),
        }
    }
    body.statements = statements;
}

/// Returns the slice of an operation's body that computes the length of a row. The operation must
/// make nothing but rows, and their lengths must be cheap.
fn lengths_of(statement: &Statement) -> Option<Body> {
    let Expression::Operation(operation) = &statement.expression else {
        return None;
    };
    let alone = matches!(operation.outputs[..], [Output::Collect { .. }]);
    let free = operation.carries.is_empty() && !operation.is_marked();
    if !alone || !free || operation.level != Level::Sequential {
        return None;
    }
    let length = *operation.body.results.first()?;
    let Atom::Variable(variable) = length else {
        return None;
    };
    let mut needed = HashSet::from([variable]);
    let mut slice = Vec::new();
    for statement in operation.body.statements.iter().rev() {
        let is_needed = statement.pattern.iter().any(|v| needed.contains(v));
        // A read is defined because of the checks before it.
        let guards = !slice.is_empty() && matches!(statement.expression, Expression::Check { .. });
        if is_needed || guards {
            if !may_be_repeated(&statement.expression) || slice.len() == STATEMENTS_OF_A_LENGTH {
                return None;
            }
            used_variables(&statement.expression, &mut |v| {
                needed.insert(v);
            });
            slice.push(statement.clone());
        }
    }
    slice.reverse();
    (!slice.is_empty()).then_some(Body {
        statements: slice,
        results: vec![length],
    })
}

/// True if an expression may be computed twice to find a length.
fn may_be_repeated(expression: &Expression) -> bool {
    is_cheap(expression) || matches!(expression, Expression::Check { .. })
}

/// Replaces a loop that collects rows by one that adds up their lengths and one that makes the
/// rows.
fn measure(
    program: &mut Program,
    uses: &[u32],
    (statement, lengths): (Statement, Body),
    statements: &mut Vec<Statement>,
) {
    let Statement {
        pattern,
        expression,
        place,
    } = statement;
    let (Expression::Operation(mut operation), [starts, ends, total, arrays @ ..]) =
        (expression, &pattern[..])
    else {
        return;
    };
    statements.push(add_up(program, &operation, lengths, *total, &place));
    let mut results = std::mem::take(&mut operation.body.results).into_iter();
    let Some(length) = results.next() else {
        return;
    };
    let [first, last] = ["first", "last"].map(|name| program.add_variable(name, INTEGER));
    // The end of a row is known before the row is made, so the row can be made in place.
    let making = operation
        .body
        .statements
        .split_off(place_of(length, &operation.body));
    let mut write = Writer {
        program,
        place: &place,
        statements: &mut operation.body.statements,
    };
    let end = [Atom::Variable(first), length];
    let end = write.scalar("behind", ScalarOperation::Add, end);
    operation.body.statements.extend(making);
    operation.carries = vec![(first, Atom::index(0))];
    operation.outputs.clear();
    operation.body.results.push(end);
    let mut given = vec![last];
    for (offsets, number) in [(starts, Atom::Variable(first)), (ends, end)] {
        if uses.get(offsets.index()).is_none_or(|count| *count > 0) {
            operation.outputs.push(Output::Map);
            operation.body.results.push(number);
            given.push(*offsets);
        }
    }
    for (array, row) in arrays.iter().zip(results) {
        let shape = vec![Atom::Variable(*total)];
        operation.outputs.push(Output::Join { shape });
        operation.body.results.extend([Atom::Variable(first), row]);
        given.push(*array);
    }
    statements.push(Statement {
        pattern: given,
        expression: Expression::Operation(operation),
        place,
    });
}

const INTEGER: Type = Type::Scalar(Scalar::I64);

/// Returns the position after the statement of a body that binds a number.
fn place_of(number: Atom, body: &Body) -> usize {
    let binds = |s: &Statement| s.pattern.iter().any(|v| Atom::Variable(*v) == number);
    body.statements
        .iter()
        .position(binds)
        .map_or(0, |at| at + 1)
}

/// Returns the loop that adds up the lengths of the rows of an operation. It stops the program with
/// error memory where there are more elements than an array can have.
fn add_up(
    program: &mut Program,
    operation: &ArrayOperation,
    mut lengths: Body,
    total: Variable,
    place: &Place,
) -> Statement {
    let mut substitution = Substitution::default();
    let mut indices = Vec::with_capacity(operation.indices.len());
    for index in &operation.indices {
        let info = program.variable(*index).clone();
        let fresh = program.add_variable(info.name, info.ty);
        substitution.insert(*index, Atom::Variable(fresh));
        indices.push(fresh);
    }
    lengths = fresh_copy(program, &lengths, &mut substitution);
    let length = lengths.results.pop().unwrap_or(Atom::index(0));
    let so_far = program.add_variable("elements", INTEGER);
    let mut write = Writer {
        program,
        place,
        statements: &mut lengths.statements,
    };
    // A row of a negative length is an error where it is made. The rows before it are made first.
    let length = [length, Atom::index(0)];
    let length = write.scalar("row", ScalarOperation::Maximum, length);
    let left = [Atom::index(LONGEST), Atom::Variable(so_far)];
    let left = write.scalar("left", ScalarOperation::Subtract, left);
    write.check_fits(length, left);
    let with_row = [Atom::Variable(so_far), length];
    let with_row = write.scalar("elements", ScalarOperation::Add, with_row);
    lengths.results = vec![with_row];
    Statement {
        pattern: vec![total],
        expression: Expression::Operation(ArrayOperation {
            shape: operation.shape.clone(),
            indices,
            level: Level::Sequential,
            strategy: None,
            carries: vec![(so_far, Atom::index(0))],
            body: lengths,
            outputs: Vec::new(),
        }),
        place: place.clone(),
    }
}
