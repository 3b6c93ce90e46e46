//! The variables of a loop that may differ between its iterations: those that are computed from its index, and
//! those that are assigned where iterations part.

use nova_core::Scalar;
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Program, Type, Variable};
use std::collections::BTreeSet;

/// The type of indices.
pub(super) const INDEX: Type = Type::Scalar(Scalar::I64);

/// Returns the variables of a loop's body that may differ between iterations, the index included. Returns none
/// if one of them is no scalar.
pub(super) fn of(
    program: &Program,
    index: Variable,
    body: &[Command],
) -> Option<BTreeSet<Variable>> {
    let mut found = Varying {
        variables: BTreeSet::from([index]),
    };
    loop {
        let before = found.variables.len();
        found.list(body, false);
        if found.variables.len() == before {
            break;
        }
    }
    let is_scalar = |v: &Variable| matches!(program.variable(*v).ty, Type::Scalar(_));
    found.variables.iter().all(is_scalar).then_some(found.variables)
}

/// The variables found so far.
struct Varying {
    variables: BTreeSet<Variable>,
}

impl Varying {
    fn reads(&self, expression: &Expression) -> bool {
        reads(&self.variables, expression)
    }

    /// Adds the variables of commands. `parted` states that some iterations may skip them.
    fn list(&mut self, commands: &[Command], parted: bool) {
        for command in commands {
            deep(|| self.command(command, parted));
        }
    }

    fn command(&mut self, command: &Command, parted: bool) {
        match command {
            Command::Declare {
                variable,
                value: Some(value),
            }
            | Command::Assign { variable, value } => {
                if parted || self.reads(value) {
                    self.variables.insert(*variable);
                }
            }
            Command::If {
                condition,
                then,
                otherwise,
            } => {
                let parted = parted || self.reads(condition);
                self.list(then, parted);
                self.list(otherwise, parted);
            }
            Command::For {
                variable,
                count,
                body,
                ..
            } => {
                let parted = parted || self.reads(count);
                if self.reads(count) {
                    self.variables.insert(*variable);
                }
                self.list(body, parted);
            }
            Command::Loop { body, .. } => {
                let parted = parted || self.parts(body);
                self.list(body, parted);
            }
            _others => {}
        }
    }

    /// True if iterations may leave a loop with this body at different times.
    fn parts(&self, body: &[Command]) -> bool {
        body.iter()
            .filter_map(leaves_if)
            .any(|condition| self.reads(condition))
    }
}

/// True if an expression reads one of these variables.
pub(super) fn reads(variables: &BTreeSet<Variable>, expression: &Expression) -> bool {
    let mut found = false;
    expression.each_variable(&mut |v| found |= variables.contains(&v));
    found
}

/// Returns the condition on which a command leaves the innermost loop, if it does nothing else.
pub(super) fn leaves_if(command: &Command) -> Option<&Expression> {
    match command {
        Command::If {
            condition,
            then,
            otherwise,
        } if otherwise.is_empty() && matches!(then[..], [Command::Break]) => Some(condition),
        _others => None,
    }
}
