//! Checks of inequalities that are affine in the indices of an operation. Where every iteration
//! reaches a check, it holds in all iterations if it holds in the first and the last. It is then
//! made once before the operation.

use super::affine::Affine;
use super::code::Code;
use super::condition::Condition;
use super::conditions::range;
use super::iterations::{Iterations, Requirement, Requirements};
use super::state::Bounds;
use nova_core::{ErrorKind, Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{ArrayOperation, Atom, Body, Expression, Statement, Type, Variable};
use std::collections::BTreeSet;

/// The largest constant in a check that is made before an operation.
const LARGEST_CONSTANT: i128 = 1 << 40;

impl Bounds<'_> {
    /// Takes checks out of an operation. Returns the statements that replace them before it. The
    /// bodies of the operation have been walked. Symbols that were bound before it have positions
    /// below `start`.
    pub(super) fn checks_at_ends(
        &mut self,
        statement: &mut Statement,
        start: usize,
    ) -> Vec<Statement> {
        let mut before = Vec::new();
        let Expression::Operation(operation) = &statement.expression else {
            return before;
        };
        let checks = operation.body.statements.iter();
        let mut checks = checks.filter(|s| matches!(s.expression, Expression::Check { .. }));
        if checks.next().is_none() {
            return before;
        }
        let Some(mut iterations) = self.iterations(operation, start) else {
            return before;
        };
        let effects = self.effects.of(&statement.expression);
        if effects.observable || effects.endless {
            return before;
        }
        if let Expression::Operation(operation) = &mut statement.expression {
            let mut defined = Vec::new();
            for inner in &mut operation.body.statements {
                if let Some(requirements) = self.ends(inner, &iterations)
                    && self.check_before(&requirements, &mut iterations, inner, &mut before)
                {
                    continue;
                }
                let wrapped = self.wrapped_index(inner, &iterations);
                let index = wrapped
                    .and_then(|w| self.wrapped_before(&w, &mut iterations, inner, &mut before));
                match index {
                    Some(index) => defined.push(index),
                    None => iterations.converted.extend(self.converted_by(inner)),
                }
            }
            super::wrapping::define(&mut operation.body, defined);
        }
        before
    }

    /// Returns the iterations of an operation, unless it is known to have none.
    fn iterations(&self, operation: &ArrayOperation, start: usize) -> Option<Iterations> {
        let (mut indices, mut extents) = (Vec::new(), BTreeSet::new());
        for (index, extent) in operation.indices.iter().zip(&operation.shape) {
            match extent {
                Atom::Constant(value) if value.as_integer() <= Some(0) => return None,
                Atom::Constant(_) => {}
                Atom::Variable(extent) => {
                    extents.insert(*extent);
                }
            }
            indices.push((*index, self.value(*extent)?.shifted(-1)?));
        }
        Some(Iterations {
            indices,
            extents,
            start,
            checked: Vec::new(),
            converted: BTreeSet::new(),
        })
    }

    /// Returns the symbols of the number that a statement checks to fit a type.
    fn converted_by(&self, statement: &Statement) -> Vec<Variable> {
        let Expression::Check {
            condition: Atom::Variable(condition),
            ..
        } = &statement.expression
        else {
            return Vec::new();
        };
        let number = self.fitting.get(condition);
        number.map_or(Vec::new(), |(number, _)| {
            number.variables().copied().collect()
        })
    }

    /// Returns the conditions at the ends under which a check of an operation's body holds in all
    /// iterations.
    fn ends(&self, statement: &Statement, iterations: &Iterations) -> Option<Requirements> {
        let Expression::Check {
            condition: Atom::Variable(condition),
            arguments,
            ..
        } = &statement.expression
        else {
            return None;
        };
        let outside = |sum: &Affine| self.is_outside(sum, iterations.start);
        let (mut unless, mut condition) = (Vec::new(), condition);
        while let Some((exception, other)) = self.unless.get(condition) {
            if !exception.tests(&outside) {
                return None;
            }
            unless.push(exception.clone());
            condition = other;
        }
        let sums = match self.ranges.get(condition) {
            Some((value, extent)) => {
                let (value, extent) = (self.value(*value)?, self.value(*extent)?);
                vec![value.clone(), extent.plus(-1, &value)?.shifted(-1)?]
            }
            None => match (self.fitting.get(condition), self.conditions.get(condition)) {
                (Some((number, to)), _) => {
                    let (smallest, largest) = range(*to)?;
                    let below = number.negated().shifted(largest)?;
                    vec![number.shifted(-smallest)?, below]
                }
                (None, Some(Condition::NotNegative(sum))) => vec![sum.clone()],
                (
                    None,
                    Some(
                        Condition::Zero(_)
                        | Condition::Not(_)
                        | Condition::Both(_)
                        | Condition::Unknown,
                    )
                    | None,
                ) => return None,
            },
        };
        let mut symbols = sums.iter().flat_map(Affine::variables);
        let varies = sums.iter().any(|sum| iterations.changes(sum));
        if !varies || symbols.any(|symbol| iterations.converted.contains(symbol)) {
            return None;
        }
        let sums = sums.iter().map(|sum| {
            let worst = |other: &Affine| iterations.at_least(sum, other).filter(outside);
            let arguments = arguments.iter().map(|a| worst(&self.value(*a)?));
            Some((worst(sum)?, arguments.collect::<Option<Vec<Affine>>>()?))
        });
        let sums = sums.collect::<Option<Vec<Requirement>>>()?;
        Some(Requirements { unless, sums })
    }

    /// True if all symbols of a sum were bound before the position `start`, and none of them is a
    /// `u64`.
    pub(super) fn is_outside(&self, sum: &Affine, start: usize) -> bool {
        sum.variables().all(|&symbol| {
            let before = self.order.get(&symbol).is_some_and(|place| *place < start);
            before
                && matches!(self.program.ty(symbol), Type::Scalar(scalar) if *scalar != Scalar::U64)
        })
    }

    /// Adds a check before an operation, in place of one in its body. Returns true if that is
    /// possible.
    fn check_before(
        &mut self,
        requirements: &Requirements,
        iterations: &mut Iterations,
        inner: &mut Statement,
        before: &mut Vec<Statement>,
    ) -> bool {
        let Expression::Check {
            condition: inside,
            error,
            ..
        } = &mut inner.expression
        else {
            return false;
        };
        let mut code = Code {
            statements: Vec::new(),
            place: inner.place.clone(),
        };
        let checked = self
            .check_requirements(requirements, *error, iterations, &mut code)
            .is_some();
        if checked {
            *inside = Atom::Constant(ScalarValue::Bool(true));
            before.append(&mut code.statements);
        }
        checked
    }

    /// Checks that sums are not negative, if there are iterations. Returns `None` where the code
    /// might overflow.
    pub(super) fn check_requirements(
        &mut self,
        requirements: &Requirements,
        error: ErrorKind,
        iterations: &mut Iterations,
        code: &mut Code,
    ) -> Option<()> {
        let mut checked = Vec::new();
        for (sum, arguments) in &requirements.sums {
            if self.facts.is_not_negative(sum) || iterations.checked.contains(sum) {
                continue;
            }
            if requirements.unless.is_empty() {
                checked.push(sum.clone());
            }
            let mut condition = self.not_negative(sum, code)?;
            let arguments: Option<Vec<Atom>> =
                arguments.iter().map(|sum| self.sum(sum, code)).collect();
            let arguments = arguments?;
            for exception in &requirements.unless {
                let exception = self.test(exception, code)?;
                condition = self.either(exception, condition, code);
            }
            for extent in &iterations.extents {
                let operands = vec![Atom::Variable(*extent), Atom::index(0)];
                let empty = self.compute(ScalarOperation::Equal, operands, code);
                condition = self.either(empty, condition, code);
            }
            code.statements.push(Statement {
                pattern: Vec::new(),
                expression: Expression::Check {
                    condition,
                    error,
                    arguments,
                },
                place: code.place.clone(),
            });
        }
        iterations.checked.append(&mut checked);
        Some(())
    }

    /// Adds code that tests a condition ([`Condition::tests`]). Returns `None` where the code might overflow.
    fn test(&mut self, condition: &Condition, code: &mut Code) -> Option<Atom> {
        match condition {
            Condition::NotNegative(sum) => self.not_negative(sum, code),
            Condition::Zero(sum) => {
                let (more, less) = sum.sides();
                let sides = vec![self.sum(&more, code)?, self.sum(&less, code)?];
                Some(self.compute(ScalarOperation::Equal, sides, code))
            }
            Condition::Not(inner) => {
                let holds = self.test(inner, code)?;
                let [yes, no] = [true, false].map(|b| Atom::Constant(ScalarValue::Bool(b)));
                Some(self.choice(holds, no, yes, code))
            }
            Condition::Both(both) => {
                let one = self.test(&both[0], code)?;
                let other = self.test(&both[1], code)?;
                Some(self.and(one, other, code))
            }
            Condition::Unknown => None,
        }
    }

    /// Adds code that tests whether a sum is not negative. Returns `None` where the code might
    /// overflow.
    fn not_negative(&mut self, sum: &Affine, code: &mut Code) -> Option<Atom> {
        let (more, less) = sum.sides();
        let (more, less) = (self.sum(&more, code)?, self.sum(&less, code)?);
        Some(self.compute(ScalarOperation::LessEqual, vec![less, more], code))
    }

    /// Adds code that computes a sum. Returns `None` where the code might overflow.
    pub(super) fn sum(&mut self, sum: &Affine, code: &mut Code) -> Option<Atom> {
        let mut known: Option<(Affine, Atom)> = None;
        for (&symbol, coefficient) in sum.terms() {
            let term = Affine::variable(symbol).times(coefficient)?;
            let factor = i64::try_from(coefficient).ok()?;
            let mut value = Atom::Variable(symbol);
            if let Type::Scalar(scalar) = *self.program.ty(symbol)
                && scalar != Scalar::I64
            {
                value = self.widened(value, scalar, code);
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
        if constant.abs() > LARGEST_CONSTANT {
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

    /// Adds code that converts an integer to `i64`.
    pub(super) fn widened(&mut self, value: Atom, scalar: Scalar, code: &mut Code) -> Atom {
        let expression = Expression::Scalar {
            operation: ScalarOperation::Convert(Scalar::I64),
            operand: scalar,
            arguments: vec![value],
        };
        self.bind(Scalar::I64, expression, code)
    }

    /// Replaces the widening of a narrow sum that does not wrap by a sum of `i64`, so that later
    /// passes find plain sums. Returns the statements that must precede it.
    pub(super) fn widen(&mut self, statement: &mut Statement) -> Vec<Statement> {
        let mut code = Code {
            statements: Vec::new(),
            place: statement.place.clone(),
        };
        let Expression::Scalar {
            operation: ScalarOperation::Convert(Scalar::I64),
            operand,
            arguments,
        } = &statement.expression
        else {
            return Vec::new();
        };
        let ([Atom::Variable(narrow)], true) = (&arguments[..], operand.is_integer()) else {
            return Vec::new();
        };
        let sum = match self.values.get(narrow) {
            Some(sum) if sum.as_variable() != Some(*narrow) => sum.clone(),
            _ => return Vec::new(),
        };
        match self.sum(&sum, &mut code) {
            Some(value) => {
                statement.expression = Expression::Atom(value);
                code.statements
            }
            None => Vec::new(),
        }
    }

    /// Adds an operation on `i64`.
    pub(super) fn compute(
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

    /// Adds code that tests whether one condition or the other holds.
    fn either(&mut self, one: Atom, other: Atom, code: &mut Code) -> Atom {
        self.choice(one, Atom::Constant(ScalarValue::Bool(true)), other, code)
    }

    /// Adds code that tests whether both conditions hold.
    pub(super) fn and(&mut self, one: Atom, other: Atom, code: &mut Code) -> Atom {
        self.choice(one, other, Atom::Constant(ScalarValue::Bool(false)), code)
    }

    /// Adds code that selects one of two truth values by a condition.
    fn choice(&mut self, condition: Atom, then: Atom, otherwise: Atom, code: &mut Code) -> Atom {
        let gives = |result| Body {
            statements: Vec::new(),
            results: vec![result],
        };
        let expression = Expression::If {
            condition,
            then: gives(then),
            otherwise: gives(otherwise),
        };
        self.bind(Scalar::Bool, expression, code)
    }

    /// Binds the value of an expression to a new variable.
    pub(super) fn bind(&mut self, scalar: Scalar, expression: Expression, code: &mut Code) -> Atom {
        let variable = self.program.add_variable("end", Type::Scalar(scalar));
        code.statements
            .push(Statement::binding(variable, expression, code.place.clone()));
        Atom::Variable(variable)
    }
}
