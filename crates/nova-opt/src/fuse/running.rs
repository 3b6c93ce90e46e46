//! Scans whose running results the next operation reads at its own index. Where the operator is
//! exact, the running results become state that is passed from each index to the next. They need
//! not be stored to be read.

use super::operators::identities;
use super::reads::outputs_of;
use nova_flat::ir::{
    ArrayOperation, Atom, Expression, Lambda, Output, Program, Statement, Type, Variable,
};
use nova_flat::visit::{Substitution, fresh_copy};
use std::collections::BTreeSet;

/// Returns the arrays of an operation that are scans by exact operators.
pub(super) fn exact_scans(statement: &Statement) -> BTreeSet<Variable> {
    let mut arrays = BTreeSet::new();
    if let Expression::Operation(operation) = &statement.expression {
        for given in outputs_of(statement, operation) {
            if is_exact(given.output).is_some() {
                arrays.extend(given.bound);
            }
        }
    }
    arrays
}

fn is_exact(output: &Output) -> Option<(&Lambda, &Vec<Atom>, bool)> {
    match output {
        Output::Scan {
            lambda,
            start,
            exclusive,
        } => identities(lambda).map(|_| (lambda, start, *exclusive)),
        _ => None,
    }
}

/// Turns the exact scans of an operation into carries, and maps of these.
pub(super) fn as_carries(program: &mut Program, statement: &mut Statement) {
    let Expression::Operation(operation) = &mut statement.expression else {
        return;
    };
    let before = operation.carries.len();
    let mut consumed = operation.body.results.split_off(before).into_iter();
    let mut results = Vec::new();
    let mut outputs = Vec::new();
    let mut last = Vec::new();
    for output in std::mem::take(&mut operation.outputs) {
        let values: Vec<Atom> = consumed.by_ref().take(output.consumes()).collect();
        match is_exact(&output) {
            Some((lambda, start, exclusive)) => {
                results.extend(carry(
                    program, operation, lambda, start, exclusive, &values, &mut last,
                ));
                outputs.extend(values.iter().map(|_| Output::Map));
            }
            None => {
                results.extend(values);
                outputs.push(output);
            }
        }
    }
    operation.body.results.extend(results);
    operation.outputs = outputs;
    statement.pattern.splice(before..before, last);
}

/// Adds the state of a scan to an operation. Returns the elements of the scan's arrays. Adds
/// variables for the final state to `last`.
fn carry(
    program: &mut Program,
    operation: &mut ArrayOperation,
    lambda: &Lambda,
    start: &[Atom],
    exclusive: bool,
    values: &[Atom],
    last: &mut Vec<Variable>,
) -> Vec<Atom> {
    let (left, right) = lambda.parameters.split_at(start.len());
    let mut substitution = Substitution::default();
    let mut states = Vec::new();
    for (parameter, start) in left.iter().zip(start) {
        let ty = Type::Scalar(program.ty(*parameter).element());
        let state = program.add_variable("running", ty.clone());
        last.push(program.add_variable("total", ty));
        substitution.insert(*parameter, Atom::Variable(state));
        operation.carries.push((state, *start));
        states.push(Atom::Variable(state));
    }
    for (parameter, value) in right.iter().zip(values) {
        substitution.insert(*parameter, *value);
    }
    let mut next = fresh_copy(program, &lambda.body, &mut substitution);
    operation.body.statements.append(&mut next.statements);
    operation.body.results.extend(next.results.iter().copied());
    match exclusive {
        true => states,
        false => std::mem::take(&mut next.results),
    }
}
