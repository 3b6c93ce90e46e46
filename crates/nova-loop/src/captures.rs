//! The variables that the body of a loop takes from outside.

use crate::ir::{Command, Variable};
use crate::walk::{each_assigned, each_command, each_mentioned, names};
use std::collections::BTreeSet;

/// Returns the variables that the body of a loop over an index takes from outside, in the order of
/// the program's variables.
pub fn captured(index: Variable, body: &[Command]) -> Vec<Variable> {
    let mut used = BTreeSet::new();
    let mut bound = BTreeSet::from([index]);
    each_command(body, |command| {
        each_mentioned(command, &mut |v| {
            used.insert(v);
        });
        names(command, &mut |v, role| {
            // A variable without a role is declared.
            if role.is_none() {
                bound.insert(v);
            }
        });
    });
    used.difference(&bound).copied().collect()
}

/// True if the iterations of a loop do not leave the function and assign nothing from outside.
pub fn keeps_to_itself(index: Variable, body: &[Command]) -> bool {
    let captured: BTreeSet<Variable> = captured(index, body).into_iter().collect();
    let mut shareable = true;
    each_command(body, |command| {
        let mut assigned = Vec::new();
        match command {
            Command::Return => shareable = false,
            Command::DropBuffers { pieces, .. } => assigned.push(*pieces),
            other => each_assigned(other, &mut |v| assigned.push(v)),
        }
        shareable &= !assigned.iter().any(|v| captured.contains(v));
    });
    shareable
}
