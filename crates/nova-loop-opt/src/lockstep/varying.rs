//! The variables of a loop that may differ between its iterations: those that are computed from its index, and
//! those that are assigned where iterations part.

use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Program, Type, Variable};
use nova_loop::walk;
use std::collections::BTreeSet;

/// The type of indices.
pub(super) const INDEX: Type = Type::Scalar(Scalar::I64);

/// Returns the variables of a loop's body that may differ between iterations, the index and the pointers to
/// `private` arrays included. Returns none if another one of them is no scalar.
pub(super) fn of(
    program: &Program,
    index: Variable,
    body: &[Command],
    private: &BTreeSet<Variable>,
) -> Option<BTreeSet<Variable>> {
    let mut found = Varying {
        variables: private.iter().copied().chain([index]).collect(),
    };
    loop {
        let before = found.variables.len();
        // Where checks may part the lanes, there may be none left.
        let lanes = match may_part(&found.variables, body, false) {
            true => Lanes::Any,
            false => Lanes::All,
        };
        found.list(body, lanes);
        if found.variables.len() == before {
            break;
        }
    }
    let is_scalar =
        |v: &Variable| private.contains(v) || matches!(program.variable(*v).ty, Type::Scalar(_));
    found
        .variables
        .iter()
        .all(is_scalar)
        .then_some(found.variables)
}

/// The variables found so far.
struct Varying {
    variables: BTreeSet<Variable>,
}

/// The lanes that run a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lanes {
    All,
    /// Some lanes, and at least one of them.
    Some,
    /// Some lanes, or none.
    Any,
}

impl Lanes {
    /// Returns the lanes that run the body of a loop which these lanes run. The loop is left out if there are
    /// none, but a check in it may switch off all of them.
    fn inside(self, body: &[Command]) -> Lanes {
        match self {
            Lanes::All => Lanes::All,
            Lanes::Some | Lanes::Any if has_checks(body) => Lanes::Any,
            Lanes::Some | Lanes::Any => Lanes::Some,
        }
    }
}

impl Varying {
    fn reads(&self, expression: &Expression) -> bool {
        reads(&self.variables, expression)
    }

    /// Adds the variables of commands that these lanes run.
    fn list(&mut self, commands: &[Command], lanes: Lanes) {
        for command in commands {
            deep(|| self.command(command, lanes));
        }
    }

    fn command(&mut self, command: &Command, lanes: Lanes) {
        match command {
            // What one lane computes, all may compute.
            Command::Declare {
                variable,
                value: Some(value),
            } if self.reads(value) || lanes == Lanes::Any && !is_total(value, &[]) => {
                self.variables.insert(*variable);
            }
            Command::Assign { variable, value } if lanes != Lanes::All || self.reads(value) => {
                self.variables.insert(*variable);
            }
            Command::If {
                condition,
                then,
                otherwise,
            } => {
                let lanes = if self.reads(condition) {
                    Lanes::Any
                } else {
                    lanes
                };
                self.list(then, lanes);
                self.list(otherwise, lanes);
            }
            Command::For { body, .. } => self.list(body, lanes.inside(body)),
            Command::Loop { body, .. } => {
                let lanes = if self.parts(body) { Lanes::Any } else { lanes };
                self.list(body, lanes.inside(body));
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

/// True if an expression has a value whatever its variables are. It may read elements of `arrays`.
pub(super) fn is_total(expression: &Expression, arrays: &[Variable]) -> bool {
    match expression {
        Expression::Constant(_) | Expression::Variable(_) => true,
        Expression::Load { pointer, .. } => {
            matches!(&**pointer, Expression::Variable(p) if arrays.contains(p))
        }
        Expression::Scalar {
            operation,
            operand,
            arguments,
        } if !operation.is_total(*operand) && !divides_by_constant(*operation, arguments) => false,
        Expression::Scalar { .. } | Expression::Select { .. } => {
            let mut children = expression.children().into_iter();
            children.all(|e| deep(|| is_total(e, arrays)))
        }
        _others => false,
    }
}

/// True for a quotient or remainder by a constant for which it is always defined.
fn divides_by_constant(operation: ScalarOperation, arguments: &[Expression]) -> bool {
    let divides = matches!(
        operation,
        ScalarOperation::Divide | ScalarOperation::Remainder
    );
    let divisor = match arguments {
        [_, Expression::Constant(value)] => value.as_integer(),
        _others => None,
    };
    divides && divisor.is_some_and(|divisor| divisor > 0)
}

/// True if a command reads variables that may differ between lanes.
pub(super) fn differs(varying: &BTreeSet<Variable>, command: &Command) -> bool {
    let mut found = false;
    walk::reads(command, &mut |e| found |= reads(varying, e));
    found
}

/// True if commands have checks that may fail in some lanes and not in others. `parted` states that some lanes
/// may skip the commands.
pub(super) fn may_part(varying: &BTreeSet<Variable>, commands: &[Command], parted: bool) -> bool {
    commands.iter().any(|command| match command {
        Command::Check { .. } | Command::Fail { .. } => parted || differs(varying, command),
        Command::Loop { body, .. } => {
            let mut leave = body.iter().filter_map(leaves_if);
            let parted = parted || leave.any(|c| reads(varying, c));
            deep(|| may_part(varying, body, parted))
        }
        other => {
            let parted = parted || differs(varying, other);
            let mut lists = other.lists().into_iter();
            lists.any(|list| deep(|| may_part(varying, list, parted)))
        }
    })
}

/// True if a command among others may fail.
pub(super) fn has_checks(commands: &[Command]) -> bool {
    let mut found = false;
    walk::each_command(commands, |command| found |= walk::may_fail(command));
    found
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

/// Returns the variables that the list of a loop declares before it and that no command mentions after it. Lanes
/// that have left the loop need their values no more.
pub(super) fn ending(commands: &[Command], at: usize) -> BTreeSet<Variable> {
    let (before, after) = commands.split_at(at);
    let mut ending = BTreeSet::new();
    for command in before {
        if let Command::Declare { variable, .. } = command {
            ending.insert(*variable);
        }
    }
    walk::each_command(after.get(1..).unwrap_or_default(), |command| {
        walk::each_mentioned(command, &mut |variable| {
            ending.remove(&variable);
        });
    });
    ending
}
