//! Elements that are small numbers: their greatest values, the types that they are computed from,
//! and the same numbers in a narrow type.

use super::converted;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Program, Type, Variable};
use std::collections::HashMap;

/// The expressions of a loop's body.
pub(super) struct Elements<'p> {
    program: &'p Program,
    index: Variable,
    /// The variables that the body declares, with their values.
    declared: HashMap<Variable, &'p Expression>,
}

impl<'p> Elements<'p> {
    /// Returns the expressions of a loop over `index`.
    pub(super) fn new(program: &'p Program, body: &'p [Command], index: Variable) -> Self {
        let declared = body.iter().filter_map(|command| match command {
            Command::Declare {
                variable,
                value: Some(value),
            } => Some((*variable, value)),
            _ => None,
        });
        Elements {
            program,
            index,
            declared: declared.collect(),
        }
    }

    /// Returns the largest value of an expression that is never negative, or none if it may be
    /// larger than sixteen bits hold.
    pub(super) fn most(&self, expression: &Expression) -> Option<i64> {
        deep(|| match expression {
            Expression::Constant(value) => {
                let number = i64::try_from(value.as_integer()?).ok()?;
                (0..=0xffff).contains(&number).then_some(number)
            }
            Expression::Select {
                then, otherwise, ..
            } => Some(self.most(then)?.max(self.most(otherwise)?)),
            Expression::Variable(variable) => match self.declared.get(variable) {
                Some(value) => self.most(value),
                None => self.most_of_type(expression),
            },
            Expression::Scalar {
                operation: ScalarOperation::Convert(to) | ScalarOperation::Wrap(to),
                operand,
                arguments,
            } if to.is_integer() => {
                let value = arguments.first()?;
                let most = match operand {
                    Scalar::Bool => 1,
                    _ => self.most(value)?,
                };
                let room = to.bits() - u32::from(to.is_signed());
                (most < 1i64 << room.min(32)).then_some(most)
            }
            Expression::Scalar {
                operation: ScalarOperation::BitAnd,
                arguments,
                ..
            } => {
                let masks = arguments.iter().filter_map(|a| match a {
                    Expression::Constant(_) => self.most(a),
                    _ => None,
                });
                masks.min().or_else(|| self.most_of_type(expression))
            }
            Expression::Scalar { .. } | Expression::Load { .. } => self.most_of_type(expression),
            _others => None,
        })
    }

    /// Returns the largest value of an expression's type.
    fn most_of_type(&self, expression: &Expression) -> Option<i64> {
        match self.type_of(expression)? {
            Scalar::U8 => Some(0xff),
            Scalar::U16 => Some(0xffff),
            Scalar::I8
            | Scalar::I16
            | Scalar::I32
            | Scalar::I64
            | Scalar::U32
            | Scalar::U64
            | Scalar::F32
            | Scalar::F64
            | Scalar::Bool => None,
        }
    }

    fn type_of(&self, expression: &Expression) -> Option<Scalar> {
        let ty = |variable: Variable| self.program.variable(variable).ty;
        match expression {
            Expression::Constant(value) => Some(value.scalar()),
            Expression::Variable(variable) => match ty(*variable) {
                Type::Scalar(scalar) => Some(scalar),
                Type::Pointer(_) | Type::Block => None,
            },
            Expression::Scalar {
                operation, operand, ..
            } => Some(operation.result(*operand)),
            Expression::Select { then, .. } => deep(|| self.type_of(then)),
            Expression::Load { pointer, .. } => match **pointer {
                Expression::Variable(pointer) => match ty(pointer) {
                    Type::Pointer(element) => Some(element),
                    Type::Scalar(_) | Type::Block => None,
                },
                _ => None,
            },
            _others => None,
        }
    }

    /// Returns the number of bits of the widest type that an expression is computed in, without
    /// addresses. Its own type does not count if it is a conversion or a choice.
    pub(super) fn width(&self, expression: &Expression) -> u32 {
        let inside = |children: &[&Expression]| {
            let widths = children.iter().map(|child| deep(|| self.width(child)));
            widths.max().unwrap_or(8)
        };
        let own = || self.type_of(expression).map_or(64, bits_of);
        match expression {
            Expression::Constant(_) => 8,
            Expression::Variable(variable) if *variable == self.index => 64,
            Expression::Variable(variable) => match self.declared.get(variable) {
                Some(value) => deep(|| self.width(value)),
                None => own(),
            },
            Expression::Scalar {
                operand, arguments, ..
            } => {
                let arguments: Vec<&Expression> = arguments.iter().collect();
                inside(&arguments).max(bits_of(*operand))
            }
            Expression::Select {
                condition,
                then,
                otherwise,
            } => inside(&[condition, then, otherwise]),
            _others => own(),
        }
    }

    /// Returns a small number in a narrow type.
    pub(super) fn narrowed(&self, expression: &Expression, lane: Scalar) -> Expression {
        deep(|| match expression {
            Expression::Constant(value) => {
                let number = value.as_integer().unwrap_or(0);
                Expression::Constant(ScalarValue::from_integer_wrapping(lane, number))
            }
            Expression::Select {
                condition,
                then,
                otherwise,
            } => Expression::Select {
                condition: condition.clone(),
                then: Box::new(self.narrowed(then, lane)),
                otherwise: Box::new(self.narrowed(otherwise, lane)),
            },
            Expression::Variable(variable) if self.declared.contains_key(variable) => {
                match self.declared.get(variable) {
                    Some(Expression::Load { .. }) | None => self.wrapped(expression, lane),
                    Some(value) => self.narrowed(value, lane),
                }
            }
            Expression::Scalar {
                operation: ScalarOperation::Convert(to) | ScalarOperation::Wrap(to),
                operand,
                arguments,
            } if to.is_integer() => match &arguments[..] {
                [value] if *operand == Scalar::Bool => converted(Scalar::Bool, lane, value.clone()),
                [value] => self.narrowed(value, lane),
                _ => expression.clone(),
            },
            other => self.wrapped(other, lane),
        })
    }

    /// Returns a small number of any integer type in a narrow type.
    fn wrapped(&self, expression: &Expression, lane: Scalar) -> Expression {
        match self.type_of(expression) {
            Some(scalar) if scalar != lane => Expression::Scalar {
                operation: ScalarOperation::Wrap(lane),
                operand: scalar,
                arguments: vec![expression.clone()],
            },
            Some(_) | None => expression.clone(),
        }
    }
}

/// Returns the number of bits of a scalar in memory.
fn bits_of(scalar: Scalar) -> u32 {
    scalar.bits().max(8)
}
