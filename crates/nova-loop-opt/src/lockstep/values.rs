//! The values that lanes compute, with the masks that they need.
//!
//! A lane that is switched off may compute anything that has no effect. So a mask is needed where a value may
//! not be defined, and where a variable lives on after the commands of the mask.

use super::block::Block;
use super::varying::{is_total, reads};
use crate::index_set_splitting::expression_size;
use crate::limits::NODES_OF_AN_ADDRESS;
use crate::masks::{MASK, number, on_masks};
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Type, Variable};
use nova_machine::cost::is_simple;

impl Block<'_> {
    /// Adds a variable. It is seen only under the mask of its declaration, so that other lanes may hold any value.
    pub(super) fn declare(&mut self, variable: Variable, value: Option<&Expression>) -> Option<()> {
        if !self.varying.contains(&variable) || self.private.contains(&variable) {
            let value = value.cloned();
            self.made.push(Command::Declare { variable, value });
            self.same.insert(variable);
            return Some(());
        }
        if let Some(value) = value
            && self.is_plain(variable, value)
        {
            let value = self.own(value);
            if expression_size(&value) <= NODES_OF_AN_ADDRESS {
                self.computed.insert(variable, value);
                return Some(());
            }
        }
        let scalar = self.scalar(variable)?;
        let name = self.program.variable(variable).name.to_string();
        let array = self.array(&name, scalar);
        self.arrays.insert(variable, array);
        self.depths.insert(array, self.masks.len());
        let zero = Expression::Constant(ScalarValue::from_integer_wrapping(scalar, 0));
        let value = match value {
            Some(value) => {
                let value = self.shared(value);
                let value = self.gathered(&value)?;
                let value = self.own(&value);
                self.unless_total(value, zero, scalar)
            }
            None => zero,
        };
        self.set(array, value);
        Some(())
    }

    /// Adds a value of a variable that differs between lanes.
    pub(super) fn assign(&mut self, array: Variable, value: Expression, scalar: Scalar) {
        let old = self.at(array);
        let value = match self.depths.get(&array) == Some(&self.masks.len()) {
            true => self.unless_total(value, old, scalar),
            false => match self.mask() {
                // The mask is the 1 that the lanes add.
                Some(mask) if counts(&value, &old) => {
                    on_masks(ScalarOperation::Add, old, self.at(mask))
                }
                _ => self.under_mask(value, old, scalar),
            },
        };
        self.set(array, value);
    }

    /// Returns a value that all lanes compute if it is defined for all operands, and otherwise only the lanes of
    /// the mask.
    pub(super) fn unless_total(
        &mut self,
        value: Expression,
        otherwise: Expression,
        scalar: Scalar,
    ) -> Expression {
        match self.is_total(&value) {
            true => value,
            false => self.under_mask(value, otherwise, scalar),
        }
    }

    /// Returns an expression with variables in place of elements that are the same in all lanes, if some lane
    /// reads them.
    fn shared(&mut self, expression: &Expression) -> Expression {
        let mut shared = expression.clone();
        if self.mask().is_some() && self.occupied {
            self.share(&mut shared);
        }
        shared
    }

    fn share(&mut self, expression: &mut Expression) {
        if let Expression::Load { pointer, .. } = &*expression
            && let Expression::Variable(pointer) = **pointer
            && let Type::Pointer(scalar) = self.program.variable(pointer).ty
            && !reads(&self.varying, expression)
        {
            let name = self.program.variable(pointer).name.clone();
            let variable = self.program.add_variable(name, Type::Scalar(scalar));
            let value = std::mem::replace(expression, Expression::Variable(variable));
            self.made.push(Command::declare(variable, value));
            return;
        }
        // Of a conditional expression only the chosen operand is evaluated.
        let children = match expression {
            Expression::Select { condition, .. } => vec![&mut **condition],
            other => other.children_mut(),
        };
        for child in children {
            deep(|| self.share(child));
        }
    }

    /// Returns the expression for one lane.
    pub(super) fn own(&self, expression: &Expression) -> Expression {
        if let Expression::Variable(variable) = expression
            && let Some(array) = self.arrays.get(variable)
        {
            return self.at(*array);
        }
        if let Expression::Variable(variable) = expression
            && let Some(value) = self.computed.get(variable)
        {
            return value.clone();
        }
        if let Expression::Load { pointer, index } = expression
            && let Expression::Variable(pointer) = **pointer
        {
            let index = self.place_of(pointer, deep(|| self.own(index)));
            return Expression::load(pointer, index);
        }
        let mut own = expression.clone();
        for child in own.children_mut() {
            *child = deep(|| self.own(child));
        }
        own
    }

    /// Returns a value that the lanes of the mask compute, and `otherwise` for the others. A value with functions
    /// that is defined for all operands is computed in all lanes: functions have vector versions, but none under
    /// a mask.
    pub(super) fn under_mask(
        &mut self,
        value: Expression,
        otherwise: Expression,
        scalar: Scalar,
    ) -> Expression {
        let Some(mask) = self.mask() else {
            return value;
        };
        let value = self.apart(value, scalar);
        Expression::Select {
            condition: Box::new(self.is_in(mask)),
            then: Box::new(value),
            otherwise: Box::new(otherwise),
        }
    }

    /// Returns a value for a conditional expression. Functions that are defined for all operands are computed
    /// before it.
    pub(super) fn apart(&mut self, value: Expression, scalar: Scalar) -> Expression {
        match calls_function(&value) && self.is_total(&value) {
            true => {
                let array = self.array("value", scalar);
                self.set(array, value);
                self.at(array)
            }
            false => value,
        }
    }

    /// Returns something if an expression that is the same in all lanes may be computed where the lanes of the
    /// mask are: maybe in none.
    pub(super) fn is_safe(&self, expression: &Expression) -> Option<()> {
        (self.mask().is_none() || self.is_total(expression)).then_some(())
    }

    pub(super) fn is_total(&self, expression: &Expression) -> bool {
        is_total(expression, &self.locals)
    }

    pub(super) fn is_in(&self, mask: Variable) -> Expression {
        on_masks(ScalarOperation::NotEqual, self.at(mask), number(0))
    }

    /// Returns the element of an array for the lane.
    pub(super) fn at(&self, array: Variable) -> Expression {
        Expression::load(array, Expression::Variable(self.lane))
    }
}

/// True if a value is one more than the old one, of the type of masks.
fn counts(value: &Expression, old: &Expression) -> bool {
    let Expression::Scalar {
        operation: ScalarOperation::Add,
        operand: MASK,
        arguments,
    } = value
    else {
        return false;
    };
    matches!(&arguments[..], [one, other] if one == old && *other == number(1))
}

/// True if an expression calls a mathematical function.
fn calls_function(expression: &Expression) -> bool {
    let itself = matches!(expression, Expression::Scalar { operation, operand, .. }
        if !is_simple(*operation, *operand));
    let mut children = expression.children().into_iter();
    itself || children.any(|e| deep(|| calls_function(e)))
}
