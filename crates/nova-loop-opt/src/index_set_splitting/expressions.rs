//! Rewrites expressions with known facts about integers. Operations on indices that cannot wrap
//! become sums on `i64`, which C compilers can analyse, and conditions with a constant outcome are
//! decided.

use super::Splitter;
use super::facts::{Integer, integer, range_of};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::Expression;
use nova_symbolic::Interval;

/// A comparison whose outcome is not known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undecided {
    /// The comparison, minimum or maximum.
    pub(super) operation: ScalarOperation,
    /// Its operands.
    pub(super) operands: [Integer; 2],
}

impl Splitter<'_> {
    /// Rewrites an expression. Returns its value if it is an integer whose root is known.
    pub(super) fn rewrite(&mut self, expression: &mut Expression) -> Option<Integer> {
        match expression {
            Expression::Constant(value) => integer(*value).map(Integer::constant),
            Expression::Variable(variable) => {
                if let Some(holds) = self.decided.get(variable) {
                    *expression = Expression::bool(*holds);
                    return None;
                }
                let definition = self.facts.get(*variable)?.definition;
                if definition.root.is_none() {
                    self.replace_by(expression, definition);
                }
                Some(definition)
            }
            Expression::Scalar { .. } => {
                let value = self.operation(expression)?;
                self.replace_by(expression, value);
                Some(value)
            }
            Expression::Select { .. } => self.select(expression),
            Expression::Load { .. } | Expression::Offset { .. } => {
                for child in expression.children_mut() {
                    deep(|| self.rewrite(child));
                }
                None
            }
            Expression::NodeTag { link, .. } => {
                deep(|| self.rewrite(link));
                None
            }
            Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::NullPointer(_)
            | Expression::NullBlock => None,
        }
    }

    /// Replaces an expression by the shortest one for a value of the expression's type.
    fn replace_by(&self, expression: &mut Expression, value: Integer) {
        let Some(scalar) = self.type_of(expression) else {
            return;
        };
        match value.root {
            None => {
                let number = i128::from(value.offset);
                let constant = ScalarValue::from_integer_wrapping(scalar, number);
                *expression = Expression::Constant(constant);
            }
            Some(root) if scalar == Scalar::I64 && self.is_index(root) => {
                let offset = Expression::index(value.offset);
                *expression = Expression::Variable(root).plus(offset);
            }
            Some(_) => {}
        }
    }

    fn select(&mut self, expression: &mut Expression) -> Option<Integer> {
        let Expression::Select {
            condition,
            then,
            otherwise,
        } = expression
        else {
            return None;
        };
        deep(|| self.rewrite(condition));
        if let Expression::Constant(ScalarValue::Bool(holds)) = **condition {
            let chosen = if holds { then } else { otherwise };
            let mut chosen = std::mem::replace(&mut **chosen, Expression::NullBlock);
            let value = deep(|| self.rewrite(&mut chosen));
            *expression = chosen;
            return value;
        }
        deep(|| self.rewrite(then));
        deep(|| self.rewrite(otherwise));
        // `if c then x else x` of bools.
        if let (
            Expression::Constant(ScalarValue::Bool(a)),
            Expression::Constant(ScalarValue::Bool(b)),
        ) = (&**then, &**otherwise)
            && a == b
        {
            *expression = Expression::bool(*a);
        }
        None
    }

    /// Rewrites a scalar operation. Returns its value if that is known.
    fn operation(&mut self, expression: &mut Expression) -> Option<Integer> {
        let Expression::Scalar {
            operation,
            operand,
            arguments,
        } = expression
        else {
            return None;
        };
        let (operation, operand) = (*operation, *operand);
        let values: Vec<Option<Integer>> = arguments
            .iter_mut()
            .map(|argument| deep(|| self.rewrite(argument)))
            .collect();
        use ScalarOperation as O;
        if let (O::Not, [Expression::Constant(ScalarValue::Bool(value))]) =
            (operation, &arguments[..])
        {
            *expression = Expression::bool(!*value);
            return None;
        }
        if operand == Scalar::Bool {
            if let Some(decided) = connected(operation, arguments) {
                *expression = decided;
            }
            return None;
        }
        if operand == Scalar::I64
            && let [left, right] = &arguments[..]
            && (left.as_index() == Some(0) || right.as_index() == Some(0))
            && matches!(operation, O::Add | O::Multiply)
        {
            let right = arguments.pop()?;
            let left = arguments.pop()?;
            *expression = Expression::on_index(operation, left, right);
            return self.facts.affine(expression);
        }
        range_of(operand)?;
        match (operation, &values[..]) {
            (O::Convert(to), [Some(value)]) => self.facts.fits(*value, to).then_some(*value),
            (O::Fits(to), [Some(value)]) if self.facts.fits(*value, to) => {
                *expression = Expression::bool(true);
                None
            }
            (O::Add, [Some(a), Some(b)]) => self.sum(operand, *a, *b),
            (O::Subtract, [Some(a), Some(b)]) => self.subtraction(operand, *a, *b),
            (O::Minimum | O::Maximum, [Some(a), Some(b)]) => {
                let first = self.comes_first(operation, *a, *b)?;
                let chosen = arguments.swap_remove(usize::from(!first));
                *expression = chosen;
                Some(if first { *a } else { *b })
            }
            (_, [Some(a), Some(b)]) => {
                if let Some(holds) = self.compare(operation, *a, *b) {
                    *expression = Expression::bool(holds);
                }
                None
            }
            _ => None,
        }
    }

    /// Returns the interval of the values of an integer expression: of conversions, minima, maxima and choices,
    /// else that of its type.
    pub(super) fn range(&self, expression: &Expression) -> Option<Interval> {
        let all = range_of(self.type_of(expression)?);
        match expression {
            Expression::Constant(value) => Some(Interval::exactly(integer(*value)?.into())),
            Expression::Variable(_) => match self.facts.affine(expression) {
                Some(value) => Some(self.facts.range(value)),
                None => all,
            },
            Expression::Scalar {
                operation,
                arguments,
                ..
            } => {
                let of = |k: usize| deep(|| self.range(arguments.get(k)?));
                match operation {
                    ScalarOperation::Convert(_) => match (of(0), all) {
                        (Some(value), Some(all)) => Some(value.intersection(all)),
                        (_, all) => all,
                    },
                    ScalarOperation::Minimum => Some(of(0)?.minimum(of(1)?)),
                    ScalarOperation::Maximum => Some(of(0)?.maximum(of(1)?)),
                    _others => all,
                }
            }
            _others => all,
        }
    }

    fn sum(&self, operand: Scalar, a: Integer, b: Integer) -> Option<Integer> {
        let sum = match (a.root, b.root) {
            (_, None) => a.plus(b.offset)?,
            (None, Some(_)) => b.plus(a.offset)?,
            (Some(_), Some(_)) => return None,
        };
        self.facts.fits(sum, operand).then_some(sum)
    }

    fn subtraction(&self, operand: Scalar, a: Integer, b: Integer) -> Option<Integer> {
        let difference = match b.root {
            None => a.plus(b.offset.checked_neg()?)?,
            Some(_) if a.root == b.root => Integer::constant(a.offset.checked_sub(b.offset)?),
            Some(_) => return None,
        };
        self.facts.fits(difference, operand).then_some(difference)
    }

    /// Returns true if a minimum or maximum is its first operand, false if it is the second one.
    fn comes_first(&mut self, operation: ScalarOperation, a: Integer, b: Integer) -> Option<bool> {
        let smallest = operation == ScalarOperation::Minimum;
        if self.facts.difference(a, b) <= 0 {
            return Some(smallest);
        }
        if self.facts.difference(b, a) <= 0 {
            return Some(!smallest);
        }
        self.undecided.push(Undecided {
            operation,
            operands: [a, b],
        });
        None
    }

    /// Returns the outcome of a comparison, if it is known.
    fn compare(&mut self, operation: ScalarOperation, a: Integer, b: Integer) -> Option<bool> {
        use ScalarOperation as O;
        // The greatest and the least difference.
        let high = self.facts.difference(a, b);
        let low = -self.facts.difference(b, a);
        let outcome = match operation {
            O::Less | O::GreaterEqual => decide(high < 0, low >= 0),
            O::LessEqual | O::Greater => decide(high <= 0, low > 0),
            O::Equal | O::NotEqual => decide(high == 0 && low == 0, high < 0 || low > 0),
            _ => return None,
        };
        if outcome.is_none() {
            self.undecided.push(Undecided {
                operation,
                operands: [a, b],
            });
        }
        let negative = matches!(operation, O::GreaterEqual | O::Greater | O::NotEqual);
        outcome.map(|holds| holds != negative)
    }
}

/// Returns what a conjunction or disjunction is of which one side is known.
fn connected(operation: ScalarOperation, sides: &[Expression]) -> Option<Expression> {
    let decides = match operation {
        ScalarOperation::BitAnd => false,
        ScalarOperation::BitOr => true,
        _others => return None,
    };
    let [left, right] = sides else {
        return None;
    };
    match (left, right) {
        (known @ Expression::Constant(ScalarValue::Bool(value)), other)
        | (other, known @ Expression::Constant(ScalarValue::Bool(value))) => {
            let chosen = if *value == decides { known } else { other };
            Some(chosen.clone())
        }
        (_, _) => None,
    }
}

/// Returns the value of a bool of which it is known that it holds, or that it does not.
fn decide(holds: bool, fails: bool) -> Option<bool> {
    match (holds, fails) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// Returns the number of expressions in an expression, itself included.
pub(crate) fn expression_size(expression: &Expression) -> usize {
    let inside = expression.children().into_iter();
    1 + inside.map(|e| deep(|| expression_size(e))).sum::<usize>()
}
