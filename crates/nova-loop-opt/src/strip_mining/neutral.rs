//! Iterations without effect: those that add a number to a sum which does not change it, or assign what a variable is
//! already. Places of stores that depend on the number of an iteration, which only neighbouring iterations keep plain.

use crate::limits::NESTED_DEFINITIONS;
use nova_core::{ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Variable};
use nova_loop::walk;
use std::collections::{BTreeMap, BTreeSet};

/// True if iterations that do not take a branch of the conditional at a position change nothing: they assign to
/// variables from outside the loop what these are already.
pub(super) fn without_effect(rest: &[Command], at: usize, is_then: bool) -> bool {
    let mut values = BTreeMap::new();
    let own: BTreeSet<Variable> = rest
        .iter()
        .filter_map(|command| match command {
            Command::Declare { variable, .. } => Some(*variable),
            _others => None,
        })
        .collect();
    let Some(Command::If {
        then, otherwise, ..
    }) = rest.get(at)
    else {
        return false;
    };
    for command in if is_then { otherwise } else { then } {
        match command {
            Command::Comment(_) => {}
            Command::Assign { variable, value } if own.contains(variable) => {
                values.insert(*variable, value);
            }
            Command::Assign { variable, value }
                if is_same(value, *variable, &values, NESTED_DEFINITIONS) => {}
            _others => return false,
        }
    }
    for command in rest.iter() {
        if let Command::Declare {
            variable,
            value: Some(value),
        } = command
        {
            values.insert(*variable, value);
        }
    }
    rest.iter().enumerate().all(|(k, command)| match command {
        Command::Declare { .. } | Command::Comment(_) => true,
        Command::Assign { variable, value } => {
            !own.contains(variable) && is_same(value, *variable, &values, NESTED_DEFINITIONS)
        }
        _others => k == at,
    })
}

/// True if a value is that of a variable, or that with a neutral number added.
fn is_same(
    value: &Expression,
    variable: Variable,
    values: &BTreeMap<Variable, &Expression>,
    left: u32,
) -> bool {
    match value {
        _ if left == 0 => false,
        Expression::Variable(same) if *same == variable => true,
        Expression::Variable(other) => {
            let known = values.get(other);
            known.is_some_and(|value| deep(|| is_same(value, variable, values, left - 1)))
        }
        Expression::Scalar {
            operation: ScalarOperation::Add,
            arguments,
            ..
        } => match &arguments[..] {
            [a, b] => {
                let neutral = |e: &Expression| is_neutral(e, values, left - 1);
                let own = |e: &Expression| *e == Expression::Variable(variable);
                own(a) && neutral(b) || own(b) && neutral(a)
            }
            _others => false,
        },
        _others => false,
    }
}

/// True for a number that changes no sum.
fn is_neutral(value: &Expression, values: &BTreeMap<Variable, &Expression>, left: u32) -> bool {
    match value {
        _ if left == 0 => false,
        Expression::Constant(number) => match number {
            ScalarValue::F32(zero) => zero.to_bits() == (-0.0f32).to_bits(),
            ScalarValue::F64(zero) => zero.to_bits() == (-0.0f64).to_bits(),
            other => other.as_integer() == Some(0),
        },
        Expression::Variable(other) => {
            let known = values.get(other);
            known.is_some_and(|value| deep(|| is_neutral(value, values, left - 1)))
        }
        _others => false,
    }
}

/// True if a body stores elements at places that depend on a variable.
pub(super) fn stores_by(body: &[Command], variable: Variable) -> bool {
    let mut values = BTreeMap::new();
    let mut needed = Vec::new();
    walk::each_command(body, |command| match command {
        Command::Declare {
            variable,
            value: Some(value),
        } => {
            values.insert(*variable, value);
        }
        Command::Store { index, .. } => index.each_variable(&mut |v| needed.push(v)),
        _others => {}
    });
    let mut seen = BTreeSet::new();
    while let Some(next) = needed.pop() {
        if let Some(value) = values.get(&next)
            && seen.insert(next)
        {
            value.each_variable(&mut |v| needed.push(v));
        }
        if next == variable {
            return true;
        }
    }
    false
}
