//! Comparisons, conditionals and loops, for computations about chunks.

use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir::{Atom, Body, Expression, Lambda, Level, Output, Type, Variable};
use nova_flat::visit::{Substitution, fresh_copy};

impl Writer<'_> {
    /// Writes a comparison of integers.
    pub fn compare(&mut self, operation: ScalarOperation, left: Atom, right: Atom) -> Atom {
        self.compute(operation, Scalar::I64, &[left, right], Scalar::Bool)
    }

    /// Computes whether other threads wait for work.
    pub(crate) fn may_split(&mut self) -> Atom {
        let splits = self.fresh("splits", Scalar::Bool);
        self.push(vec![splits], Expression::MaySplit);
        Atom::Variable(splits)
    }

    /// Converts true to 1, and false to 0.
    pub(crate) fn as_number(&mut self, condition: Atom) -> Atom {
        let operation = ScalarOperation::Convert(Scalar::I64);
        self.compute(operation, Scalar::Bool, &[condition], Scalar::I64)
    }

    /// Binds the pattern to the results of one of two bodies.
    pub(crate) fn choose(
        &mut self,
        pattern: Vec<Variable>,
        condition: Atom,
        then: impl FnOnce(&mut Self) -> Vec<Atom>,
        otherwise: impl FnOnce(&mut Self) -> Vec<Atom>,
    ) {
        let then = self.body(then);
        let otherwise = self.body(otherwise);
        self.push(
            pattern,
            Expression::If {
                condition,
                then,
                otherwise,
            },
        );
    }

    /// Returns the result of one of two bodies, a scalar.
    pub fn choose_one(
        &mut self,
        condition: Atom,
        scalar: Scalar,
        then: impl FnOnce(&mut Self) -> Atom,
        otherwise: impl FnOnce(&mut Self) -> Atom,
    ) -> Atom {
        let chosen = self.fresh("chosen", scalar);
        self.choose(
            vec![chosen],
            condition,
            |code| vec![then(code)],
            |code| vec![otherwise(code)],
        );
        Atom::Variable(chosen)
    }

    /// Writes a choice between two ways to bind a pattern. Each way binds variables of its own like the
    /// pattern.
    pub fn choose_way(
        &mut self,
        pattern: &[Variable],
        condition: Atom,
        then: impl FnOnce(&mut Self, Vec<Variable>),
        otherwise: impl FnOnce(&mut Self, Vec<Variable>),
    ) {
        let then = self.branch(pattern, then);
        let otherwise = self.branch(pattern, otherwise);
        let choice = Expression::If {
            condition,
            then,
            otherwise,
        };
        self.push(pattern.to_vec(), choice);
    }

    /// Computes whether both of two conditions hold.
    pub fn both(&mut self, one: Atom, other: Atom) -> Atom {
        let no = Atom::Constant(ScalarValue::Bool(false));
        let yes = Atom::Constant(ScalarValue::Bool(true));
        match (one, other) {
            (one, other) if one == no || other == no => no,
            (one, other) if one == yes => other,
            (one, other) if other == yes => one,
            (one, other) => self.choose_one(one, Scalar::Bool, |_| other, |_| no),
        }
    }

    /// Writes a loop: while `condition` holds of the states, they become what `body` gives. Each state
    /// has a name, a type and a start value. Returns the last states.
    pub(crate) fn repeat(
        &mut self,
        states: Vec<(&str, Type, Atom)>,
        condition: impl FnOnce(&mut Self, &[Atom]) -> Atom,
        body: impl FnOnce(&mut Self, &[Atom]) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let mut parameters = Vec::new();
        let mut pattern = Vec::new();
        for (name, ty, start) in states {
            parameters.push((self.program.add_variable(name, ty.clone()), start));
            pattern.push(self.program.add_variable(name, ty));
        }
        let current: Vec<Atom> = parameters.iter().map(|(v, _)| Atom::Variable(*v)).collect();
        let condition = self.body(|code| vec![condition(code, &current)]);
        let body = self.body(|code| body(code, &current));
        let results = pattern.iter().map(|v| Atom::Variable(*v)).collect();
        self.push(
            pattern,
            Expression::While {
                parameters,
                condition,
                body,
            },
        );
        results
    }

    /// Writes a loop that halves an interval of numbers until it is empty: `halve` computes the ends of
    /// the next one. Returns where the last one begins.
    pub(crate) fn bisect(
        &mut self,
        (low, high): (Atom, Atom),
        halve: impl FnOnce(&mut Self, [Atom; 2]) -> [Atom; 2],
    ) -> Atom {
        let number = Type::Scalar(Scalar::I64);
        let states = vec![("low", number.clone(), low), ("high", number, high)];
        let found = self.repeat(
            states,
            |code, states| match *states {
                [low, high] => code.compare(ScalarOperation::Less, low, high),
                _ => Atom::Constant(ScalarValue::Bool(false)),
            },
            |code, states| match *states {
                [low, high] => halve(code, [low, high]).to_vec(),
                _ => Vec::new(),
            },
        );
        found.first().copied().unwrap_or(low)
    }

    /// Writes a map to a vector, whose elements `element` computes from their indices.
    pub(crate) fn map(
        &mut self,
        to: Variable,
        level: Level,
        element: impl FnOnce(&mut Self, Atom) -> Atom,
    ) {
        let count = self.program.ty(to).shape().first().copied();
        let count = count.unwrap_or(Atom::index(0));
        let index = self.fresh("i", Scalar::I64);
        let body = self.body(|code| vec![element(code, Atom::Variable(index))]);
        self.operation(vec![to], count, index, level, body, vec![Output::Map]);
    }

    /// Returns a body of the statements that `write` writes and the results that it gives.
    pub fn body(&mut self, write: impl FnOnce(&mut Self) -> Vec<Atom>) -> Body {
        let (statements, results) = self.apart(write);
        Body {
            statements,
            results,
        }
    }

    /// Writes the body of a lambda for arguments, with new variables. Returns its results.
    pub(crate) fn apply(&mut self, lambda: &Lambda, arguments: &[Atom]) -> Vec<Atom> {
        let mut substitution = Substitution::default();
        for (parameter, argument) in lambda.parameters.iter().zip(arguments) {
            substitution.insert(*parameter, *argument);
        }
        let mut body = fresh_copy(self.program, &lambda.body, &mut substitution);
        self.out.append(&mut body.statements);
        std::mem::take(&mut body.results)
    }

    /// Reads an element of an array.
    pub fn element(&mut self, array: Variable, index: Atom) -> Atom {
        let value = self.fresh("value", self.program.ty(array).element());
        let indices = vec![index];
        self.push(vec![value], Expression::Index { array, indices });
        Atom::Variable(value)
    }

    /// Returns the least power of two that is not below a positive number.
    pub(crate) fn power_of_two(&mut self, number: Atom) -> Atom {
        let mut bits = self.scalar(ScalarOperation::Subtract, number, Atom::index(1));
        for shift in [1, 2, 4, 8, 16, 32] {
            let shifted = self.scalar(ScalarOperation::ShiftRight, bits, Atom::index(shift));
            bits = self.scalar(ScalarOperation::BitOr, bits, shifted);
        }
        self.scalar(ScalarOperation::Add, bits, Atom::index(1))
    }

    /// Clamps a number of chunks to the least and the most that there may be, so that later stages know
    /// these. Then arrays with an element for each chunk lie on the stack.
    pub(crate) fn within(&mut self, count: Atom, least: i64, most: i64) -> Atom {
        let count = self.scalar(ScalarOperation::Minimum, count, Atom::index(most));
        self.scalar(ScalarOperation::Maximum, count, Atom::index(least))
    }
}
