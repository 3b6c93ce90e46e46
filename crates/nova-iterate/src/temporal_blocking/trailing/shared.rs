//! Hoisting of values that all elements of a row or of a column share, such as a factor of an elimination. Each is
//! computed once for a row, into an array of one dimension, before the step changes the array.

use super::Steps;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Level, Output, Type};
use nova_flat::ir::{Program, Statement, Variable};
use nova_flat::positions::{Block, Sums};
use nova_flat::visit::used_variables;
use nova_machine::cost::is_simple;
use std::collections::{BTreeMap, BTreeSet};

/// Moves costly values that depend on one index of an element out of the body.
pub(super) fn hoist(program: &mut Program, steps: &mut Steps, sums: &Sums<'_>) {
    let found = (0..steps.body.statements.len()).filter_map(|place| {
        let statement = &steps.body.statements[place];
        let (dimension, chain) = shared(program, steps, sums, statement)?;
        Some((place, dimension, chain))
    });
    let found: Vec<(usize, usize, Vec<Statement>)> = found.collect();
    // From the last one on, since each puts a statement before its own.
    for (place, dimension, chain) in found.into_iter().rev() {
        let statement = &steps.body.statements[place];
        let [value] = statement.pattern[..] else {
            continue;
        };
        let at = statement.place.clone();
        let (array, made) = array_of(program, steps, dimension, chain, (value, at.clone()));
        let position = program.add_variable("at", Type::Scalar(Scalar::I64));
        let start = steps.starts[dimension];
        let index = Atom::Variable(steps.indices[dimension]);
        steps.before.push(made);
        steps.body.statements[place].expression = Expression::Index {
            array,
            indices: vec![Atom::Variable(position)],
        };
        let position = Statement {
            pattern: vec![position],
            expression: integers(ScalarOperation::Add, start, index),
            place: at,
        };
        steps.body.statements.insert(place, position);
    }
}

fn integers(operation: ScalarOperation, left: Atom, right: Atom) -> Expression {
    Expression::Scalar {
        operation,
        operand: Scalar::I64,
        arguments: vec![left, right],
    }
}

/// Returns the dimension whose index alone a costly value depends on, and the statements that compute the value.
fn shared(
    program: &Program,
    steps: &Steps,
    sums: &Sums<'_>,
    statement: &Statement,
) -> Option<(usize, Vec<Statement>)> {
    let Expression::Scalar {
        operation, operand, ..
    } = &statement.expression
    else {
        return None;
    };
    if is_simple(*operation, *operand) || !is_float(*operand) {
        return None;
    }
    let (chain, dimensions) = chain(steps, statement)?;
    let mut dimensions = dimensions.into_iter();
    let (Some(dimension), None) = (dimensions.next(), dimensions.next()) else {
        return None;
    };
    let suits = |s: &Statement| exists_for_all(program, steps, sums, s, dimension);
    chain.iter().all(suits).then_some((dimension, chain))
}

/// Returns the statements of the body that compute the value of a statement, and the dimensions whose indices they
/// use, unless it depends on the old element.
fn chain(steps: &Steps, last: &Statement) -> Option<(Vec<Statement>, BTreeSet<usize>)> {
    let made: BTreeMap<Variable, &Statement> = (steps.body.statements.iter())
        .flat_map(|s| s.pattern.iter().map(move |v| (*v, s)))
        .collect();
    let (mut needed, mut dimensions) = (BTreeSet::new(), BTreeSet::new());
    let mut open: Vec<Variable> = last.pattern.clone();
    let mut is_old = false;
    while let Some(variable) = open.pop() {
        is_old |= variable == steps.own;
        dimensions.extend(steps.indices.iter().position(|i| *i == variable));
        if let Some(statement) = made.get(&variable)
            && needed.insert(variable)
        {
            used_variables(&statement.expression, &mut |v| open.push(v));
        }
    }
    let is_needed = |s: &&Statement| s.pattern.iter().any(|v| needed.contains(v));
    let chain = steps.body.statements.iter().filter(is_needed).cloned();
    (!is_old).then(|| (chain.collect(), dimensions))
}

/// True if a statement may be computed for all indices of a dimension of the array, not only for those of the part.
fn exists_for_all(
    program: &Program,
    steps: &Steps,
    sums: &Sums<'_>,
    statement: &Statement,
    dimension: usize,
) -> bool {
    match &statement.expression {
        Expression::Scalar {
            operation, operand, ..
        } => {
            let never_fails = matches!(
                operation,
                ScalarOperation::Add | ScalarOperation::Subtract | ScalarOperation::Multiply
            );
            is_float(*operand) || (*operand == Scalar::I64 && never_fails)
        }
        Expression::Index { array, indices } => {
            let block = Block {
                starts: &steps.starts[dimension..=dimension],
                indices: &steps.indices[dimension..=dimension],
                extents: &steps.shape[dimension..=dimension],
            };
            let is_along = |extent: &Atom| {
                let along = steps.extents[dimension];
                sums.value(*extent).is_some() && sums.value(*extent) == sums.value(along)
            };
            matches!(program.ty(*array).shape(), [extent] if is_along(extent))
                && sums.is_at(indices, &block)
        }
        _others => false,
    }
}

fn is_float(operand: Scalar) -> bool {
    matches!(operand, Scalar::F32 | Scalar::F64)
}

/// Returns an array of a value for all indices of a dimension, and the statement that makes it.
fn array_of(
    program: &mut Program,
    steps: &Steps,
    dimension: usize,
    chain: Vec<Statement>,
    (value, place): (Variable, Place),
) -> (Variable, Statement) {
    let extent = steps.extents[dimension];
    let info = program.variable(value).clone();
    let ty = Type::Array(info.ty.element(), vec![extent]);
    let array = program.add_variable(info.name, ty);
    let position = program.add_variable("at", Type::Scalar(Scalar::I64));
    let index = steps.indices[dimension];
    let mut statements = vec![Statement {
        pattern: vec![index],
        expression: integers(
            ScalarOperation::Subtract,
            Atom::Variable(position),
            steps.starts[dimension],
        ),
        place: place.clone(),
    }];
    for mut statement in chain {
        if let Expression::Index { indices, .. } = &mut statement.expression {
            *indices = vec![Atom::Variable(position)];
        }
        statements.push(statement);
    }
    let operation = ArrayOperation {
        shape: vec![extent],
        indices: vec![position],
        level: Level::Sequential,
        strategy: None,
        carries: Vec::new(),
        body: Body {
            statements,
            results: vec![Atom::Variable(value)],
        },
        outputs: vec![Output::Map],
    };
    let made = Statement {
        pattern: vec![array],
        expression: Expression::Operation(operation),
        place,
    };
    (array, made)
}
