//! What becomes of a program whose loops have been looked at: those with a witness stay as they are, those
//! of lanes without one run in order, and of the others without one the compiler is told, which makes
//! the program again with the operations that they come from left to one thread. So no loop is given to
//! several without a proof.

use super::find;
use crate::ir::{Command, Level, Program, Variable};
use crate::walk::{each_command, set_levels};
use nova_diag::Place;
use std::collections::BTreeMap;

/// A loop for several threads or ranks of which it is not proved that its iterations do not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproved {
    /// The operation in the source.
    pub place: Place,
    /// What could not be shown, for people.
    pub message: String,
}

/// Keeps in a program the witnesses of all parallel loops that have one, makes loops of lanes sequential
/// that have none, and gives the others that have none. `believes` is false, in tests of what happens
/// then, of the places of loops of which it is as if nothing could be proved.
pub fn settle(program: &mut Program, believes: &dyn Fn(&Place) -> bool) -> Vec<Unproved> {
    let findings = find(program);
    let mut refused: BTreeMap<Variable, String> = BTreeMap::new();
    for function in &program.functions {
        each_command(&function.body, |command| {
            if let Command::For {
                variable, place, ..
            } = command
                && findings.witnesses.contains_key(variable)
                && !believes(place)
            {
                refused.insert(*variable, "nothing is believed".to_string());
            }
        });
    }
    for refusal in findings.refusals {
        let message = format!("{:?}: {}", refusal.rule, refusal.message);
        refused.entry(refusal.index).or_insert(message);
    }
    program.witnesses = findings.witnesses;
    program
        .witnesses
        .retain(|index, _| !refused.contains_key(index));
    if refused.is_empty() {
        return Vec::new();
    }
    for function in &mut program.functions {
        set_levels(
            &mut function.body,
            (),
            &|(), index, level, _| match refused.contains_key(&index) {
                true => (without_lanes(level), ()),
                false => (level, ()),
            },
        );
    }
    shared(program, &refused)
}

/// The level of a loop that lanes must not share.
fn without_lanes(level: Level) -> Level {
    match level {
        Level::Vector | Level::Independent => Level::Sequential,
        Level::Sequential
        | Level::WrittenOut
        | Level::Grid
        | Level::Block
        | Level::Thread
        | Level::Rank => level,
    }
}

/// The loops with one of these indices that several threads or ranks share.
fn shared(program: &Program, refused: &BTreeMap<Variable, String>) -> Vec<Unproved> {
    let mut found = Vec::new();
    for function in &program.functions {
        each_command(&function.body, |command| {
            if let Command::For {
                variable,
                level,
                place,
                ..
            } = command
                && (level.is_parallel() || *level == Level::Rank)
                && let Some(message) = refused.get(variable)
            {
                found.push(Unproved {
                    place: place.clone(),
                    message: message.clone(),
                });
            }
        });
    }
    found
}
