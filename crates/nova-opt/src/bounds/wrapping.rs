//! Indices that are sums which may wrap: `b + i` of a narrow integer `b` and the index `i` of an
//! operation.
//!
//! An index that wraps leaves the range of indices first, since it becomes negative. A step is less
//! than half of the numbers of a signed type. So a step from a number that is not negative to a
//! number beyond the type wraps to a negative one. Where every iteration checks the index, all
//! iterations therefore pass exactly if the sum without wrapping stays in range at its ends. The
//! sum starts from its value in the first iteration. It is checked before the operation, and the
//! index becomes a sum of `i64`.

use super::affine::Affine;
use super::code::Code;
use super::conditions::range;
use super::iterations::{Iterations, Requirement, Requirements};
use super::state::Bounds;
use nova_core::{ErrorKind, Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{Atom, Body, Expression, Statement, Type, Variable};

/// The check of an index that may wrap, in every iteration of an operation.
pub(super) struct Wrapped {
    error: ErrorKind,
    /// The index, its type, and the sum that it equals modulo two to the power of its bits.
    index: Variable,
    scalar: Scalar,
    sum: Affine,
    /// The extent that the index stays below.
    extent: Affine,
}

/// The definition of an index. The last of the statements binds it.
pub(super) struct Defined {
    index: Variable,
    statements: Vec<Statement>,
}

impl Bounds<'_> {
    /// Notes the sum that an integer equals, perhaps after wrapping.
    pub(super) fn note_wrapped(&mut self, variable: Variable, sum: &Affine) {
        let Type::Scalar(scalar) = *self.program.ty(variable) else {
            return;
        };
        let Some(mut whole) = Affine::integer(sum.number()) else {
            return;
        };
        for (&symbol, coefficient) in sum.terms() {
            let of_symbol = self.modular.get(&symbol).filter(|_| {
                let ty = self.program.ty(symbol);
                matches!(ty, Type::Scalar(other) if other.bits() >= scalar.bits())
            });
            let term = match of_symbol {
                Some(sum) => sum.clone(),
                None => Affine::variable(symbol),
            };
            match whole.plus(coefficient, &term) {
                Some(sum) => whole = sum,
                None => return,
            }
        }
        self.modular.insert(variable, whole);
    }

    /// Notes that an integer equals its sum without wrapping, if no other number of the integer's
    /// range is congruent to it. `n - m + 1` wraps only to a negative number, so where it is an
    /// extent it has not wrapped.
    pub(super) fn note_exact(&mut self, symbol: Variable) {
        let (Some(sum), Type::Scalar(scalar)) =
            (self.modular.get(&symbol).cloned(), self.program.ty(symbol))
        else {
            return;
        };
        let (Some((smallest, largest)), all) = (range(*scalar), 1 << scalar.bits()) else {
            return;
        };
        let own = Affine::variable(symbol);
        let least = self.facts.least(&own).unwrap_or(smallest).max(smallest);
        let most = self.facts.most(&own).unwrap_or(largest).min(largest);
        let (Some(low), Some(high)) = (self.facts.least(&sum), self.facts.most(&sum)) else {
            return;
        };
        if low > most - all && high < least + all {
            self.facts.at_least(symbol, sum.clone());
            self.facts.at_most(symbol, sum);
        }
    }

    /// Returns the check of an index that may wrap, if a statement of an operation's body is one
    /// that can move.
    pub(super) fn wrapped_index(
        &self,
        statement: &Statement,
        iterations: &Iterations,
    ) -> Option<Wrapped> {
        let Expression::Check {
            condition: Atom::Variable(condition),
            error,
            ..
        } = &statement.expression
        else {
            return None;
        };
        let (value, extent) = self.ranges.get(condition)?;
        let extent = self.value(*extent)?;
        let index = self.value(*value)?.as_variable()?;
        let sum = self.modular.get(&index)?.clone();
        let is_converted = |symbol: Variable| iterations.converted.contains(&symbol);
        if is_converted(index) || sum.variables().any(|symbol| is_converted(*symbol)) {
            return None;
        }
        let Type::Scalar(scalar) = *self.program.ty(index) else {
            return None;
        };
        let (_, largest) = range(scalar).filter(|_| scalar.is_signed())?;
        let steps_are_short = iterations
            .terms(&sum)
            .all(|(_, step)| step.abs() <= largest);
        let is_known = |sum: &Affine| self.is_outside(sum, iterations.start);
        let is_found = steps_are_short
            && iterations.changes(&sum)
            && is_known(&iterations.first(&sum))
            && is_known(&extent);
        is_found.then_some(Wrapped {
            error: *error,
            index,
            scalar,
            sum,
            extent,
        })
    }

    /// Adds the check of an index that may wrap before an operation, in place of the one in its
    /// body. Returns the new definition of the index.
    pub(super) fn wrapped_before(
        &mut self,
        wrapped: &Wrapped,
        iterations: &mut Iterations,
        inner: &mut Statement,
        before: &mut Vec<Statement>,
    ) -> Option<Defined> {
        let mut code = Code {
            statements: Vec::new(),
            place: inner.place.clone(),
        };
        let first = self.first_index(wrapped, iterations, &mut code)?;
        let mut sum = self.value(first)?;
        for (index, step) in iterations.terms(&wrapped.sum) {
            sum = sum.plus(step, &Affine::variable(index))?;
        }
        let (_, largest) = range(wrapped.scalar)?;
        let sums = [
            sum.clone(),
            wrapped.extent.plus(-1, &sum)?.shifted(-1)?,
            sum.negated().shifted(largest)?,
        ];
        let requirements: Option<Vec<Requirement>> = sums
            .iter()
            .map(|requirement| {
                let worst = |sum: &Affine| iterations.at_least(requirement, sum);
                Some((
                    worst(requirement)?,
                    vec![worst(&sum)?, wrapped.extent.clone()],
                ))
            })
            .collect();
        let mut own = Code {
            statements: Vec::new(),
            place: code.place.clone(),
        };
        let value = self.in_iteration(first, wrapped, iterations, &mut own)?;
        let requirements = Requirements {
            unless: Vec::new(),
            sums: requirements?,
        };
        self.check_requirements(&requirements, wrapped.error, iterations, &mut code)?;
        own.statements.push(Statement {
            pattern: vec![wrapped.index],
            expression: Expression::Scalar {
                operation: ScalarOperation::Convert(wrapped.scalar),
                operand: Scalar::I64,
                arguments: vec![value],
            },
            place: own.place.clone(),
        });
        if let Expression::Check { condition, .. } = &mut inner.expression {
            *condition = Atom::Constant(ScalarValue::Bool(true));
        }
        before.append(&mut code.statements);
        Some(Defined {
            index: wrapped.index,
            statements: own.statements,
        })
    }

    /// Adds code that computes the index in the first iteration, as `i64`.
    fn first_index(
        &mut self,
        wrapped: &Wrapped,
        iterations: &Iterations,
        code: &mut Code,
    ) -> Option<Atom> {
        let sum = iterations.first(&wrapped.sum);
        let value = self.sum(&sum, code)?;
        if self.fits(&sum, wrapped.scalar) {
            return Some(self.named(value, &sum));
        }
        let narrow = Expression::Scalar {
            operation: ScalarOperation::Wrap(wrapped.scalar),
            operand: Scalar::I64,
            arguments: vec![value],
        };
        let narrow = self.bind(wrapped.scalar, narrow, code);
        let Atom::Variable(variable) = narrow else {
            return None;
        };
        self.bind_symbol(variable);
        let first = self.widened(narrow, wrapped.scalar, code);
        Some(self.named(first, &Affine::variable(variable)))
    }

    /// Notes the value of a variable that code has bound, and returns the variable.
    fn named(&mut self, value: Atom, sum: &Affine) -> Atom {
        if let Atom::Variable(variable) = value {
            self.values.insert(variable, sum.clone());
        }
        value
    }

    /// Adds code that computes the index in each iteration, as `i64`.
    fn in_iteration(
        &mut self,
        first: Atom,
        wrapped: &Wrapped,
        iterations: &Iterations,
        code: &mut Code,
    ) -> Option<Atom> {
        let mut value = first;
        let terms: Vec<(Variable, i128)> = iterations.terms(&wrapped.sum).collect();
        for (index, step) in terms {
            let mut term = Atom::Variable(index);
            if step != 1 {
                let operands = vec![term, Atom::index(i64::try_from(step).ok()?)];
                term = self.compute(ScalarOperation::Multiply, operands, code);
            }
            value = self.compute(ScalarOperation::Add, vec![value, term], code);
        }
        Some(value)
    }
}

/// Replaces the definitions of indices in a body.
pub(super) fn define(body: &mut Body, mut defined: Vec<Defined>) {
    if defined.is_empty() {
        return;
    }
    let mut statements = Vec::with_capacity(body.statements.len());
    for statement in std::mem::take(&mut body.statements) {
        let found = defined.iter().position(|d| statement.pattern == [d.index]);
        match found {
            Some(found) => statements.append(&mut defined.swap_remove(found).statements),
            None => statements.push(statement),
        }
    }
    body.statements = statements;
}
