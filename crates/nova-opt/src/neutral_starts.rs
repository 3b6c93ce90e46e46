//! Reductions and scans that start from the first element of what they combine start from the neutral element
//! instead, where the operator gives an element combined with itself: a minimum, a maximum, `and` and `or` of bits.
//!
//! Nothing reads the first element before the others then. So fusion computes the elements where they are combined.

use nova_core::ScalarOperation;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Program, Variable};
use nova_flat::operators::by_component;
use nova_flat::visit::{binding, each_body_mut, each_function, each_statement};
use std::collections::BTreeMap;

/// Changes the reductions and scans of every function.
pub fn run(program: &mut Program) {
    each_function(program, |program, body| {
        let firsts = first_elements(body);
        if firsts.is_empty() {
            return;
        }
        each_body_mut(body, &mut |inner| {
            for statement in &mut inner.statements {
                if let Expression::Operation(operation) = &mut statement.expression
                    && !operation.is_marked()
                {
                    in_operation(program, &firsts, operation);
                }
            }
        });
    });
}

/// Returns the variables that are the first element of a vector, with that vector.
fn first_elements(body: &Body) -> BTreeMap<Variable, Variable> {
    let mut found = BTreeMap::new();
    each_statement(body, &mut |statement| {
        if let Expression::Index { array, indices } = &statement.expression
            && let ([variable], [index]) = (&statement.pattern[..], &indices[..])
            && index.as_i64() == Some(0)
        {
            found.insert(*variable, *array);
        }
    });
    found
}

fn in_operation(
    program: &Program,
    firsts: &BTreeMap<Variable, Variable>,
    operation: &mut ArrayOperation,
) {
    let ([extent], [index]) = (&operation.shape[..], &operation.indices[..]) else {
        return;
    };
    let combined = |start: Atom, value: Option<&Atom>, may_be_empty: bool| {
        let array = start.as_variable().and_then(|v| firsts.get(&v));
        let (Some(array), Some(value)) = (array, value) else {
            return false;
        };
        // A vector with a first element has others to combine.
        let is_whole = program.ty(*array).shape() == [*extent];
        let reads = binding(&operation.body, *value).map(|statement| &statement.expression);
        (may_be_empty || is_whole)
            && matches!(reads, Some(Expression::Index { array: read, indices })
                if read == array && indices[..] == [Atom::Variable(*index)])
    };
    let mut at = operation.carries.len();
    for output in &mut operation.outputs {
        let values = operation.body.results.get(at..).unwrap_or_default();
        at += output.consumes();
        // The result of an empty scan has no elements.
        let (lambda, start, may_be_empty) = match output {
            Output::Reduce { lambda, start, .. } => (lambda, start, false),
            Output::Scan {
                lambda,
                start,
                exclusive: false,
            } => (lambda, start, true),
            _others => continue,
        };
        let Some(operators) = by_component(lambda) else {
            continue;
        };
        for (k, (start, operator)) in start.iter_mut().zip(operators).enumerate() {
            if is_idempotent(operator.operation) && combined(*start, values.get(k), may_be_empty) {
                *start = Atom::Constant(operator.identity);
            }
        }
    }
}

/// True if an element combined with itself is that element.
fn is_idempotent(operation: ScalarOperation) -> bool {
    matches!(
        operation,
        ScalarOperation::Minimum
            | ScalarOperation::Maximum
            | ScalarOperation::BitAnd
            | ScalarOperation::BitOr
    )
}
