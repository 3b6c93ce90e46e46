//! The arrays of a work-group.

use nova_loop::ir::{self, Command, Variable};
use nova_loop::walk::each_command;

/// Returns the arrays that the threads of a group share in the body of a kernel, with their lengths.
/// They are its last parameters.
pub fn arrays(body: &[Command]) -> Vec<(Variable, &ir::Expression)> {
    let mut found = Vec::new();
    each_command(body, |command| {
        if let Command::Shared { pointer, count } = command {
            found.push((*pointer, count));
        }
    });
    found
}
