//! What becomes numbers again after it was computed as vectors of n numbers (`as_scalar` of dpia.txt
//! §6.2) is written where it is to lie: an operation that carries a strategy and makes the n components,
//! each as an array of its own, makes one array instead, in which the components of each vector stand
//! behind each other. No array is left between, and the strategy is the same.

use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Output, Program, Statement, Type, Variable, View,
};
use nova_flat::visit::{count_uses, each_body_mut};

/// Rewrites all functions of a program.
pub fn run(program: &mut Program) {
    for k in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[k].body);
        let mut counts = Vec::new();
        count_uses(program, &body, &mut counts);
        each_body_mut(&mut body, &mut |inner| {
            while interleave(program, &counts, inner) {}
        });
        program.functions[k].body = body;
    }
}

/// Rewrites the first such pair of statements; whether there was one.
fn interleave(program: &mut Program, counts: &[u32], body: &mut Body) -> bool {
    let found = body
        .statements
        .iter()
        .enumerate()
        .find_map(|(at, statement)| {
            let arrays = components(&statement.expression)?;
            let from = made_by(counts, &body.statements[..at], &arrays)?;
            let extent = *program.ty(*arrays.first()?).shape().first()?;
            Some((at, from, arrays.len(), extent))
        });
    let Some((at, from, lanes, extent)) = found else {
        return false;
    };
    let place = body.statements[from].place.clone();
    let mut sizes = Vec::new();
    // Never so small that a length which is too large would seem to fit.
    let most = Atom::index(i64::MAX / lanes as i64);
    let limited = scalar(
        program,
        &place,
        &mut sizes,
        ScalarOperation::Minimum,
        [extent, most],
    );
    let size = [limited, Atom::index(lanes as i64)];
    let size = scalar(program, &place, &mut sizes, ScalarOperation::Multiply, size);
    let array = join(program, &mut body.statements[from], lanes, size);
    let shape = vec![extent, Atom::index(lanes as i64)];
    body.statements[at].expression = Expression::View {
        array,
        view: View::Reshape(shape),
    };
    body.statements.splice(from..from, sizes);
    true
}

/// The arrays of components that an operation reads in turn: element (i, j) is element i of array j.
fn components(expression: &Expression) -> Option<Vec<Variable>> {
    let Expression::Operation(operation) = expression else {
        return None;
    };
    let ([_, Atom::Constant(_)], [i, j], [convert, switch], [Output::Map]) = (
        &operation.shape[..],
        &operation.indices[..],
        &operation.body.statements[..],
        &operation.outputs[..],
    ) else {
        return None;
    };
    let Expression::Scalar {
        operation: ScalarOperation::Convert(Scalar::I32),
        arguments,
        ..
    } = &convert.expression
    else {
        return None;
    };
    let Expression::Switch { scrutinee, cases } = &switch.expression else {
        return None;
    };
    let is = |atoms: &[Atom], variables: &[Variable]| {
        atoms
            .iter()
            .copied()
            .eq(variables.iter().map(|v| Atom::Variable(*v)))
    };
    let chosen = is(arguments, &[*j])
        && is(&[*scrutinee], &convert.pattern)
        && is(&operation.body.results, &switch.pattern)
        && operation.shape[1] == Atom::index(cases.len() as i64);
    if operation.is_marked() || !operation.carries.is_empty() || !chosen {
        return None;
    }
    let mut arrays = Vec::with_capacity(cases.len());
    for case in cases {
        let [read] = &case.statements[..] else {
            return None;
        };
        let Expression::Index { array, indices } = &read.expression else {
            return None;
        };
        if !is(indices, &[*i]) || !is(&case.results, &read.pattern) {
            return None;
        }
        arrays.push(*array);
    }
    Some(arrays)
}

/// Which statement makes exactly these arrays, that nobody else uses, if it can make one of them all.
fn made_by(counts: &[u32], statements: &[Statement], arrays: &[Variable]) -> Option<usize> {
    let once = |v: &Variable| counts.get(v.index()) == Some(&1);
    let at = statements.iter().position(|s| s.pattern == arrays)?;
    let Expression::Operation(operation) = &statements[at].expression else {
        return None;
    };
    let joined = match parts(operation, arrays.len())? {
        Parts::Elements => true,
        Parts::Rows { rows, .. } => made_by(counts, &operation.body.statements, &rows).is_some(),
    };
    (arrays.iter().all(once) && operation.is_marked() && joined).then_some(at)
}

