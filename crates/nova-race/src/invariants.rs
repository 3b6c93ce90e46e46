//! Variables that are never negative, whichever of their assignments has run.

use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Function, Program, Type, Variable};
use nova_loop::walk::{each_command, writes};
use std::collections::{BTreeMap, BTreeSet};

/// The `i64` variables of a function that are never negative.
#[derive(Debug, Default)]
pub(crate) struct Invariants {
    never_negative: BTreeSet<Variable>,
}

impl Invariants {
    /// Computes the largest set of variables of a function that its assignments preserve.
    pub(crate) fn of(program: &Program, function: &Function) -> Invariants {
        let mut values: BTreeMap<Variable, Vec<&Expression>> = BTreeMap::new();
        let mut others: BTreeSet<Variable> = BTreeSet::new();
        others.extend(function.parameters.iter().chain(&function.results));
        let mut indices = BTreeSet::new();
        each_command(&function.body, |command| match command {
            Command::Declare { variable, value } => {
                values.entry(*variable).or_default().extend(value);
            }
            Command::Assign { variable, value } => values.entry(*variable).or_default().push(value),
            Command::For { variable, .. } => {
                indices.insert(*variable);
            }
            other => writes(other, &mut |v| {
                others.insert(v);
            }),
        });
        let is_number = |v: &Variable| program.variable(*v).ty == Type::Scalar(Scalar::I64);
        let mut found = Invariants::default();
        let candidates = values
            .keys()
            .filter(|v| is_number(v) && !others.contains(*v));
        found.never_negative.extend(candidates);
        found.never_negative.extend(indices);
        loop {
            // Mostly, variables are declared before those that depend on them.
            let before = found.never_negative.len();
            for variable in found.never_negative.clone() {
                let values = values.get(&variable).map_or(&[][..], Vec::as_slice);
                if !values.iter().all(|value| found.is_preserved(value)) {
                    found.never_negative.remove(&variable);
                }
            }
            if found.never_negative.len() == before {
                return found;
            }
        }
    }

    /// True if a variable is never negative.
    pub(crate) fn is_never_negative(&self, variable: Variable) -> bool {
        self.never_negative.contains(&variable)
    }

    /// True if an expression is never negative, provided that the variables in the set are not.
    fn is_preserved(&self, expression: &Expression) -> bool {
        use ScalarOperation as O;
        let all = |of: &[Expression]| of.iter().all(|e| deep(|| self.is_preserved(e)));
        match expression {
            Expression::Constant(value) => value.as_integer().is_some_and(|number| number >= 0),
            Expression::Variable(variable) => self.never_negative.contains(variable),
            Expression::Select {
                then, otherwise, ..
            } => deep(|| self.is_preserved(then) && self.is_preserved(otherwise)),
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => match operation {
                O::Convert(Scalar::I64) => {
                    operand.is_integer() && !operand.is_signed() && operand.bits() < 64
                        || *operand == Scalar::Bool
                }
                O::Add | O::Multiply | O::Minimum | O::ShiftRight | O::Divide | O::Remainder => {
                    *operand == Scalar::I64 && all(arguments)
                }
                O::Maximum | O::BitAnd => {
                    *operand == Scalar::I64
                        && arguments.iter().any(|e| deep(|| self.is_preserved(e)))
                }
                _other => false,
            },
            Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::Load { .. }
            | Expression::Offset { .. }
            | Expression::NullPointer(_)
            | Expression::NullBlock
            | Expression::NodeTag { .. } => false,
        }
    }
}
