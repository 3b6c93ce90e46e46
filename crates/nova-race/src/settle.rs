//! The treatment of loops after the search for witnesses. Loops with a witness stay as they are, and loops of
//! lanes without one become sequential. The others without one are reported to the compiler, which makes
//! the program again and leaves the operations from which they come to one thread. So no loop runs in
//! parallel without a proof.

use crate::checker::find;
use nova_diag::Place;
use nova_loop::ir::{Command, Level, Program, Variable};
use nova_loop::walk::{each_command, set_levels};
use std::collections::BTreeMap;

/// A loop for several threads or ranks whose iterations are not proved to be free from races.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproved {
    /// The operation in the source.
    pub place: Place,
    /// The requirement that could not be proved, as text for the user.
    pub message: String,
}

/// Stores in a program the witnesses of all parallel loops that have one, makes loops of lanes sequential
/// that have none, and returns the others that have none. `believes` is always true, except in tests: where
/// it is false for the place of a loop, the loop is treated as if nothing could be proved of it.
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

/// Returns the level of a loop after lanes have been ruled out.
fn without_lanes(level: Level) -> Level {
    match level {
        Level::Vector | Level::Independent => Level::Sequential,
        Level::Sequential
        | Level::Unrolled
        | Level::Grid
        | Level::Block
        | Level::Thread
        | Level::Rank => level,
    }
}

/// Returns the loops with one of these indices that several threads or ranks share.
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
