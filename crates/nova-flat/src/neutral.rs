//! The start values of chunks, which change nothing: `start ⊕ x = x` for every `x`. Operators of several
//! operations have no entry in the table of [`crate::operators`]. Those on integers, as sums that stay at
//! a greatest value, are evaluated on the start value and an unknown `x` of the type's range.

use crate::ir::{Atom, Expression, Lambda, Statement, Variable};
use crate::operators::{Operator, by_component, largest, smallest};
use nova_core::operations::evaluate;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Returns the start values of a chunk's reduction: the identity of each operator. If the whole starts
/// with a number, the chunks of a minimum or maximum of floats start with the farthest number. So later
/// stages know that they hold no nan. An operator without a known identity may have the start values of
/// the whole, if they change nothing.
pub fn neutral(lambda: &Lambda, start: &[Atom]) -> Vec<Atom> {
    let is_number = |atom: &Atom| match atom {
        Atom::Constant(ScalarValue::F32(x)) => !x.is_nan(),
        Atom::Constant(ScalarValue::F64(x)) => !x.is_nan(),
        Atom::Constant(_) | Atom::Variable(_) => false,
    };
    let Some(operators) = by_component(lambda) else {
        return match changes_nothing(lambda, start) {
            true => start.to_vec(),
            false => Vec::new(),
        };
    };
    let value = |(operator, start): (&Operator, &Atom)| match operator.bound {
        Some(bound) if is_number(start) => bound.farthest,
        Some(_) | None => operator.identity,
    };
    let values = operators.iter().zip(start).map(value);
    values.map(Atom::Constant).collect()
}

/// A fact about a scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    Constant(ScalarValue),
    /// The number that this right operand is, maybe in another integer type.
    Right(usize),
}

/// The evaluation of an operator on its start values and unknown right operands.
struct Evaluation<'a> {
    /// The types of the operands, which are all integers.
    types: &'a [Scalar],
    known: BTreeMap<Variable, Known>,
}

/// True if an operator on integers returns its right operands where the left ones are the start values.
pub fn changes_nothing(lambda: &Lambda, start: &[Atom]) -> bool {
    let values: Option<Vec<ScalarValue>> = start.iter().map(|atom| atom.as_constant()).collect();
    let Some(values) = values.filter(|_| lambda.parameters.len() == 2 * start.len()) else {
        return false;
    };
    let types: Vec<Scalar> = values.iter().map(|value| value.scalar()).collect();
    if !types.iter().all(|scalar| scalar.is_integer()) {
        return false;
    }
    let (left, right) = lambda.parameters.split_at(start.len());
    let constants = values.iter().map(|value| Known::Constant(*value));
    let rights = (0..start.len()).map(Known::Right);
    let known = left.iter().copied().zip(constants);
    let known = known.chain(right.iter().copied().zip(rights)).collect();
    let mut evaluation = Evaluation {
        types: &types,
        known,
    };
    for statement in &lambda.body.statements {
        evaluation.learn(statement);
    }
    let results = lambda.body.results.iter().enumerate();
    results
        .into_iter()
        .all(|(k, result)| evaluation.of(*result) == Some(Known::Right(k)))
}

impl Evaluation<'_> {
    fn of(&self, atom: Atom) -> Option<Known> {
        match atom {
            Atom::Constant(value) => Some(Known::Constant(value)),
            Atom::Variable(variable) => self.known.get(&variable).copied(),
        }
    }

    fn learn(&mut self, statement: &Statement) {
        let Expression::Scalar {
            operation,
            arguments,
            ..
        } = &statement.expression
        else {
            return;
        };
        if let [variable] = statement.pattern[..]
            && let Some(value) = self.apply(*operation, arguments)
        {
            self.known.insert(variable, value);
        }
    }

    fn apply(&self, operation: ScalarOperation, arguments: &[Atom]) -> Option<Known> {
        let arguments: Option<Vec<Known>> = arguments.iter().map(|a| self.of(*a)).collect();
        match arguments?[..] {
            [Known::Right(k)] => self.convert(operation, k),
            [Known::Constant(a), Known::Right(k)] => self.combine(operation, a, k, false),
            [Known::Right(k), Known::Constant(a)] => self.combine(operation, a, k, true),
            [Known::Right(a), Known::Right(b)] => match operation {
                ScalarOperation::Minimum | ScalarOperation::Maximum => {
                    (a == b).then_some(Known::Right(a))
                }
                _ => None,
            },
            [Known::Constant(a)] => fold(operation, &[a]),
            [Known::Constant(a), Known::Constant(b)] => fold(operation, &[a, b]),
            _ => None,
        }
    }

    /// Converts a right operand to another type, which must hold all of its values.
    fn convert(&self, operation: ScalarOperation, right: usize) -> Option<Known> {
        let holds = |to: Scalar| {
            let own = range(*self.types.get(right)?)?;
            let other = range(to)?;
            (other.contains(own.start()) && other.contains(own.end())).then_some(())
        };
        match operation {
            ScalarOperation::Convert(to) | ScalarOperation::Wrap(to) => {
                holds(to).map(|()| Known::Right(right))
            }
            ScalarOperation::Fits(to) => {
                holds(to).map(|()| Known::Constant(ScalarValue::Bool(true)))
            }
            _ => None,
        }
    }

    /// Combines a constant and a right operand, which is the first one if `swapped`.
    fn combine(
        &self,
        operation: ScalarOperation,
        constant: ScalarValue,
        right: usize,
        swapped: bool,
    ) -> Option<Known> {
        let value = constant.as_integer()?;
        let own = range(*self.types.get(right)?)?;
        let keeps = match operation {
            ScalarOperation::Add | ScalarOperation::BitOr | ScalarOperation::BitXor => value == 0,
            ScalarOperation::Subtract => swapped && value == 0,
            ScalarOperation::Multiply => value == 1,
            ScalarOperation::Divide => swapped && value == 1,
            ScalarOperation::Minimum => value >= *own.end(),
            ScalarOperation::Maximum => value <= *own.start(),
            _ => false,
        };
        keeps.then_some(Known::Right(right))
    }
}

fn fold(operation: ScalarOperation, values: &[ScalarValue]) -> Option<Known> {
    evaluate(operation, values, true).ok().map(Known::Constant)
}

/// Returns the values of an integer type.
fn range(scalar: Scalar) -> Option<RangeInclusive<i128>> {
    Some(smallest(scalar)?.as_integer()?..=largest(scalar)?.as_integer()?)
}
