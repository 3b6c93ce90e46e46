//! The rule for functions that kernels call. A thread of a kernel runs a function by itself, so the function
//! has no barriers, at which it would wait for threads that never come, and no arrays of a group.

use crate::call_graph::functions_with;
use crate::error::InternalError;
use crate::ir::{Command, Level, Program};
use crate::walk::each_command;

/// Reports functions that call, in loops that start kernels, functions with barriers or arrays of groups.
pub(super) fn check(program: &Program, errors: &mut Vec<InternalError>) {
    let of_groups = functions_with(program, &|function| {
        let mut found = false;
        each_command(&function.body, |command| {
            found |= matches!(
                command,
                Command::Shared { .. } | Command::Spare { .. } | Command::Barrier(Level::Thread)
            );
        });
        found
    });
    if of_groups.is_empty() {
        return;
    }
    for function in &program.functions {
        each_command(&function.body, |command| {
            let Command::For { level, body, .. } = command else {
                return;
            };
            if !level.starts_kernel() {
                return;
            }
            each_command(body, |command| {
                if let Command::Call { function: id, .. } = command
                    && of_groups.contains(id)
                {
                    errors.push(InternalError {
                        message: "a kernel calls a function with loops over groups".to_string(),
                        function: Some(function.name.clone()),
                        place: Some(function.place.clone()),
                    });
                }
            });
        });
    }
}
