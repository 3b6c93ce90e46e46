//! Rows that are written at the end of arrays that grow. The pointer to such a row is an offset from the pointer
//! to its array, to which no others lead.

use nova_loop::ir::{Command, Expression, Function, Use, Variable};
use nova_loop::uses::uses;
use nova_loop::walk::{each_assigned, each_command};
use std::collections::{BTreeMap, BTreeSet};

/// The rows of a function.
#[derive(Default)]
pub(super) struct Rows {
    /// The pointer to the array of each row.
    arrays: BTreeMap<Variable, Variable>,
}

impl Rows {
    /// Finds the rows of a function.
    pub(super) fn of(function: &Function) -> Rows {
        let mut rows = Rows::default();
        let mut grown = BTreeSet::new();
        let mut others: BTreeSet<Variable> = function.parameters.iter().copied().collect();
        let mut reads_results = false;
        each_command(&function.body, |command| {
            uses(command, &mut |variable, _| {
                reads_results |= function.results.contains(&variable);
            });
            match command {
                Command::Declare {
                    value: None | Some(Expression::NullPointer(_)),
                    ..
                } => {}
                Command::Declare {
                    variable,
                    value: Some(Expression::Offset { pointer, .. }),
                } if matches!(**pointer, Expression::Variable(_)) => {
                    if let Expression::Variable(array) = **pointer
                        && rows.arrays.insert(*variable, array).is_some()
                    {
                        others.insert(*variable);
                    }
                }
                Command::Reserve { pointer, .. } => {
                    grown.insert(*pointer);
                }
                Command::Assign {
                    variable,
                    value: Expression::Variable(_),
                } if function.results.contains(variable) => {}
                other => {
                    uses(other, &mut |variable, used| {
                        if used == Use::Value {
                            others.insert(variable);
                        }
                    });
                    each_assigned(other, &mut |variable| {
                        others.insert(variable);
                    });
                }
            }
        });
        rows.arrays.retain(|row, array| {
            !reads_results
                && grown.contains(array)
                && !others.contains(array)
                && !others.contains(row)
        });
        rows
    }

    /// True if commands that write through a pointer write a row, and do not otherwise access its array.
    pub(super) fn is_own(&self, pointer: Variable, body: &[Command]) -> bool {
        let Some(array) = self.arrays.get(&pointer) else {
            return false;
        };
        let mut own = true;
        each_command(body, |command| {
            uses(command, &mut |other, used| {
                let meets = other == *array || self.arrays.get(&other) == Some(array);
                own &= !meets || other == pointer && used == Use::Written;
            });
        });
        own
    }
}
