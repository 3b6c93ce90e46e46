//! Construction and inspection of expressions of Loop. Constants in addresses are folded during
//! construction.

use crate::ir::{Expression, Variable};
use nova_core::{Scalar, ScalarOperation, ScalarValue, operations};
use nova_diag::deep;
use std::collections::BTreeMap;

impl Expression {
    /// Returns an `i64` constant.
    pub fn index(value: i64) -> Self {
        Expression::Constant(ScalarValue::I64(value))
    }

    /// Returns a bool constant.
    pub fn bool(value: bool) -> Self {
        Expression::Constant(ScalarValue::Bool(value))
    }

    /// Returns the value of an `i64` constant.
    pub fn as_index(&self) -> Option<i64> {
        if let Expression::Constant(ScalarValue::I64(value)) = self {
            return Some(*value);
        }
        None
    }

    /// True if it is a constant or a variable, whose repeated evaluation costs nothing.
    pub fn is_simple(&self) -> bool {
        match self {
            Expression::Constant(_)
            | Expression::Variable(_)
            | Expression::NullBlock
            | Expression::NullPointer(_) => true,
            Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::Scalar { .. }
            | Expression::Select { .. }
            | Expression::Load { .. }
            | Expression::Offset { .. }
            | Expression::NodeTag { .. } => false,
        }
    }

    /// Returns an operation on `i64`s, folded if both operands are constants or one is neutral.
    pub fn on_index(operation: ScalarOperation, left: Expression, right: Expression) -> Self {
        if let (Some(a), Some(b)) = (left.as_index(), right.as_index())
            && !(b == 0 && operation == ScalarOperation::Divide)
        {
            let arguments = [ScalarValue::I64(a), ScalarValue::I64(b)];
            return Expression::Constant(operations::evaluate_unchecked(
                operation, &arguments, true,
            ));
        }
        match (operation, left.as_index(), right.as_index()) {
            (ScalarOperation::Add, Some(0), _) | (ScalarOperation::Multiply, Some(1), _) => right,
            (ScalarOperation::Add | ScalarOperation::Subtract, _, Some(0))
            | (ScalarOperation::Multiply, _, Some(1)) => left,
            // Expressions have no side effects, so an operand may be dropped.
            (ScalarOperation::Multiply, Some(0), _) | (ScalarOperation::Multiply, _, Some(0)) => {
                Expression::index(0)
            }
            (ScalarOperation::Add, _, Some(b)) if b < 0 && b != i64::MIN => {
                Expression::binary(ScalarOperation::Subtract, left, Expression::index(-b))
            }
            _ => Expression::binary(operation, left, right),
        }
    }

    /// Returns an operation on `i64`s without folding.
    fn binary(operation: ScalarOperation, left: Expression, right: Expression) -> Self {
        Expression::Scalar {
            operation,
            operand: Scalar::I64,
            arguments: vec![left, right],
        }
    }

    /// Returns the sum of two `i64`s.
    pub fn plus(self, right: Expression) -> Self {
        Expression::on_index(ScalarOperation::Add, self, right)
    }

    /// Returns the difference of two `i64`s.
    pub fn minus(self, right: Expression) -> Self {
        Expression::on_index(ScalarOperation::Subtract, self, right)
    }

    /// Returns the product of two `i64`s.
    pub fn times(self, right: Expression) -> Self {
        Expression::on_index(ScalarOperation::Multiply, self, right)
    }

    /// Returns a comparison or another operation of two `i64`s.
    pub fn compare(self, operation: ScalarOperation, right: Expression) -> Self {
        Expression::on_index(operation, self, right)
    }

