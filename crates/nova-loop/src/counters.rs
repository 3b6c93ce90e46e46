//! Variables that only grow in an iteration: counters of the elements that it has written.

use crate::ir::{Command, Expression, Program, Type, Variable};
use crate::walk::{each_assigned, each_command};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the `i64` variables that the body of a loop declares directly and to which all assignments add a
/// number that is not negative. Each has the position of the last command of the body that assigns it.
pub fn growing(program: &Program, body: &[Command]) -> BTreeMap<Variable, usize> {
    let mut found = BTreeMap::new();
    let mut grows = BTreeSet::new();
    for (at, command) in body.iter().enumerate() {
        if let Command::Declare {
            variable,
            value: Some(_),
        } = command
            && program.variable(*variable).ty == Type::Scalar(Scalar::I64)
        {
            found.insert(*variable, at);
        }
    }
    for (at, command) in body.iter().enumerate() {
        each_command(std::slice::from_ref(command), |command| match command {
            Command::Declare { .. } => {}
            Command::Assign { variable, value } => {
                match (step(*variable, value), found.get_mut(variable)) {
                    (Some(_), Some(last)) => {
                        *last = at;
                        grows.insert(*variable);
                    }
                    (_, _) => {
                        found.remove(variable);
                    }
                }
            }
            other => each_assigned(other, &mut |v| {
                found.remove(&v);
            }),
        });
    }
    found.retain(|variable, _| grows.contains(variable));
    found
}

/// Returns the numbers that a list certainly adds to variables, for those that it assigns only once.
pub fn steps(commands: &[Command]) -> BTreeMap<Variable, i64> {
    let mut found = BTreeMap::new();
    let mut times: BTreeMap<Variable, usize> = BTreeMap::new();
    if leaves(commands, false) {
        return found;
    }
    each_command(commands, |command| {
        each_assigned(command, &mut |v| *times.entry(v).or_default() += 1);
    });
    for command in commands {
        if let Command::Assign { variable, value } = command
            && let Some(step) = step(*variable, value)
            && times.get(variable) == Some(&1)
        {
            found.insert(*variable, step);
        }
    }
    found
}

/// True if a list may be left before its end, other than by an error. `in_loop` is true if jumps only leave
/// a loop inside the list.
fn leaves(commands: &[Command], in_loop: bool) -> bool {
    commands.iter().any(|command| match command {
        Command::Break | Command::Continue => !in_loop,
        Command::Return => true,
        Command::For { body, .. } | Command::Loop { body, .. } => deep(|| leaves(body, true)),
        others => others
            .lists()
            .into_iter()
            .any(|list| deep(|| leaves(list, in_loop))),
    })
}

/// Returns the number that a value adds to a variable, if it is of this form and not negative.
fn step(variable: Variable, value: &Expression) -> Option<i64> {
    match value {
        Expression::Scalar {
            operation: ScalarOperation::Add,
            operand: Scalar::I64,
            arguments,
        } => match &arguments[..] {
            [Expression::Variable(v), other] if *v == variable => {
                other.as_index().filter(|step| *step >= 0)
            }
            _other => None,
        },
        _other => None,
    }
}
