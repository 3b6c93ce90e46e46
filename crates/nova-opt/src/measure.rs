//! Rows whose lengths can be told before they are made: the lengths are added up first, and then each row
//! is made where it is to lie, in an array of the right size.
//!
//! Otherwise the array of all rows grows while they are made, so that it is copied now and then, and is
//! larger than it need be. Looking at each row twice costs less, where its length is a number that is
//! read or computed by a few operations, as that of a row of a nested vector. This is for rows that one
//! thread makes one after the other; checks for the lengths are made twice.

use crate::cheap::is_cheap;
use crate::writer::Writer;
use nova_core::{LONGEST, Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Level, Output, Program, Statement, Type, Variable,
};
use nova_flat::visit::{Substitution, bodies_mut, count_uses, fresh_copy, used_variables};
use std::collections::HashSet;

/// Lengths that take more statements are told while the rows are made.
const MOST: usize = 16;

/// Measures rows in every function.
pub fn run(program: &mut Program) {
    let mut uses = Vec::new();
    for k in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[k].body);
        count_uses(program, &body, &mut uses);
        in_body(program, &uses, &mut body);
        program.functions[k].body = body;
    }
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

/// The part of the body of an operation that tells how long a row is, if the operation makes nothing but
/// rows and their lengths are cheap.
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
    let mut part = Vec::new();
    for statement in operation.body.statements.iter().rev() {
        let is_needed = statement.pattern.iter().any(|v| needed.contains(v));
        // What is read is there because of the checks before it.
        let guards = !part.is_empty() && matches!(statement.expression, Expression::Check { .. });
        if is_needed || guards {
            if !may_be_repeated(&statement.expression) || part.len() == MOST {
                return None;
            }
            used_variables(&statement.expression, &mut |v| {
                needed.insert(v);
            });
            part.push(statement.clone());
        }
    }
    part.reverse();
    (!part.is_empty()).then_some(Body {
        statements: part,
        results: vec![length],
    })
}

/// True if an expression may be computed twice for the sake of a length.
fn may_be_repeated(expression: &Expression) -> bool {
    is_cheap(expression) || matches!(expression, Expression::Check { .. })
}

/// Writes a loop that adds up lengths, and one that makes the rows, in place of one that collects them.
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
    // Where a row ends is known before it is made, so that it can be made there.
    let making = operation
        .body
        .statements
        .split_off(place_of(length, &operation.body));
    let mut write = Writer {
        program,
        place: &place,
        statements: &mut operation.body.statements,
    };
    let behind = [Atom::Variable(first), length];
    let behind = write.scalar("behind", ScalarOperation::Add, behind);
    operation.body.statements.extend(making);
    operation.carries = vec![(first, Atom::index(0))];
    operation.outputs.clear();
    operation.body.results.push(behind);
    let mut given = vec![last];
    for (offsets, number) in [(starts, Atom::Variable(first)), (ends, behind)] {
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

/// Behind which statement of a body a number is bound.
fn place_of(number: Atom, body: &Body) -> usize {
    let binds = |s: &Statement| s.pattern.iter().any(|v| Atom::Variable(*v) == number);
    body.statements
        .iter()
        .position(binds)
        .map_or(0, |at| at + 1)
}

/// The loop that adds up the lengths of the rows of an operation; more elements than an array can have are
/// out of memory.
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
