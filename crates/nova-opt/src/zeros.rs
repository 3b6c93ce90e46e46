//! Zeros of conditional terms of a sum. `(if c x 0.0)` adds 0.0 where `c` does not hold. That
//! differs from adding nothing, since -0.0 + 0.0 is 0.0. Where a sum starts with a number other
//! than -0.0, its value is the same if it adds -0.0 there, in any order. Adding -0.0 is adding
//! nothing, so C compilers leave these terms out with a mask.
//!
//! Partial sums differ at most in the sign of a zero. A number other than -0.0 plus a zero of
//! either sign is that number.

use nova_core::{ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Output, Program, Variable};
use nova_flat::operators::by_component;
use nova_flat::visit::{bodies_mut, count_uses, each_function};
use std::collections::HashSet;

/// Changes the zeros of every function.
pub fn run(program: &mut Program) {
    let mut uses = Vec::new();
    each_function(program, |program, body| {
        count_uses(program, body, &mut uses);
        in_body(body, &uses);
    });
}

fn in_body(body: &mut Body, uses: &[u32]) {
    for statement in &mut body.statements {
        if let Expression::Operation(operation) = &mut statement.expression {
            in_operation(operation, uses);
        }
        bodies_mut(&mut statement.expression, &mut |inner| {
            deep(|| in_body(inner, uses));
        });
    }
}

fn in_operation(operation: &mut ArrayOperation, uses: &[u32]) {
    let terms: HashSet<Variable> = terms_of_sums(operation)
        .filter(|term| uses.get(term.index()) == Some(&1))
        .collect();
    if terms.is_empty() {
        return;
    }
    for statement in &mut operation.body.statements {
        if let Expression::If {
            then, otherwise, ..
        } = &mut statement.expression
        {
            for (k, variable) in statement.pattern.iter().enumerate() {
                if terms.contains(variable) {
                    let results = [&mut then.results, &mut otherwise.results];
                    results
                        .into_iter()
                        .filter_map(|r| r.get_mut(k))
                        .for_each(add_nothing);
                }
            }
        }
    }
}

/// Returns the variables that an operation adds up, from starts that are not -0.0.
fn terms_of_sums(operation: &ArrayOperation) -> impl Iterator<Item = Variable> + '_ {
    let mut place = operation.carries.len();
    let of_output = move |output: &Output| {
        let consumed = place..place + output.consumes();
        place = consumed.end;
        let Output::Reduce { lambda, start, .. } = output else {
            return Vec::new();
        };
        let operators = by_component(lambda).unwrap_or_default();
        let values = operation.body.results.get(consumed).unwrap_or_default();
        let components = operators.iter().zip(start).zip(values);
        let terms = components.filter_map(|((operator, start), value)| match value {
            Atom::Variable(term) => (operator.operation == ScalarOperation::Add
                && is_no_negative_zero(*start))
            .then_some(*term),
            Atom::Constant(_) => None,
        });
        terms.collect()
    };
    operation.outputs.iter().flat_map(of_output)
}

/// True if an atom is known to be another number than -0.0.
fn is_no_negative_zero(atom: Atom) -> bool {
    match atom {
        Atom::Constant(ScalarValue::F32(x)) => x.to_bits() != (-0.0f32).to_bits(),
        Atom::Constant(ScalarValue::F64(x)) => x.to_bits() != (-0.0f64).to_bits(),
        Atom::Constant(_) | Atom::Variable(_) => false,
    }
}

/// Replaces 0.0 by -0.0.
fn add_nothing(atom: &mut Atom) {
    match atom {
        Atom::Constant(ScalarValue::F32(x)) if *x == 0.0 => *x = -0.0,
        Atom::Constant(ScalarValue::F64(x)) if *x == 0.0 => *x = -0.0,
        Atom::Constant(_) | Atom::Variable(_) => {}
    }
}
