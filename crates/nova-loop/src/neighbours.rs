//! Neighbouring elements: indices whose distance is constant, and the numbers of neighbours that a
//! device loads and stores as one vector.

use crate::ir::{Command, Expression, Variable};
use crate::walk::{each_command, writes};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use std::collections::{BTreeMap, BTreeSet};

/// The numbers of elements of vectors, the longest first.
pub const WIDTHS: [usize; 4] = [16, 8, 4, 2];

/// Linear forms of indices.
pub struct Addresses {
    /// The values of variables that are declared and never assigned.
    once: BTreeMap<Variable, Expression>,
}

/// A linear form: terms with their factors, by their text, and a constant.
#[derive(Debug, Default, PartialEq)]
struct Sum {
    terms: BTreeMap<String, i64>,
    constant: i64,
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
            others => writes(others, &mut |v| {
                assigned.insert(v);
            }),
        });
        once.retain(|v, value| !assigned.contains(v) && !value.reads_memory());
        Addresses { once }
    }

    /// Returns the distance from one index to another, if that is a constant.
    pub fn distance(&self, from: &Expression, to: &Expression) -> Option<i64> {
        let (mut a, mut b) = (Sum::default(), Sum::default());
        self.add(&mut a, from, 1);
        self.add(&mut b, to, 1);
        a.terms.retain(|_, times| *times != 0);
        b.terms.retain(|_, times| *times != 0);
        (a.terms == b.terms).then(|| b.constant.wrapping_sub(a.constant))
    }

    fn add(&self, sum: &mut Sum, index: &Expression, times: i64) {
        if let Some(number) = index.as_index() {
            sum.constant = sum.constant.wrapping_add(number.wrapping_mul(times));
            return;
        }
        if let Expression::Variable(variable) = index
            && let Some(value) = self.once.get(variable)
        {
            return deep(|| self.add(sum, value, times));
        }
        if let Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments,
        } = index
            && let [a, b] = &arguments[..]
        {
            match (operation, a.as_index(), b.as_index()) {
                (ScalarOperation::Add, _, _) => {
                    deep(|| self.add(sum, a, times));
                    return deep(|| self.add(sum, b, times));
                }
                (ScalarOperation::Subtract, _, _) => {
                    deep(|| self.add(sum, a, times));
                    return deep(|| self.add(sum, b, times.wrapping_neg()));
                }
                (ScalarOperation::Multiply, Some(number), _) => {
                    return deep(|| self.add(sum, b, times.wrapping_mul(number)));
                }
                (ScalarOperation::Multiply, _, Some(number)) => {
                    return deep(|| self.add(sum, a, times.wrapping_mul(number)));
                }
                (_, _, _) => {}
            }
        }
        let term = sum.terms.entry(format!("{index:?}")).or_default();
        *term = term.wrapping_add(times);
    }
}
