//! The rules of memory for results. The function of an entry allocates it outside of conditionals and
//! loops, as the type of the result requires. Non-temporal stores write whole structures in it.

use crate::error::InternalError;
use crate::ir::{Command, Destination, Program, Variable};
use crate::walk::each_command;
use nova_flat::representation::destinations;
use std::collections::BTreeSet;

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
        for fields in non_temporal(&function.body) {
            if !is_whole(fields, &function.body) {
                error("a non-temporal store leaves out fields of the result's structures");
            }
        }
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

/// Returns the lists of fields to which the commands of a function do non-temporal stores.
fn non_temporal(body: &[Command]) -> BTreeSet<&[Variable]> {
    let mut all = BTreeSet::new();
    each_command(body, |command| {
        if let Command::NonTemporalStore { fields, .. } | Command::PlanNonTemporal { fields, .. } =
            command
        {
            all.insert(&fields[..]);
        }
    });
    all
}

/// True if pointers are those of all fields of a structure, in order.
fn is_whole(fields: &[Variable], body: &[Command]) -> bool {
    let found: Vec<Option<Destination>> = fields
        .iter()
        .map(|field| {
            let of_field = |command: &&Command| {
                matches!(command, Command::Allocate { pointer, .. } if pointer == field)
            };
            body.iter().find(of_field).and_then(destination_of)
        })
        .collect();
    let Some(Some(first)) = found.first().copied() else {
        return false;
    };
    let expected = (first.component..).map(|component| Destination {
        component,
        stride: fields.len() as u32,
    });
    found.iter().zip(expected).all(|(f, e)| *f == Some(e))
}

fn destination_of(command: &Command) -> Option<Destination> {
    match command {
        Command::Allocate { destination, .. } => *destination,
        _ => None,
    }
}
