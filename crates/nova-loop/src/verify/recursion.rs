//! The rule of recursion: functions that can reach themselves by calls must be marked as recursive.

use crate::error::InternalError;
use crate::ir::{Command, Program};
use crate::walk::each_command;
use nova_flat::recursion::CallOrder;

/// Reports functions that can reach themselves and are not marked as recursive.
pub(super) fn check(program: &Program, errors: &mut Vec<InternalError>) {
    let callees: Vec<Vec<usize>> = program
        .functions
        .iter()
        .map(|f| callees(&f.body, program.functions.len()))
        .collect();
    for (function, recursive) in program
        .functions
        .iter()
        .zip(CallOrder::new(&callees).cyclic)
    {
        if recursive && !function.recursive {
            errors.push(InternalError {
                message: "the function calls itself and is not marked recursive".to_string(),
                function: Some(function.name.clone()),
                place: Some(function.place.clone()),
            });
        }
    }
}

/// The functions that commands call, each once.
fn callees(body: &[Command], count: usize) -> Vec<usize> {
    let mut found = Vec::new();
    each_command(body, |command| {
        if let Command::Call { function, .. } = command {
            found.push(function.index());
        }
    });
    found.retain(|f| *f < count);
    found.sort();
    found.dedup();
    found
}