    /// Returns the negation of a bool. A comparison that has an opposite becomes the opposite.
    pub fn negated(self) -> Self {
        use ScalarOperation as O;
        match self {
            Expression::Constant(ScalarValue::Bool(value)) => Expression::bool(!value),
            Expression::Scalar {
                operation: O::Not,
                mut arguments,
                ..
            } if arguments.len() == 1 => arguments.remove(0),
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } if operation.opposite(operand).is_some() => Expression::Scalar {
                operation: operation.opposite(operand).unwrap_or(operation),
                operand,
                arguments,
            },
            other => Expression::Scalar {
                operation: O::Not,
                operand: Scalar::Bool,
                arguments: vec![other],
            },
        }
    }

    /// Returns the conjunction of two bools; the second is evaluated only if the first holds.
    pub fn and(self, right: Expression) -> Self {
        Expression::Select {
            condition: Box::new(self),
            then: Box::new(right),
            otherwise: Box::new(Expression::bool(false)),
        }
    }

    /// Returns the disjunction of two bools; the second is evaluated only if the first does not hold.
    pub fn or(self, right: Expression) -> Self {
        Expression::Select {
            condition: Box::new(self),
            then: Box::new(Expression::bool(true)),
            otherwise: Box::new(right),
        }
    }

    /// Returns the element at `index` from `pointer` on.
    pub fn load(pointer: Variable, index: Expression) -> Self {
        Expression::Load {
            pointer: Box::new(Expression::Variable(pointer)),
            index: Box::new(index),
        }
    }

    /// Returns the pointer `index` elements after `pointer`.
    pub fn offset(pointer: Variable, index: Expression) -> Self {
        let pointer = Expression::Variable(pointer);
        if index.as_index() == Some(0) {
            return pointer;
        }
        Expression::Offset {
            pointer: Box::new(pointer),
            index: Box::new(index),
            extent: None,
        }
    }

    /// Returns the array of `extent` elements that begins `index` elements after `pointer`.
    pub fn part(pointer: Variable, index: Expression, extent: Expression) -> Self {
        Expression::Offset {
            pointer: Box::new(Expression::Variable(pointer)),
            index: Box::new(index),
            extent: Some(Box::new(extent)),
        }
    }

    /// True if it is an array that is a part of another array.
    pub fn is_part(&self) -> bool {
        matches!(
            self,
            Expression::Offset {
                extent: Some(_),
                ..
            }
        )
    }

    /// Calls `visit` on the variables and constants from which a pointer is computed: those of offsets and of
    /// both sides of choices.
    pub fn each_base<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        match self {
            Expression::Offset { pointer, .. } => deep(|| pointer.each_base(visit)),
            Expression::Select {
                then, otherwise, ..
            } => {
                deep(|| then.each_base(visit));
                deep(|| otherwise.each_base(visit));
            }
            Expression::Variable(_)
            | Expression::Constant(_)
            | Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::Scalar { .. }
            | Expression::Load { .. }
            | Expression::NullPointer(_)
            | Expression::NullBlock
            | Expression::NodeTag { .. } => visit(self),
        }
    }

    /// Returns the variables from which a pointer is computed.
    pub fn pointers(&self) -> Vec<Variable> {
        let mut found = Vec::new();
        self.each_base(&mut |base| {
            if let Expression::Variable(variable) = base {
                found.push(*variable);
            }
        });
        found
    }

    /// Returns the expressions directly inside.
    pub fn children(&self) -> Vec<&Expression> {
        match self {
            Expression::Constant(_)
            | Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::Variable(_)
            | Expression::NullPointer(_)
            | Expression::NullBlock => Vec::new(),
            Expression::Scalar { arguments, .. } => arguments.iter().collect(),
            Expression::Select {
                condition,
                then,
                otherwise,
            } => vec![condition, then, otherwise],
            Expression::Load { pointer, index } => vec![pointer, index],
            Expression::Offset {
                pointer,
                index,
                extent,
            } => [pointer, index]
                .into_iter()
                .chain(extent)
                .map(|e| &**e)
                .collect(),
            Expression::NodeTag { link, .. } => vec![link],
        }
    }

    /// Returns the expressions directly inside, to change them.
    pub fn children_mut(&mut self) -> Vec<&mut Expression> {
        match self {
            Expression::Constant(_)
            | Expression::Bytes(_)
            | Expression::Data(..)
            | Expression::Variable(_)
            | Expression::NullPointer(_)
            | Expression::NullBlock => Vec::new(),
            Expression::Scalar { arguments, .. } => arguments.iter_mut().collect(),
            Expression::Select {
                condition,
                then,
                otherwise,
            } => vec![condition, then, otherwise],
            Expression::Load { pointer, index } => vec![pointer, index],
            Expression::Offset {
                pointer,
                index,
                extent,
            } => {
                let all = [pointer, index].into_iter().chain(extent);
                all.map(|e| &mut **e).collect()
            }
            Expression::NodeTag { link, .. } => vec![link],
        }
    }

    /// Replaces the variables that are keys of the table.
    pub fn rename(&mut self, variables: &BTreeMap<Variable, Variable>) {
        if let Expression::Variable(variable) = self
            && let Some(new) = variables.get(variable)
        {
            *variable = *new;
        }
        for child in self.children_mut() {
            deep(|| child.rename(variables));
        }
    }

    /// True if it reads an element of memory.
    pub fn reads_memory(&self) -> bool {
        let mut children = self.children().into_iter();
        matches!(self, Expression::Load { .. })
            || children.any(|child| deep(|| child.reads_memory()))
    }

    /// Calls `visit` on every variable it reads.
    pub fn each_variable(&self, visit: &mut dyn FnMut(Variable)) {
        if let Expression::Variable(variable) = self {
            visit(*variable);
        }
        for child in self.children() {
            deep(|| child.each_variable(visit));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_fold() {
        let i = || Expression::Variable(Variable(0));
        assert!(matches!(
            Expression::index(0).plus(i().times(Expression::index(1))),
            Expression::Variable(_)
        ));
        assert_eq!(
            Expression::index(2)
                .times(Expression::index(3))
                .plus(Expression::index(-1))
                .as_index(),
            Some(5)
        );
        assert!(matches!(
            i().plus(Expression::index(-1)),
            Expression::Scalar {
                operation: ScalarOperation::Subtract,
                ..
            }
        ));
    }

    #[test]
    fn negations() {
        let less = |operand| Expression::Scalar {
            operation: ScalarOperation::Less,
            operand,
            arguments: vec![Expression::index(0), Expression::index(1)],
        };
        let operation = |e: Expression| match e {
            Expression::Scalar { operation, .. } => Some(operation),
            _ => None,
        };
        assert_eq!(
            operation(less(Scalar::I64).negated()),
            Some(ScalarOperation::GreaterEqual)
        );
        assert_eq!(
            operation(less(Scalar::F32).negated()),
            Some(ScalarOperation::Not)
        );
        assert_eq!(
            operation(less(Scalar::F32).negated().negated()),
            Some(ScalarOperation::Less)
        );
    }
}
