//! State that is passed from each index to the next and that is a running result: its next value is the
//! current one, combined with a value that does not depend on it. Fusion makes such state from scans.
//! Such operations are parallelised as scans are: the values with which the chunks begin are computed
//! first.

use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir::{
    ArrayOperation, Atom, Body, Expression, Lambda, Output, Statement, Type, Variable,
};
use nova_flat::operators::by_component;
use nova_flat::visit::{bodies, each_statement, used_variables};
use nova_opt::effects::FunctionEffects;
use std::collections::BTreeSet;

/// The combination of a carry with a value in each iteration.
pub(crate) struct Running {
    operation: ScalarOperation,
    operand: Scalar,
    pub(crate) value: Atom,
    place: Place,
}

/// Returns the variables of a body that depend on carries, these included.
fn dependent(carries: &[(Variable, Atom)], body: &Body) -> BTreeSet<Variable> {
    let mut found: BTreeSet<Variable> = carries.iter().map(|(carry, _)| *carry).collect();
    for statement in &body.statements {
        if uses(statement, &found) {
            found.extend(&statement.pattern);
        }
    }
    found
}

/// True if a statement uses one of these variables, at any depth.
fn uses(statement: &Statement, variables: &BTreeSet<Variable>) -> bool {
    let mut found = false;
    let mut visit = |v: Variable| found |= variables.contains(&v);
    let results = |body: &Body, visit: &mut dyn FnMut(Variable)| {
        body.results.iter().for_each(|result| match result {
            Atom::Variable(variable) => visit(*variable),
            Atom::Constant(_) => {}
        });
    };
    used_variables(&statement.expression, &mut visit);
    bodies(&statement.expression, &mut |body| {
        results(body, &mut visit);
        each_statement(body, &mut |inner| {
            used_variables(&inner.expression, &mut visit);
            bodies(&inner.expression, &mut |body| results(body, &mut visit));
        });
    });
    found
}

/// Returns the combination of each carry, if all carries are running results.
pub(crate) fn running(carries: &[(Variable, Atom)], body: &Body) -> Option<Vec<Running>> {
    let dependent = dependent(carries, body);
    let is_free = |atom: &Atom| match atom {
        Atom::Variable(variable) => !dependent.contains(variable),
        Atom::Constant(_) => true,
    };
    let all = carries.iter().zip(&body.results);
    all.map(|((carry, _), next)| {
        let computes = |s: &&Statement| s.pattern.iter().any(|v| Atom::Variable(*v) == *next);
        let statement = body.statements.iter().find(computes)?;
        let Expression::Scalar {
            operation,
            operand,
            arguments,
        } = &statement.expression
        else {
            return None;
        };
        let value = match arguments[..] {
            [left, value] if left == Atom::Variable(*carry) => value,
            [value, right] if right == Atom::Variable(*carry) => value,
            _ => return None,
        };
        is_free(&value).then_some(Running {
            operation: *operation,
            operand: *operand,
            value,
            place: statement.place.clone(),
        })
    })
    .collect()
}

/// True if an operation has no carries, or its carries are running results of operators that no order
/// changes. Nothing that is needed before the chunks begin may depend on the carries.
pub(crate) fn carries_run(operation: &ArrayOperation, effects: &FunctionEffects) -> bool {
    if operation.carries.is_empty() {
        return true;
    }
    let ArrayOperation { carries, body, .. } = operation;
    let Some(all) = running(carries, body) else {
        return false;
    };
    let dependent = dependent(carries, body);
    let mut consumed = body.results.iter().skip(carries.len());
    let begin = |output: &Output| {
        let own: Vec<&Atom> = consumed.by_ref().take(output.consumes()).collect();
        let is_free = |atom: &&Atom| !matches!(atom, Atom::Variable(v) if dependent.contains(v));
        own.iter().take(decides(output)).all(is_free)
    };
    let is_pure = |s: &Statement| effects.of(&s.expression).is_pure() || !uses(s, &dependent);
    all.iter().all(is_exact)
        && operation.outputs.iter().all(begin)
        && body.statements.iter().all(is_pure)
}

/// Returns how many of the values that an output consumes, from the first on, determine the start of
/// its chunks.
fn decides(output: &Output) -> usize {
    match output {
        Output::Scan { start, .. } => start.len(),
        Output::Filter { .. } => 1,
        Output::Map
        | Output::Reduce { .. }
        | Output::Scatter { .. }
        | Output::Histogram { .. }
        | Output::Collect { .. }
        | Output::Join { .. } => 0,
    }
}

/// True if no order changes the results of an operator.
fn is_exact(running: &Running) -> bool {
    let [left, right, result] = [0, 1, 2].map(Variable);
    let lambda = combination(running, [left, right, result]);
    by_component(&lambda).is_some_and(|all| all.iter().all(|operator| operator.exact))
}

fn combination(running: &Running, [left, right, result]: [Variable; 3]) -> Lambda {
    let statement = Statement {
        pattern: vec![result],
        expression: Expression::Scalar {
            operation: running.operation,
            operand: running.operand,
            arguments: vec![Atom::Variable(left), Atom::Variable(right)],
        },
        place: running.place.clone(),
    };
    Lambda {
        parameters: vec![left, right],
        body: Body {
            statements: vec![statement],
            results: vec![Atom::Variable(result)],
        },
    }
}

/// Removes from a body what depends on carries.
pub(crate) fn drop_carried(carries: &[(Variable, Atom)], body: &mut Body) {
    let dependent = dependent(carries, body);
    body.statements.retain(|s| !uses(s, &dependent));
}

/// Returns the operator and the value with which each carry is combined.
pub(crate) fn combinations(
    code: &mut Writer,
    carries: &[(Variable, Atom)],
    body: &Body,
) -> Vec<(Lambda, Atom)> {
    let all = running(carries, body).unwrap_or_default();
    all.iter()
        .map(|running| (operator_of(code, running), running.value))
        .collect()
}

pub(crate) fn operator_of(code: &mut Writer, running: &Running) -> Lambda {
    let ty = Type::Scalar(running.operand);
    let names = ["running", "value", "next"];
    combination(
        running,
        names.map(|name| code.program.add_variable(name, ty.clone())),
    )
}
