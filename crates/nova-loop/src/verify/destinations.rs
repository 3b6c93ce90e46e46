//! The rule of memory for results: the function of an entry allocates it outside of conditionals and
//! loops, as the type of the result says.

use crate::error::InternalError;
use crate::ir::{Command, Destination, Program};
use crate::walk::each_command;
use nova_flat::representation::destinations;

/// Adds an error for each allocation for a result that is not right.
pub(super) fn check(program: &Program, errors: &mut Vec<InternalError>) {
    for (id, function) in program.functions.iter().enumerate() {
        let mut error = |message: &str| {
            errors.push(InternalError {
                message: message.to_string(),
                function: Some(function.name.clone()),
                place: None,
            })
        };
        let outside: Vec<Destination> = function.body.iter().filter_map(destination_of).collect();
        let mut all = 0;
        each_command(&function.body, |command| {
            all += usize::from(destination_of(command).is_some());
        });
        if all == 0 {
            continue;
        }
        if all > outside.len() {
            error("memory for a result is allocated inside of a command");
        }
        let entry = program.entries.iter().find(|e| e.function.index() == id);
        let known = entry.map(|entry| destinations(&entry.result, &program.sums));
        let known = known.unwrap_or_default();
        for destination in outside {
            let component = destination.component as usize;
            if known.get(component).copied().flatten() != Some(destination) {
                error("memory for a result that is none of the entry's");
            }
        }
    }
}

fn destination_of(command: &Command) -> Option<Destination> {
    match command {
        Command::Allocate { destination, .. } => *destination,
        _ => None,
    }
}
