//! Rows that are written at the end of arrays that grow. The pointer to such a row is an offset from the pointer
//! to its array.

use nova_loop::aliases::PointsTo;
use nova_loop::ir::{Command, Expression, Function, Program, Use, Variable};
use nova_loop::uses::uses;
use nova_loop::walk::each_command;
use std::collections::BTreeSet;

/// The arrays of a function that grow, and the pointers to them.
pub(super) struct Rows {
    grown: BTreeSet<Variable>,
    pointers: PointsTo,
}

impl Rows {
    /// Finds the rows of a function.
    pub(super) fn of(program: &Program, function: &Function) -> Rows {
        let mut grown = BTreeSet::new();
        each_command(&function.body, |command| {
            if let Command::Reserve { pointer, .. } = command {
                grown.insert(*pointer);
            }
        });
        grown.retain(|array| !function.parameters.contains(array));
        let pointers = PointsTo::of(&|v| program.is_pointer(v), &function.body);
        Rows { grown, pointers }
    }

    /// True if a pointer leads to an array that grows, and commands only write there, through this pointer only.
    pub(super) fn is_own(&self, pointer: Variable, body: &[Command]) -> bool {
        let arrays = self.pointers.bases(&Expression::Variable(pointer));
        if arrays.is_empty() || !arrays.is_subset(&self.grown) {
            return false;
        }
        let mut own = true;
        each_command(body, |command| {
            uses(command, &mut |other, used| {
                own &= match other == pointer {
                    true => used == Use::Written,
                    false => {
                        let bases = self.pointers.bases(&Expression::Variable(other));
                        bases.is_disjoint(&arrays) && !self.pointers.may_be_elsewhere(other)
                            || self.is_other_row(other, &arrays)
                    }
                };
            });
        });
        own
    }

    /// True if a pointer leads to arrays that grow, and to none of these.
    fn is_other_row(&self, pointer: Variable, arrays: &BTreeSet<Variable>) -> bool {
        let others = self.pointers.bases(&Expression::Variable(pointer));
        others.is_subset(&self.grown) && others.is_disjoint(arrays)
    }
}
