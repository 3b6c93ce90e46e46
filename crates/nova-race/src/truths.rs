//! Facts that follow from conditions: sums that are not negative where they hold, and where they do not.

use crate::state::State;
use crate::symbolic::{Polynomial, Truth};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::Expression;

impl State<'_> {
    /// Returns the facts that follow from a condition.
    pub(crate) fn truth(&mut self, condition: &Expression) -> Truth {
        use ScalarOperation as O;
        match condition {
            Expression::Variable(variable) => {
                self.truths.get(variable).cloned().unwrap_or_default()
            }
            Expression::Select {
                condition,
                then,
                otherwise,
            } => deep(|| self.chosen(condition, then, otherwise)),
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => match (operation, &arguments[..]) {
                (O::Not, [a]) => {
                    let Truth { yes, no } = deep(|| self.truth(a));
                    Truth { yes: no, no: yes }
                }
                (O::BitAnd, [a, b]) if *operand == Scalar::Bool => deep(|| {
                    let (a, b) = (self.truth(a), self.truth(b));
                    let yes = [a.yes, b.yes].concat();
                    Truth {
                        yes,
                        no: Vec::new(),
                    }
                }),
                (O::BitOr, [a, b]) if *operand == Scalar::Bool => deep(|| {
                    let (a, b) = (self.truth(a), self.truth(b));
                    let no = [a.no, b.no].concat();
                    Truth {
                        yes: Vec::new(),
                        no,
                    }
                }),
                (operation, [a, b]) if operand.is_integer() => {
                    let (a, b) = (self.number(a), self.number(b));
                    self.compared(*operation, *operand, &a, &b)
                }
                _other => Truth::default(),
            },
            Expression::Constant(ScalarValue::Bool(holds)) => {
                let never = vec![Polynomial::constant(-1)];
                match holds {
                    true => Truth {
                        yes: Vec::new(),
                        no: never,
                    },
                    false => Truth {
                        yes: never,
                        no: Vec::new(),
                    },
                }
            }
            Expression::Constant(_)
            | Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::Load { .. }
            | Expression::Offset { .. }
            | Expression::NullPointer(_)
            | Expression::NullBlock
            | Expression::NodeTag { .. } => Truth::default(),
        }
    }

    /// Returns the facts that follow from `condition ? then : otherwise`, where one of the two is mostly a
    /// constant: an `and` or an `or`.
    fn chosen(
        &mut self,
        condition: &Expression,
        then: &Expression,
        otherwise: &Expression,
    ) -> Truth {
        let is = |e: &Expression, wanted| matches!(e, Expression::Constant(ScalarValue::Bool(found)) if *found == wanted);
        let first = self.truth(condition);
        if is(otherwise, false) {
            let yes = [first.yes, self.truth(then).yes].concat();
            return Truth {
                yes,
                no: Vec::new(),
            };
        }
        if is(then, true) {
            let no = [first.no, self.truth(otherwise).no].concat();
            return Truth {
                yes: Vec::new(),
                no,
            };
        }
        Truth::default()
    }

    fn compared(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        a: &Polynomial,
        b: &Polynomial,
    ) -> Truth {
        use ScalarOperation as O;
        let less = || Vec::from_iter(a.gap_to(b));
        let at_most = || Vec::from_iter(b.minus(a));
        let greater = || Vec::from_iter(b.gap_to(a));
        let at_least = || Vec::from_iter(a.minus(b));
        let (yes, no) = match operation {
            O::Less => (less(), at_least()),
            O::LessEqual => (at_most(), greater()),
            O::Greater => (greater(), at_most()),
            O::GreaterEqual => (at_least(), less()),
            O::Equal => ([at_most(), at_least()].concat(), Vec::new()),
            O::NotEqual => (Vec::new(), [at_most(), at_least()].concat()),
            _other => return Truth::default(),
        };
        let mut truth = Truth { yes, no };
        if operand == Scalar::U64 && matches!(operation, O::Less | O::GreaterEqual) {
            self.unwrapped(operation, a, b, &mut truth);
        }
        truth
    }

    /// Adds the facts that follow from a comparison of two `i64`s as unsigned numbers: the first is an index
    /// below the second.
    fn unwrapped(
        &self,
        operation: ScalarOperation,
        a: &Polynomial,
        b: &Polynomial,
        to: &mut Truth,
    ) {
        let wrapped =
            |value: &Polynomial| self.operations.wrapped.get(&value.as_variable()?).cloned();
        let limit = match b.as_constant() {
            Some(_) => Some(b.clone()),
            None => wrapped(b),
        };
        if let (Some(index), Some(limit)) = (wrapped(a), limit)
            && self.facts.is_never_negative(&limit)
        {
            let side = match operation == ScalarOperation::Less {
                true => &mut to.yes,
                false => &mut to.no,
            };
            side.push(index.clone());
            side.extend(index.gap_to(&limit));
        }
    }
}
