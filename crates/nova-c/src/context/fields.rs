//! The pointers of a function to fields of structures, and their distances.

use nova_core::Scalar;
use nova_loop::ir::{Command, Variable};
use nova_loop::walk::{each_command, writes};
use std::collections::{BTreeMap, BTreeSet};

/// The pointers of a function to fields of structures. Parallel loops also compute them from each
/// other, so that C compilers know their distances.
#[derive(Default)]
pub struct Fields {
    /// The variables that the function changes.
    assigned: BTreeSet<Variable>,
    /// Pointers that lie a number of elements after another pointer.
    offsets: BTreeMap<Variable, (Variable, usize)>,
    /// The first field of the result made so far of each type, and its offset.
    made: Vec<(Scalar, Variable, usize)>,
}

impl Fields {
    /// Collects the variables that the body of a function changes.
    pub fn new(body: &[Command]) -> Fields {
        let mut fields = Fields::default();
        each_command(body, |command| match command {
            // These change elements. A result is allocated only once.
            Command::Store { .. }
            | Command::Contend { .. }
            | Command::TreeReduce { .. }
            | Command::Prefetch { .. }
            | Command::PlanNonTemporal { .. }
            | Command::NonTemporalStore { .. }
            | Command::Declare { .. }
            | Command::Allocate {
                destination: Some(_),
                ..
            } => {}
            other => writes(other, &mut |v| {
                fields.assigned.insert(v);
            }),
        });
        fields
    }

    /// Notes that a pointer lies a number of elements after another pointer.
    pub fn note(&mut self, field: Variable, other: Variable, distance: usize) {
        if !self.assigned.contains(&field) && !self.assigned.contains(&other) {
            self.offsets.insert(field, (other, distance));
        }
    }

    /// Notes a pointer to a field of the result, a number of elements from its start.
    pub fn note_made(&mut self, element: Scalar, field: Variable, start: usize) {
        match self.made.iter().find(|(scalar, ..)| *scalar == element) {
            None => self.made.push((element, field, start)),
            Some(&(_, first, before)) => {
                if let Some(distance) = start.checked_sub(before) {
                    self.note(field, first, distance);
                }
            }
        }
    }

    /// Returns the pointer from which a pointer is computed, and the distance.
    pub(crate) fn base_of(&self, field: Variable) -> Option<(Variable, usize)> {
        self.offsets.get(&field).copied()
    }
}
