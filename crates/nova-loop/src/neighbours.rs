//! Neighbouring elements: indices whose distance is constant, and the numbers of neighbours that a
//! device loads and stores as one vector.

use crate::ir::{Command, Expression, Variable};
use crate::walk::{each_assigned, each_command};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_symbolic::Wrapping;
use std::collections::{BTreeMap, BTreeSet};

/// The numbers of elements of vectors, the longest first.
pub const WIDTHS: [usize; 4] = [16, 8, 4, 2];

/// Linear forms of indices.
pub struct Addresses {
    /// The values of variables that are declared and never assigned.
    once: BTreeMap<Variable, Expression>,
}

impl Addresses {
    /// Collects the definitions in commands.
    pub fn of(commands: &[Command]) -> Addresses {
        let mut once = BTreeMap::new();
        let mut assigned = BTreeSet::new();
        each_command(commands, |command| match command {
            Command::Declare {
                variable,
                value: Some(value),
            } => {
                once.insert(*variable, value.clone());
            }
            Command::Declare { value: None, .. } => {}
            others => each_assigned(others, &mut |v| {
                assigned.insert(v);
            }),
        });
        once.retain(|v, value| !assigned.contains(v) && !value.reads_memory());
        Addresses { once }
    }

    /// Returns the distance from one index to another, if that is a constant.
    pub fn distance(&self, from: &Expression, to: &Expression) -> Option<i64> {
        let distance = self.form(to).minus(&self.form(from));
        distance.as_constant()
    }

    /// Returns a linear form: what is neither a sum nor a multiple is a variable, named by its text.
    fn form(&self, index: &Expression) -> Wrapping<String> {
        if let Some(number) = index.as_index() {
            return Wrapping::constant(number);
        }
        if let Expression::Variable(variable) = index
            && let Some(value) = self.once.get(variable)
        {
            return deep(|| self.form(value));
        }
        if let Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments,
        } = index
            && let [a, b] = &arguments[..]
        {
            let form = |index| deep(|| self.form(index));
            let none = Wrapping::default();
            match (operation, a.as_index(), b.as_index()) {
                (ScalarOperation::Add, _, _) => return form(a).plus(&form(b)),
                (ScalarOperation::Subtract, _, _) => return form(a).minus(&form(b)),
                (ScalarOperation::Multiply, Some(number), _) => {
                    return none.plus_times(number, &form(b));
                }
                (ScalarOperation::Multiply, _, Some(number)) => {
                    return none.plus_times(number, &form(a));
                }
                (_, _, _) => {}
            }
        }
        Wrapping::variable(format!("{index:?}"))
    }
}
