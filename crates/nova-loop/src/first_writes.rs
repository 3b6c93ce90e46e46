//! The commands of an entry that may fail after the first write to its result. A result is made in the caller's buffer
//! at once only where there are none, since a call that fails leaves the buffer as it was.

use crate::ir::{Command, Expression, Variable};
use crate::walk::{each_command, each_mentioned};
use nova_diag::deep;
use std::collections::BTreeSet;

/// The search for commands that may fail after the first write to a result. A command may write it if it
/// names one of the pointers, since all other pointers to its memory are made from these.
pub struct Writing<'a> {
    /// True if commands may fail.
    pub may_fail: &'a dyn Fn(&[Command]) -> bool,
    /// The pointers to the memory of the result.
    pub result: &'a BTreeSet<Variable>,
}

impl Writing<'_> {
    /// True if a command may fail after the first write. `written` is true if there was a write before
    /// these commands, and becomes true if there may be one among them.
    pub fn may_fail_after(&self, commands: &[Command], written: &mut bool) -> bool {
        commands.iter().any(|command| {
            let alone = std::slice::from_ref(command);
            match command {
                _ if *written => (self.may_fail)(alone),
                _ if is_made(command) || !self.names_result(alone) => false,
                Command::If { .. } | Command::Switch { .. } => {
                    // Only one of the lists runs.
                    let mut after = false;
                    let fails = command.lists().into_iter().any(|list| {
                        let mut inside = false;
                        let fails = deep(|| self.may_fail_after(list, &mut inside));
                        after |= inside;
                        fails
                    });
                    *written = after;
                    fails
                }
                _names_it => {
                    *written = true;
                    (self.may_fail)(alone)
                }
            }
        })
    }

    /// Returns the condition of the conditional that follows the allocation of the result, and whether it must hold, if
    /// no command can fail after the first write in that case. Loops have versions that can fail, and versions that
    /// have proved all their checks.
    pub fn safe_case(&self, commands: &[Command]) -> Option<(Expression, bool)> {
        let at = commands.iter().position(|command| !is_made(command))?;
        let (first, rest) = commands.get(at..)?.split_first()?;
        let Command::If {
            condition,
            then,
            otherwise,
        } = first
        else {
            return None;
        };
        let is_safe = |case: &[Command]| {
            let mut written = false;
            !self.may_fail_after(case, &mut written) && !self.may_fail_after(rest, &mut written)
        };
        let holds = is_safe(then);
        (holds || is_safe(otherwise)).then(|| (condition.clone(), holds))
    }

    /// True if commands, or those inside them, name the memory of the result.
    fn names_result(&self, commands: &[Command]) -> bool {
        let mut found = false;
        each_command(commands, |command| {
            each_mentioned(command, &mut |variable| {
                found |= self.result.contains(&variable)
            });
        });
        found
    }
}

/// True if a command makes memory of the result.
pub fn is_made(command: &Command) -> bool {
    matches!(
        command,
        Command::Allocate {
            destination: Some(_),
            ..
        }
    )
}
