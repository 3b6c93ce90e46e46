//! Evaluation of expressions.

use super::machine::Machine;
use super::{Cell, Pointer, Step, wrong};
use crate::ir::Expression;
use nova_core::{Scalar, ScalarOperation, ScalarValue, operations};
use nova_diag::deep;

impl Machine<'_> {
    /// Returns the value of an expression.
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Step<Cell> {
        deep(|| self.evaluate_here(expression))
    }

    fn evaluate_here(&mut self, expression: &Expression) -> Step<Cell> {
        Ok(match expression {
            Expression::Constant(value) => Cell::Scalar(*value),
            Expression::Bytes(bytes) => self.constant(bytes.as_ptr(), Scalar::U8, || {
                bytes.iter().map(|b| ScalarValue::U8(*b)).collect()
            }),
            Expression::Data(element, values) => {
                let at = values.as_ptr().cast();
                self.constant(at, *element, || values.to_vec())
            }
            Expression::Variable(variable) => self.get(*variable)?,
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => self.operation(*operation, *operand, arguments)?,
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
            Expression::Offset {
                pointer,
                index,
                extent,
            } => {
                let mut pointer = self.evaluate(pointer)?.pointer()?;
                let index = self.evaluate(index)?.index()?;
                pointer.index = pointer.index.wrapping_add(index);
                if let Some(extent) = extent {
                    let extent = self.evaluate(extent)?.index()?;
                    let end = pointer.index.saturating_add(extent);
                    pointer.bounds = Some((pointer.index, end));
                }
                Cell::Pointer(pointer)
            }
            Expression::NullPointer(_) => Cell::Pointer(Pointer::null()),
            Expression::NullBlock => Cell::Block(None),
            Expression::NodeTag { sum, link } => {
                let link = self.evaluate(link)?.index()?;
                let node = self.node(*sum, link)?;
                Cell::Scalar(ScalarValue::I32(node.constructor as i32))
            }
        })
    }

    /// Returns a pointer to a constant array.
    fn constant(
        &mut self,
        at: *const u8,
        element: Scalar,
        values: impl FnOnce() -> Vec<ScalarValue>,
    ) -> Cell {
        // Two empty texts may have the same address, and then share a block.
        let heap = &mut self.heap;
        let block = self.constants.entry(at);
        let block = block.or_insert_with(|| heap.external(element, values()));
        Cell::Pointer(Pointer::start(*block))
    }

    fn operation(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[Expression],
    ) -> Step<Cell> {
        let mut values = [ScalarValue::Bool(false); 2];
        if arguments.len() != operation.arity() || arguments.len() > values.len() {
            return wrong("an operation with another number of operands");
        }
        for (value, argument) in values.iter_mut().zip(arguments) {
            *value = self.evaluate(argument)?.scalar()?;
            if value.scalar() != operand {
                return wrong("an operand of another type");
            }
        }
        let values = &values[..arguments.len()];
        if operations::failure(operation, values).is_some() {
            let name = operation.short();
            return wrong(format!("{name} is not defined for {values:?}"));
        }
        let strict = self.program.strict;
        let value = operations::evaluate_unchecked(operation, values, strict);
        Ok(Cell::Scalar(value))
    }

    /// Returns the values of expressions.
    pub(super) fn evaluate_all(&mut self, expressions: &[Expression]) -> Step<Vec<Cell>> {
        expressions.iter().map(|e| self.evaluate(e)).collect()
    }
}
