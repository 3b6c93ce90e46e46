//! What expressions give.

use super::machine::Machine;
use super::{Cell, Pointer, Step, wrong};
use crate::ir::Expression;
use nova_core::{Scalar, ScalarValue, operations};
use nova_diag::deep;

impl Machine<'_> {
    /// The value of an expression.
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Step<Cell> {
        deep(|| self.evaluate_here(expression))
    }

    fn evaluate_here(&mut self, expression: &Expression) -> Step<Cell> {
        Ok(match expression {
            Expression::Constant(value) => Cell::Scalar(*value),
            Expression::Bytes(bytes) => {
                let address = bytes.as_ptr();
                let block = match self.constants.get(&address) {
                    Some(block) => *block,
                    None => {
                        let values = bytes.iter().map(|b| ScalarValue::U8(*b)).collect();
                        let block = self.heap.external(Scalar::U8, values);
                        // Two empty texts may have one address, and then are the same.
                        self.constants.insert(address, block);
                        block
                    }
                };
                Cell::Pointer(Pointer {
                    block: Some(block),
                    index: 0,
                })
            }
            Expression::Variable(variable) => self.get(*variable)?,
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => {
                let mut values = [ScalarValue::Bool(false); 2];
                if arguments.len() != operation.arity() || arguments.len() > values.len() {
                    return wrong("an operation with another number of operands");
                }
                for (value, argument) in values.iter_mut().zip(arguments) {
                    *value = self.evaluate(argument)?.scalar()?;
                    if value.scalar() != *operand {
                        return wrong("an operand of another type");
                    }
                }
                let values = &values[..arguments.len()];
                if operations::failure(*operation, values).is_some() {
                    return wrong(format!(
                        "{} is not defined for {values:?}",
                        operation.short()
                    ));
                }
                Cell::Scalar(operations::evaluate_unchecked(
                    *operation,
                    values,
                    self.program.strict,
                ))
            }
            Expression::Select {
                condition,
                then,
                otherwise,
            } => match self.evaluate(condition)?.bool()? {
                true => self.evaluate(then)?,
                false => self.evaluate(otherwise)?,
            },
            Expression::Load { pointer, index } => {
                let pointer = self.evaluate(pointer)?.pointer()?;
                let index = self.evaluate(index)?.index()?;
                Cell::Scalar(self.heap.load(pointer, index)?)
            }
            Expression::Offset { pointer, index } => {
                let pointer = self.evaluate(pointer)?.pointer()?;
                let index = self.evaluate(index)?.index()?;
                Cell::Pointer(Pointer {
                    block: pointer.block,
                    index: pointer.index.wrapping_add(index),
                })
            }
            Expression::NullPointer(_) => Cell::Pointer(Pointer {
                block: None,
                index: 0,
            }),
            Expression::NullBlock => Cell::Block(None),
            Expression::NodeTag { sum, link } => {
                let link = self.evaluate(link)?.index()?;
                let node = self.node(*sum, link)?;
                Cell::Scalar(ScalarValue::I32(node.constructor as i32))
            }
        })
    }

    /// The values of expressions.
    pub(super) fn evaluate_all(&mut self, expressions: &[Expression]) -> Step<Vec<Cell>> {
        expressions.iter().map(|e| self.evaluate(e)).collect()
    }
}
