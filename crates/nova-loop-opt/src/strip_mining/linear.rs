//! Linear forms of addresses: how an index expression in a loop depends on the index of the loop.

use crate::limits::NODES_OF_AN_ADDRESS;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::ir::{Expression, Variable};
use std::collections::BTreeMap;

/// The declarations in the body of a loop, by which an expression of the body can be written in
/// variables from outside the loop.
#[derive(Clone)]
pub(crate) struct Definitions {
    index: Variable,
    values: BTreeMap<Variable, Expression>,
}

/// `symbols + constant + factor · index`.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    /// The summand that is known only at run time and is the same in all iterations.
    pub(crate) symbols: Option<Expression>,
    pub(crate) constant: i64,
    pub(crate) factor: i64,
}

impl Definitions {
    /// Returns the definitions of a loop with this index; there are none yet.
    pub(crate) fn new(index: Variable) -> Self {
        Definitions {
            index,
            values: BTreeMap::new(),
        }
    }

    /// Adds a declaration.
    pub(crate) fn add(&mut self, variable: Variable, value: &Expression) {
        self.values.insert(variable, value.clone());
    }

    /// Returns the value with which a variable was declared in this body, if it was.
    pub(crate) fn value(&self, variable: Variable) -> Option<&Expression> {
        self.values.get(&variable)
    }

    /// Returns the linear form of an `i64` expression, if it has one.
    pub(crate) fn linear(&self, expression: &Expression) -> Option<Linear> {
        let mut left = NODES_OF_AN_ADDRESS;
        deep(|| self.sum(expression, &mut left))
    }

    fn sum(&self, expression: &Expression, left: &mut usize) -> Option<Linear> {
        *left = left.checked_sub(1)?;
        if let Some(constant) = expression.as_index() {
            return Some(Linear::of(None, constant, 0));
        }
        match expression {
            Expression::Variable(variable) if *variable == self.index => {
                Some(Linear::of(None, 0, 1))
            }
            Expression::Variable(variable) => match self.values.get(variable) {
                Some(value) => deep(|| self.sum(value, left)),
                None => Some(Linear::of(Some(expression.clone()), 0, 0)),
            },
            Expression::Scalar {
                operation,
                operand: Scalar::I64,
                arguments,
            } => match (operation, &arguments[..]) {
                (ScalarOperation::Add, [a, b]) => {
                    let (a, b) = (deep(|| self.sum(a, left))?, deep(|| self.sum(b, left))?);
                    a.plus(b)
                }
                (ScalarOperation::Subtract, [a, b]) => {
                    let (a, b) = (deep(|| self.sum(a, left))?, deep(|| self.sum(b, left))?);
                    a.minus(b)
                }
                (ScalarOperation::Multiply, [a, b]) => {
                    let (a, b) = (deep(|| self.sum(a, left))?, deep(|| self.sum(b, left))?);
                    a.times(b)
                }
                _ => self.invariant(expression, left),
            },
            _ => self.invariant(expression, left),
        }
    }

    /// Returns the linear form of an expression that is the same in all iterations, without
    /// variables that the body declares.
    fn invariant(&self, expression: &Expression, left: &mut usize) -> Option<Linear> {
        let mut substituted = expression.clone();
        self.substitute(&mut substituted, left)?;
        Some(Linear::of(Some(substituted), 0, 0))
    }

    fn substitute(&self, expression: &mut Expression, left: &mut usize) -> Option<()> {
        *left = left.checked_sub(1)?;
        match expression {
            Expression::Variable(variable) if *variable == self.index => return None,
            Expression::Variable(variable) => {
                if let Some(value) = self.values.get(variable) {
                    *expression = value.clone();
                    return deep(|| self.substitute(expression, left));
                }
            }
            Expression::Load { .. } | Expression::NodeTag { .. } => return None,
            _ => {}
        }
        for child in expression.children_mut() {
            deep(|| self.substitute(child, left))?;
        }
        Some(())
    }
}

impl Linear {
    fn of(symbols: Option<Expression>, constant: i64, factor: i64) -> Self {
        Linear {
            symbols,
            constant,
            factor,
        }
    }

    fn plus(self, other: Linear) -> Option<Linear> {
        let symbols = match (self.symbols, other.symbols) {
            (Some(a), Some(b)) => Some(a.plus(b)),
            (a, b) => a.or(b),
        };
        Some(Linear {
            symbols,
            constant: self.constant.checked_add(other.constant)?,
            factor: self.factor.checked_add(other.factor)?,
        })
    }

    fn minus(self, other: Linear) -> Option<Linear> {
        let symbols = match (self.symbols, other.symbols) {
            (a, None) => a,
            (a, Some(b)) => Some(a.unwrap_or(Expression::index(0)).minus(b)),
        };
        Some(Linear {
            symbols,
            constant: self.constant.checked_sub(other.constant)?,
            factor: self.factor.checked_sub(other.factor)?,
        })
    }

    /// Returns the product, if it is linear. It is not if both factors depend on the index, or if
    /// one depends on the index and the other has symbols.
    fn times(self, other: Linear) -> Option<Linear> {
        let (sum, scale) = match (&self.symbols, &other.symbols) {
            (_, None) if other.factor == 0 => (self, other.constant),
            (None, _) if self.factor == 0 => (other, self.constant),
            _ if self.factor == 0 && other.factor == 0 => {
                let product = self.start().times(other.start());
                return Some(Linear::of(Some(product), 0, 0));
            }
            _ => return None,
        };
        Some(Linear {
            symbols: sum.symbols.map(|s| s.times(Expression::index(scale))),
            constant: sum.constant.checked_mul(scale)?,
            factor: sum.factor.checked_mul(scale)?,
        })
    }

    /// Returns the value at index 0.
    pub(crate) fn start(&self) -> Expression {
        let constant = Expression::index(self.constant);
        match &self.symbols {
            None => constant,
            Some(symbols) => symbols.clone().plus(constant),
        }
    }

    /// True if it is defined even where no iteration runs.
    pub(crate) fn is_total(&self) -> bool {
        self.symbols.as_ref().is_none_or(is_total)
    }

    /// True if it differs from another one by a constant only.
    pub(crate) fn is_near(&self, other: &Linear) -> bool {
        let same = match (&self.symbols, &other.symbols) {
            (None, None) => true,
            (Some(a), Some(b)) => format!("{a:?}") == format!("{b:?}"),
            _ => false,
        };
        same && self.factor == other.factor
    }

    /// True if it equals another one.
    pub(crate) fn is_same(&self, other: &Linear) -> bool {
        self.constant == other.constant && self.is_near(other)
    }
}

/// True if an expression is defined for all values of its variables.
fn is_total(expression: &Expression) -> bool {
    match expression {
        Expression::Constant(_) | Expression::Variable(_) => true,
        Expression::Scalar {
            operation:
                ScalarOperation::Add
                | ScalarOperation::Subtract
                | ScalarOperation::Multiply
                | ScalarOperation::Minimum
                | ScalarOperation::Maximum,
            operand: Scalar::I64,
            arguments,
        } => arguments.iter().all(|a| deep(|| is_total(a))),
        _ => false,
    }
}
