//! Facts that hold where a loop runs. A check that has left a loop is `empty or fits`, and a value that has
//! left it is `if empty then 0 else value`. Inside of the loop the condition is known not to hold.

use super::Splitter;
use crate::limits::{GUARDED_FACTS, NAMES_FOLLOWED};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_loop::ir::{Expression, Type, Variable};

/// A fact that holds where a condition does not.
#[derive(Clone)]
pub(super) struct Guarded {
    condition: Expression,
    fact: Fact,
}

#[derive(Clone)]
enum Fact {
    /// An expression is true.
    Holds(Expression),
    /// A variable has the value of an expression.
    Equals(Variable, Expression),
}

impl Splitter<'_> {
    /// Notes the condition of a check that says nothing where a part of it holds.
    pub(super) fn note_check(&mut self, check: &Expression) {
        if let Expression::Select {
            condition,
            then,
            otherwise,
        } = check
            && matches!(**then, Expression::Constant(ScalarValue::Bool(true)))
        {
            let fact = Fact::Holds((**otherwise).clone());
            self.note(condition, fact);
        }
    }

    /// Notes the value of a variable that never changes, if it is a choice.
    pub(super) fn note_choice(&mut self, variable: Variable, value: &Expression) {
        if let Expression::Select {
            condition,
            otherwise,
            ..
        } = value
        {
            let fact = Fact::Equals(variable, (**otherwise).clone());
            self.note(condition, fact);
        }
    }

    fn note(&mut self, condition: &Expression, fact: Fact) {
        if self.guarded.len() < GUARDED_FACTS {
            let condition = condition.clone();
            self.guarded.push(Guarded { condition, fact });
        }
    }

    /// Adds the facts whose conditions are now known not to hold.
    pub(super) fn learn_guarded(&mut self) {
        for k in 0..self.guarded.len() {
            if self.fails(&self.guarded[k].condition, NAMES_FOLLOWED) {
                match self.guarded[k].fact.clone() {
                    Fact::Holds(condition) => self.learn_check(&condition),
                    Fact::Equals(variable, value) => self.learn_equal(variable, &value),
                }
            }
        }
    }

    fn learn_equal(&mut self, variable: Variable, value: &Expression) {
        let is_integer = matches!(
            self.program.variable(variable).ty,
            Type::Scalar(scalar) if scalar != Scalar::Bool
        );
        if let (true, Some(value)) = (is_integer, self.facts.affine(value))
            && value.root != Some(variable)
        {
            self.facts.define(variable, value);
        }
    }

    /// True if a condition is an equality of integers that is known not to hold, or a name of one.
    fn fails(&self, condition: &Expression, names: usize) -> bool {
        match condition {
            Expression::Variable(name) if self.decided.get(name) == Some(&false) => true,
            Expression::Variable(name) if names > 0 => self
                .named
                .get(name)
                .is_some_and(|named| self.fails(named, names - 1)),
            Expression::Scalar {
                operation: ScalarOperation::Equal,
                arguments,
                ..
            } => {
                let [left, right] = &arguments[..] else {
                    return false;
                };
                let sides = self.facts.affine(left).zip(self.facts.affine(right));
                sides.is_some_and(|(left, right)| {
                    self.facts.difference(left, right) < 0 || self.facts.difference(right, left) < 0
                })
            }
            _others => false,
        }
    }
}
