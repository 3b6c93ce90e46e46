//! The assignments of a program of Loop to its variables.

use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_loop::ir::{Command, Expression as LoopExpression, Program, Role, Variable};
use nova_loop::walk::{each_command, names};
use std::collections::HashSet;

pub(crate) fn count_assignments(program: &Program) -> Vec<u8> {
    let mut counts = vec![0u8; program.variables.len()];
    let mut add = |variable: &Variable| {
        if let Some(count) = counts.get_mut(variable.0 as usize) {
            *count = count.saturating_add(1);
        }
    };
    for function in &program.functions {
        function.parameters.iter().for_each(&mut add);
        each_command(&function.body, |command| {
            for_each_assignment(command, &mut |variable, _| add(&variable));
        });
    }
    counts
}

/// Returns the `i64` variables whose assignments are all a small constant, or their own value plus or
/// minus one.
pub(crate) fn find_counters(program: &Program) -> HashSet<Variable> {
    let mut counters = HashSet::new();
    let mut others = HashSet::new();
    for function in &program.functions {
        others.extend(function.parameters.iter().copied());
        each_command(&function.body, |command| {
            for_each_assignment(command, &mut |variable, value| {
                let counts = value.is_some_and(|v| is_small(v) || is_next(variable, v));
                let set = if counts { &mut counters } else { &mut others };
                set.insert(variable);
            });
        });
    }
    counters.retain(|variable| !others.contains(variable));
    counters
}

/// Calls `visit` with every variable that a command itself assigns, and with the value if that is an
/// expression.
pub fn for_each_assignment(
    command: &Command,
    visit: &mut dyn FnMut(Variable, Option<&LoopExpression>),
) {
    match command {
        Command::Declare {
            variable,
            value: Some(value),
        }
        | Command::Assign { variable, value } => visit(*variable, Some(value)),
        Command::Spare { pointer, .. } => visit(*pointer, None),
        others => names(others, &mut |variable, role| match role {
            Some(Role::Assigned(_) | Role::Updated(_)) => visit(variable, None),
            Some(Role::Stored(..) | Role::Named(_)) | None => {}
        }),
    }
}

fn is_small(value: &LoopExpression) -> bool {
    let LoopExpression::Constant(ScalarValue::I64(value)) = value else {
        return false;
    };
    i32::try_from(*value).is_ok()
}

/// `variable + 1` or `variable - 1`.
fn is_next(variable: Variable, value: &LoopExpression) -> bool {
    let LoopExpression::Scalar {
        operation: ScalarOperation::Add | ScalarOperation::Subtract,
        operand: Scalar::I64,
        arguments,
    } = value
    else {
        return false;
    };
    match &**arguments {
        [
            LoopExpression::Variable(own),
            LoopExpression::Constant(ScalarValue::I64(1)),
        ] => *own == variable,
        _ => false,
    }
}
