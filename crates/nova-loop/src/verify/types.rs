//! The types of expressions.

use super::{BOOL, INDEX, Verifier};
use crate::ir::{Expression, Type, Variable};
use nova_core::builtin::Class;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;

impl Verifier<'_> {
    /// Checks a variable that is read: it is in scope and assigned. Returns its type.
    pub(super) fn read(&mut self, variable: Variable) -> Option<Type> {
        let ty = self.variable_type(variable)?;
        let name = self.name(variable);
        if !self.flow.in_scope(variable) {
            self.error(format!("{name} is used outside its scope"));
        } else if !self.flow.is_assigned(variable) {
            self.error(format!("{name} is read where it may not be assigned"));
        }
        Some(ty)
    }

    /// Returns the type of an expression; reports an error and returns `None` when it has none.
    pub(super) fn type_of(&mut self, expression: &Expression) -> Option<Type> {
        deep(|| match expression {
            Expression::Constant(value) => Some(Type::Scalar(value.scalar())),
            Expression::Bytes(_) => Some(Type::Pointer(Scalar::U8)),
            Expression::Data(element, values) => {
                if values.iter().any(|value| value.scalar() != *element) {
                    self.error("data of another type");
                }
                Some(Type::Pointer(*element))
            }
            Expression::Variable(variable) => self.read(*variable),
            Expression::Scalar {
                operation,
                operand,
                arguments,
            } => self.operation(*operation, *operand, arguments),
            Expression::Select {
                condition,
                then,
                otherwise,
            } => {
                self.expect(condition, BOOL);
                let ty = self.type_of(then)?;
                if ty == Type::Block {
                    self.error("a handle is chosen by an expression");
                }
                self.expect(otherwise, ty);
                Some(ty)
            }
            Expression::Load { pointer, index } => {
                self.expect(index, INDEX);
                self.pointee(pointer).map(Type::Scalar)
            }
            Expression::Offset {
                pointer,
                index,
                extent,
            } => {
                self.expect(index, INDEX);
                if let Some(extent) = extent {
                    self.expect(extent, INDEX);
                }
                self.pointee(pointer).map(Type::Pointer)
            }
            Expression::NullPointer(scalar) => Some(Type::Pointer(*scalar)),
            Expression::NullBlock => Some(Type::Block),
            Expression::NodeTag { sum, link } => {
                self.expect(link, INDEX);
                match self.program.sums.get(sum.index()) {
                    Some(sum) if sum.is_recursive() => {}
                    Some(_) | None => self.error("the tag of a node that has no table"),
                }
                Some(Type::Scalar(Scalar::I32))
            }
        })
    }

    /// Returns the element type of a pointer; reports an expression that is none.
    pub(super) fn pointee(&mut self, pointer: &Expression) -> Option<Scalar> {
        match self.type_of(pointer)? {
            Type::Pointer(scalar) => Some(scalar),
            other @ (Type::Scalar(_) | Type::Block) => {
                self.error(format!("{other:?} where a pointer is expected"));
                None
            }
        }
    }

    /// Reports an expression that is not of a type.
    pub(super) fn expect(&mut self, expression: &Expression, wanted: Type) {
        if let Some(found) = self.type_of(expression)
            && found != wanted
        {
            let text = crate::print::print_expression(self.program, expression);
            self.error(format!("{text} is {found:?}, not {wanted:?}"));
        }
    }

    /// Reports expressions that are not of these types.
    pub(super) fn expect_all(&mut self, expressions: &[Expression], wanted: &[Type], what: &str) {
        if expressions.len() != wanted.len() {
            let (found, wanted) = (expressions.len(), wanted.len());
            self.error(format!("{what} has {found} components, not {wanted}"));
            return;
        }
        for (expression, wanted) in expressions.iter().zip(wanted) {
            self.expect(expression, *wanted);
        }
    }

    fn operation(
        &mut self,
        operation: ScalarOperation,
        operand: Scalar,
        arguments: &[Expression],
    ) -> Option<Type> {
        let class = operation.info().map_or(Class::Scalar, |i| i.class);
        // `and` and `or` of bools compute both sides.
        let joins = matches!(operation, ScalarOperation::BitAnd | ScalarOperation::BitOr);
        if !(class.contains(operand) || joins && operand == Scalar::Bool) {
            self.error(format!("{} of {operand}", operation.short()));
        }
        if arguments.len() != operation.arity() {
            self.error(format!(
                "{} has {} operands",
                operation.short(),
                arguments.len()
            ));
        }
        for argument in arguments {
            self.expect(argument, Type::Scalar(operand));
        }
        Some(Type::Scalar(operation.result(operand)))
    }
}