/// What an operation makes its arrays of.
enum Parts {
    Elements,
    /// Of rows, each of which begins at the same place of its array.
    Rows {
        first: Atom,
        rows: Vec<Variable>,
    },
}

fn parts(operation: &ArrayOperation, lanes: usize) -> Option<Parts> {
    let simple = operation.carries.is_empty() && operation.indices.len() == 1;
    if !simple || operation.outputs.len() != lanes {
        return None;
    }
    let results = &operation.body.results;
    if operation.outputs.iter().all(|o| matches!(o, Output::Map)) {
        return Some(Parts::Elements);
    }
    if !operation
        .outputs
        .iter()
        .all(|o| matches!(o, Output::Join { .. }))
    {
        return None;
    }
    let first = *results.first()?;
    let mut rows = Vec::with_capacity(lanes);
    for part in results.chunks(2) {
        match part {
            [start, Atom::Variable(row)] if *start == first => rows.push(*row),
            _ => return None,
        }
    }
    Some(Parts::Rows { first, rows })
}

/// Lets a statement make one array of this size of all that it makes, and gives that.
fn join(program: &mut Program, statement: &mut Statement, lanes: usize, size: Atom) -> Variable {
    let place = statement.place.clone();
    let element = statement.pattern.first().map(|v| program.ty(*v).element());
    let element = element.unwrap_or(Scalar::F32);
    let array = program.add_variable("lanes", Type::Array(element, vec![size]));
    statement.pattern = vec![array];
    let Expression::Operation(operation) = &mut statement.expression else {
        return array;
    };
    let width = Atom::index(lanes as i64);
    let times = ScalarOperation::Multiply;
    let body = &mut operation.body;
    match parts_of(operation.outputs.first(), body) {
        Parts::Elements => {
            let index = operation.indices.first().map(|i| Atom::Variable(*i));
            let number = [index.unwrap_or(Atom::index(0)), width];
            let first = scalar(program, &place, &mut body.statements, times, number);
            let row = program.add_variable("row", Type::Array(element, vec![width]));
            let elements = std::mem::take(&mut body.results);
            body.statements.push(Statement {
                pattern: vec![row],
                expression: Expression::Literal { element, elements },
                place,
            });
            body.results = vec![first, Atom::Variable(row)];
        }
        Parts::Rows { first, rows } => {
            let Some(at) = body.statements.iter().position(|s| s.pattern == rows) else {
                return array;
            };
            let length = rows
                .first()
                .and_then(|r| program.ty(*r).shape().first().copied());
            let length = length.unwrap_or(Atom::index(0));
            let mut before = Vec::new();
            let first = scalar(program, &place, &mut before, times, [first, width]);
            let length = scalar(program, &place, &mut before, times, [length, width]);
            let row = join(program, &mut body.statements[at], lanes, length);
            body.statements.splice(at..at, before);
            body.results = vec![first, Atom::Variable(row)];
        }
    }
    operation.outputs = vec![Output::Join { shape: vec![size] }];
    array
}

/// What a body makes, of which [`parts`] has seen that it is alike for all outputs.
fn parts_of(output: Option<&Output>, body: &Body) -> Parts {
    match (output, body.results.first()) {
        (Some(Output::Join { .. }), Some(first)) => Parts::Rows {
            first: *first,
            rows: body
                .results
                .chunks(2)
                .filter_map(|part| match part.get(1) {
                    Some(Atom::Variable(row)) => Some(*row),
                    Some(Atom::Constant(_)) | None => None,
                })
                .collect(),
        },
        (_, _) => Parts::Elements,
    }
}

/// Binds a number.
fn scalar(
    program: &mut Program,
    place: &Place,
    statements: &mut Vec<Statement>,
    operation: ScalarOperation,
    arguments: [Atom; 2],
) -> Atom {
    let variable = program.add_variable("t", Type::Scalar(Scalar::I64));
    statements.push(Statement {
        pattern: vec![variable],
        expression: Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments: arguments.to_vec(),
        },
        place: place.clone(),
    });
    Atom::Variable(variable)
}
