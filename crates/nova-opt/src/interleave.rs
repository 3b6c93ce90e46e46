//! Components of vectors are written where the vectors lie. Where vectors of n numbers become
//! numbers again (`as_scalar` of dpia.txt §6.2), an operation that carries a strategy makes the n
//! components, each as an array of its own. It makes one array instead, in which the components of
//! each vector follow each other. No array is left between, and the strategy is the same.

use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Output, Program, Statement, Type, Variable, View,
};
use nova_flat::visit::{count_uses, each_body_mut, each_function};

/// Rewrites all functions of a program.
pub fn run(program: &mut Program) {
    each_function(program, |program, body| {
        let mut counts = Vec::new();
        count_uses(program, body, &mut counts);
        each_body_mut(body, &mut |inner| {
            while interleave(program, &counts, inner) {}
        });
    });
}

/// Rewrites the first such pair of statements. Returns true if there was one.
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
    // The limit is so large that a length which is too large does not seem to fit.
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

/// Returns the arrays of components that an operation reads alternately: element (i, j) is element
/// i of array j.
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

/// Returns the position of the statement that makes exactly these arrays. Nothing else may use
/// them, and it must be able to make one array of them all.
fn made_by(counts: &[u32], statements: &[Statement], arrays: &[Variable]) -> Option<usize> {
    let once = |v: &Variable| counts.get(v.index()) == Some(&1);
    let at = statements.iter().position(|s| s.pattern == arrays)?;
    let Expression::Operation(operation) = &statements[at].expression else {
        return None;
    };
    let joined = match produced(operation, arrays.len())? {
        Produced::Elements => true,
        Produced::Rows { rows, .. } => made_by(counts, &operation.body.statements, &rows).is_some(),
    };
    (arrays.iter().all(once) && operation.is_marked() && joined).then_some(at)
}

/// The results of which an operation makes its arrays.
enum Produced {
    Elements,
    /// Rows, each of which begins at the same position of its array.
    Rows {
        first: Atom,
        rows: Vec<Variable>,
    },
}

fn produced(operation: &ArrayOperation, lanes: usize) -> Option<Produced> {
    let simple = operation.carries.is_empty() && operation.indices.len() == 1;
    if !simple || operation.outputs.len() != lanes {
        return None;
    }
    let results = &operation.body.results;
    if operation.outputs.iter().all(|o| matches!(o, Output::Map)) {
        return Some(Produced::Elements);
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
    for pair in results.chunks(2) {
        match pair {
            [start, Atom::Variable(row)] if *start == first => rows.push(*row),
            _ => return None,
        }
    }
    Some(Produced::Rows { first, rows })
}

/// Makes a statement give one array of this size in place of all its arrays. Returns that array.
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
    match produced_by(operation.outputs.first(), body) {
        Produced::Elements => {
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
        Produced::Rows { first, rows } => {
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

/// Returns the results of a body. [`produced`] has checked that they are alike for all outputs.
fn produced_by(output: Option<&Output>, body: &Body) -> Produced {
    match (output, body.results.first()) {
        (Some(Output::Join { .. }), Some(first)) => Produced::Rows {
            first: *first,
            rows: body
                .results
                .chunks(2)
                .filter_map(|pair| match pair.get(1) {
                    Some(Atom::Variable(row)) => Some(*row),
                    Some(Atom::Constant(_)) | None => None,
                })
                .collect(),
        },
        (_, _) => Produced::Elements,
    }
}

/// Binds the result of an operation on `i64`s.
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
