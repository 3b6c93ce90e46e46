//! Checks of inequalities that are affine in the index of an operation: where every round reaches
//! one, it holds in all rounds if it holds in the first and the last, so that it is made once
//! before the operation.

use super::affine::Affine;
use super::{Bounds, Condition};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::Place;
use nova_flat::ir::{Atom, Body, Expression, Statement, Type, Variable};

/// The largest constant in a check that is made before an operation.
const LARGEST: i128 = 1 << 40;

/// A check that can be made before its operation.
struct Ends {
    /// Its place in the operation's body.
    place: usize,
    /// What must not be negative, each with its error's arguments, at the index that is worst for
    /// it.
    parts: Vec<(Affine, Vec<Affine>)>,
}

impl Bounds<'_> {
    /// Takes checks out of an operation; gives what has to stand before it. The bodies of the
    /// operation have been walked; what was bound before it has its place before `start`.
    pub(super) fn checks_at_ends(
        &mut self,
        statement: &mut Statement,
        start: usize,
    ) -> Vec<Statement> {
        let mut before = Vec::new();
        let Expression::Operation(operation) = &statement.expression else {
            return before;
        };
        let ([index], [extent]) = (&operation.indices[..], &operation.shape[..]) else {
            return before;
        };
        let (index, extent) = (*index, *extent);
        if matches!(extent, Atom::Constant(value) if value.as_integer() <= Some(0)) {
            return before;
        }
        let Some(last) = self.value(extent).and_then(|e| e.shifted(-1)) else {
            return before;
        };
        let found: Vec<Ends> = operation
            .body
            .statements
            .iter()
            .enumerate()
            .filter_map(|(place, inner)| self.ends(place, inner, index, &last, start))
            .collect();
        if found.is_empty() {
            return before;
        }
        let effects = self.effects.of(&statement.expression);
        if effects.observable || effects.endless {
            return before;
        }
        for ends in found {
            if let Expression::Operation(operation) = &mut statement.expression
                && let Some(inner) = operation.body.statements.get_mut(ends.place)
            {
                self.check_before(ends, extent, inner, &mut before);
            }
        }
        before
    }

    /// How a statement of an operation's body can be checked before it.
    fn ends(
        &self,
        place: usize,
        statement: &Statement,
        index: Variable,
        last: &Affine,
        start: usize,
    ) -> Option<Ends> {
        let Expression::Check {
            condition: Atom::Variable(condition),
            arguments,
            ..
        } = &statement.expression
        else {
            return None;
        };
        let sums = match self.ranges.get(condition) {
            Some((value, extent)) => {
                let (value, extent) = (self.value(*value)?, self.value(*extent)?);
                vec![value.clone(), extent.plus(-1, &value)?.shifted(-1)?]
            }
            None => match self.conditions.get(condition)? {
                Condition::NotNegative(sum) => vec![sum.clone()],
                Condition::Zero(_) | Condition::Not(_) => return None,
            },
        };
        let varies = sums.iter().any(|sum| sum.coefficient(index) != 0);
        let parts: Option<Vec<_>> = sums
            .iter()
            .map(|sum| {
                let first = sum.coefficient(index) >= 0;
                let at = |sum: &Affine| {
                    let coefficient = sum.coefficient(index);
                    match first {
                        true => Some(sum.without(index)),
                        false => sum.substitute(index, coefficient, last),
                    }
                };
                let outside = |sum: &Affine| self.is_outside(sum, start);
                let worst = |sum: &Affine| at(sum).filter(outside);
                let arguments: Option<Vec<Affine>> = arguments
                    .iter()
                    .map(|argument| worst(&self.value(*argument)?))
                    .collect();
                Some((worst(sum)?, arguments?))
            })
            .collect();
        let parts = parts.filter(|_| varies)?;
        Some(Ends { place, parts })
    }

    /// Whether all symbols of a sum are numbers that were bound before others.
    fn is_outside(&self, sum: &Affine, start: usize) -> bool {
        sum.symbols().all(|symbol| {
            let before = self.order.get(&symbol).is_some_and(|place| *place < start);
            before
                && matches!(
                    self.program.ty(symbol),
                    Type::Scalar(Scalar::I64 | Scalar::I32)
                )
        })
    }

    /// Adds a check to what stands before an operation, in place of one in its body.
    fn check_before(
        &mut self,
        ends: Ends,
        extent: Atom,
        inner: &mut Statement,
        before: &mut Vec<Statement>,
    ) {
        let Expression::Check {
            condition: inside,
            error,
            ..
        } = &mut inner.expression
        else {
            return;
        };
        let mut code = Code {
            statements: Vec::new(),
            place: inner.place.clone(),
        };
        for (sum, arguments) in ends.parts {
            if self.facts.is_not_negative(&sum) {
                continue;
            }
            let Some(mut condition) = self.not_negative(&sum, &mut code) else {
                return;
            };
            let arguments: Option<Vec<Atom>> = arguments
                .iter()
                .map(|sum| self.sum(sum, &mut code))
                .collect();
            let Some(arguments) = arguments else {
                return;
            };
            if let Atom::Variable(_) = extent {
                let operands = vec![extent, Atom::index(0)];
                let empty = self.compute(ScalarOperation::Equal, operands, &mut code);
                condition = self.either(empty, condition, &mut code);
            }
            code.statements.push(Statement {
                pattern: Vec::new(),
                expression: Expression::Check {
                    condition,
                    error: *error,
                    arguments,
                },
                place: code.place.clone(),
            });
        }
        *inside = Atom::Constant(ScalarValue::Bool(true));
        before.append(&mut code.statements);
    }

    /// Whether a sum is not negative, as code; none where the code might overflow.
    fn not_negative(&mut self, sum: &Affine, code: &mut Code) -> Option<Atom> {
        let (more, less) = sum.sides();
        let (more, less) = (self.sum(&more, code)?, self.sum(&less, code)?);
        Some(self.compute(ScalarOperation::LessEqual, vec![less, more], code))
    }

    /// A sum as code; none where the code might overflow.
    fn sum(&mut self, sum: &Affine, code: &mut Code) -> Option<Atom> {
        let mut known: Option<(Affine, Atom)> = None;
        for (symbol, coefficient) in sum.terms() {
            let term = Affine::symbol(symbol).times(coefficient)?;
            let factor = i64::try_from(coefficient).ok()?;
            let mut value = Atom::Variable(symbol);
            if let Type::Scalar(Scalar::I32) = self.program.ty(symbol) {
                value = self.widened(value, code);
            }
            if factor != 1 {
                let operands = vec![value, Atom::index(factor)];
                value = self.compute(ScalarOperation::Multiply, operands, code);
            }
            let (total, value) = match known {
                None => (term.clone(), value),
                Some((total, before)) => (
                    total.plus(1, &term)?,
                    self.compute(ScalarOperation::Add, vec![before, value], code),
                ),
            };
            if !self.fits(&term, Scalar::I64) || !self.fits(&total, Scalar::I64) {
                return None;
            }
            known = Some((total, value));
        }
        let constant = sum.number();
        if constant.abs() > LARGEST {
            return None;
        }
        let number = Atom::index(i64::try_from(constant).ok()?);
        match known {
            None => Some(number),
            Some((_, value)) if constant == 0 => Some(value),
            Some((_, value)) => {
                let fits = self.fits(sum, Scalar::I64);
                fits.then(|| self.compute(ScalarOperation::Add, vec![value, number], code))
            }
        }
    }

    fn widened(&mut self, value: Atom, code: &mut Code) -> Atom {
        let expression = Expression::Scalar {
            operation: ScalarOperation::Convert(Scalar::I64),
            operand: Scalar::I32,
            arguments: vec![value],
        };
        self.bind(Scalar::I64, expression, code)
    }

    fn compute(
        &mut self,
        operation: ScalarOperation,
        arguments: Vec<Atom>,
        code: &mut Code,
    ) -> Atom {
        let expression = Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments,
        };
        self.bind(operation.result(Scalar::I64), expression, code)
    }

    /// Whether one condition or the other holds.
    fn either(&mut self, one: Atom, other: Atom, code: &mut Code) -> Atom {
        let gives = |result| Body {
            statements: Vec::new(),
            results: vec![result],
        };
        let expression = Expression::If {
            condition: one,
            then: gives(Atom::Constant(ScalarValue::Bool(true))),
            otherwise: gives(other),
        };
        self.bind(Scalar::Bool, expression, code)
    }

    fn bind(&mut self, scalar: Scalar, expression: Expression, code: &mut Code) -> Atom {
        let variable = self.program.add_variable("end", Type::Scalar(scalar));
        code.statements.push(Statement {
            pattern: vec![variable],
            expression,
            place: code.place.clone(),
        });
        Atom::Variable(variable)
    }
}

/// Statements under way.
struct Code {
    statements: Vec<Statement>,
    place: Place,
}
