//! Definitions of variables. They simplify the computations that use the variables.

use super::state::{Definition, Forward};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{Atom, Expression, Statement, Variable, View};

impl Forward<'_> {
    /// Notes the definition that a statement gives its variable.
    pub(super) fn define(&mut self, statement: &Statement) {
        let [variable] = *statement.pattern.as_slice() else {
            return;
        };
        let definition = match &statement.expression {
            Expression::Iota { start, step, .. } => Definition::Iota {
                start: *start,
                step: *step,
            },
            Expression::Scalar {
                operation: ScalarOperation::Convert(to),
                operand,
                arguments,
            } if to.is_integer() && operand.is_integer() => match arguments[..] {
                [source] => Definition::Converted(source, *operand),
                _ => return,
            },
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => match (operation, &arguments[..]) {
                (ScalarOperation::Add, [left, right]) if operand.is_integer() => {
                    Definition::Sum([*left, *right])
                }
                (ScalarOperation::Subtract, [left, right]) if operand.is_integer() => {
                    Definition::Difference([*left, *right])
                }
                (comparison, [left, right]) if comparison.opposite(Scalar::I64).is_some() => {
                    Definition::Comparison(*comparison, *operand, [*left, *right])
                }
                (_, _) => return,
            },
            Expression::If {
                condition: Atom::Variable(condition),
                then,
                otherwise,
            } if then.statements.is_empty() && otherwise.statements.is_empty() => {
                match (&then.results[..], &otherwise.results[..]) {
                    ([then], [otherwise]) => Definition::Choice(*condition, [*then, *otherwise]),
                    (_, _) => return,
                }
            }
            Expression::Replicate { value, .. } => Definition::Replicate(*value),
            Expression::Literal { elements, .. } => Definition::Literal(elements.clone()),
            Expression::View { array, view } => Definition::View(*array, view.clone()),
            Expression::Copy(array) => Definition::View(*array, View::Row(Vec::new())),
            _ => return,
        };
        self.definitions.insert(variable, definition);
    }

    /// Returns the source of an integer that is converted back to its original type.
    pub(super) fn converted_back(
        &self,
        operation: ScalarOperation,
        arguments: &[Atom],
    ) -> Option<Atom> {
        let (ScalarOperation::Convert(to), [Atom::Variable(converted)]) = (operation, arguments)
        else {
            return None;
        };
        match self.definitions.get(converted)? {
            Definition::Converted(source, from) => (*from == to).then_some(*source),
            _ => None,
        }
    }

    /// Replaces a `not` of a comparison by the opposite comparison.
    pub(super) fn negate_comparison(&self, expression: &mut Expression) {
        let Expression::Scalar {
            operation: ScalarOperation::Not,
            arguments: negated,
            ..
        } = &*expression
        else {
            return;
        };
        let [Atom::Variable(negated)] = negated[..] else {
            return;
        };
        if let Some(Definition::Comparison(comparison, operand, arguments)) =
            self.definitions.get(&negated)
            && let Some(operation) = comparison.opposite(*operand)
        {
            *expression = Expression::Scalar {
                operation,
                operand: *operand,
                arguments: arguments.to_vec(),
            };
        }
    }

    /// Returns the branch of a choice that applies inside an operation over the compared extent.
    /// The choice compares the extent with 0. Code inside the operation runs for its indices only,
    /// so the extent is positive there.
    pub(super) fn chosen_in_iterations(&self, atom: Atom) -> Atom {
        let definition = |atom: Atom| {
            atom.as_variable()
                .and_then(|variable| self.definitions.get(&variable))
        };
        let Some(Definition::Choice(condition, [then, otherwise])) = definition(atom) else {
            return atom;
        };
        let Some(Definition::Comparison(comparison, Scalar::I64, [left, right])) =
            definition(Atom::Variable(*condition))
        else {
            return atom;
        };
        let zero = Atom::index(0);
        if *right != zero || !self.positive.contains(left) {
            return atom;
        }
        match comparison {
            ScalarOperation::Greater | ScalarOperation::NotEqual => *then,
            ScalarOperation::Equal | ScalarOperation::LessEqual => *otherwise,
            _ => atom,
        }
    }

    /// Returns the remaining operand of a sum from which one summand is subtracted. It does the
    /// same for a difference to which the subtrahend is added, or which is subtracted from its
    /// minuend. Integers wrap around, so this holds for all of them. It finds the length of a row
    /// of a matrix from the start and the end of the row.
    pub(super) fn cancelled(
        &self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[Atom],
    ) -> Option<Atom> {
        let (true, [left, right]) = (operand.is_integer(), arguments) else {
            return None;
        };
        let definition = |atom: &Atom| {
            atom.as_variable()
                .and_then(|variable| self.definitions.get(&variable))
        };
        match (operation, definition(left), definition(right)) {
            (ScalarOperation::Subtract, Some(Definition::Sum([a, b])), _) if b == right => Some(*a),
            (ScalarOperation::Subtract, Some(Definition::Sum([a, b])), _) if a == right => Some(*b),
            (ScalarOperation::Subtract, _, Some(Definition::Difference([a, b]))) if a == left => {
                Some(*b)
            }
            (ScalarOperation::Add, Some(Definition::Difference([a, b])), _) if b == right => {
                Some(*a)
            }
            (ScalarOperation::Add, _, Some(Definition::Difference([a, b]))) if b == left => {
                Some(*a)
            }
            (_, _, _) => None,
        }
    }

    /// Returns an element of an array whose definition gives it without a read.
    pub(super) fn known_element(
        &mut self,
        array: Variable,
        indices: &[Atom],
        place: &Place,
        out: &mut Vec<Statement>,
    ) -> Option<Atom> {
        match (self.definitions.get(&array)?, indices) {
            (Definition::Replicate(value), _) => Some(*value),
            (Definition::Literal(elements), [Atom::Constant(ScalarValue::I64(k))]) => {
                elements.get(usize::try_from(*k).ok()?).copied()
            }
            (Definition::Iota { start, step }, [index]) => {
                let (start, step, index) = (*start, *step, *index);
                let scalar = self.program.scalar_of(start).filter(|s| s.is_integer())?;
                let mut compute = |operation, operand, arguments| {
                    self.operation(operation, operand, arguments, place, out)
                };
                if !is_narrow(scalar) {
                    let wrap = ScalarOperation::Wrap(scalar);
                    let index = compute(wrap, Scalar::I64, vec![index]);
                    let distance = compute(ScalarOperation::Multiply, scalar, vec![index, step]);
                    return Some(compute(ScalarOperation::Add, scalar, vec![start, distance]));
                }
                // All numbers fit, so indices that are computed from them stay sums of `i64`.
                let wide = ScalarOperation::Convert(Scalar::I64);
                let [start, step] = [start, step].map(|a| compute(wide, scalar, vec![a]));
                let i64 = Scalar::I64;
                let distance = compute(ScalarOperation::Multiply, i64, vec![index, step]);
                let sum = compute(ScalarOperation::Add, i64, vec![start, distance]);
                Some(compute(ScalarOperation::Convert(scalar), i64, vec![sum]))
            }
            _ => None,
        }
    }
}

/// True if `i64` represents all numbers of an integer type, and sums and multiples of them.
fn is_narrow(scalar: Scalar) -> bool {
    match scalar {
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::U8 | Scalar::U16 | Scalar::U32 => true,
        Scalar::I64 | Scalar::U64 | Scalar::F32 | Scalar::F64 | Scalar::Bool => false,
    }
}
