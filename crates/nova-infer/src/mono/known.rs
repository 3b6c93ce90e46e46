//! Known functions and their arguments on the way to Core.

use super::writer::Writer;
use crate::builtins::BuiltinId;
use nova_core::Type;
use nova_core::ir::{self, Variable};
use nova_syntax::ast;

/// A function that occurs in Core only applied to all its arguments.
#[derive(Clone)]
pub(super) struct Known {
    pub callee: Callee,
    /// The place of its name.
    pub head: ast::ExpressionId,
    pub parameters: Vec<Type>,
    pub result: Type,
}

/// The kinds of such functions.
#[derive(Clone, Copy)]
pub(super) enum Callee {
    Builtin(BuiltinId),
    Constructor(u32),
    Foreign(u32),
}

/// An argument before translation.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    Source(ast::ExpressionId),
    /// A parameter that stands for an argument still to come.
    Variable(Variable),
}

/// A translated argument.
pub(super) enum Item {
    Value(ir::ExpressionId),
    /// The elements of a tuple.
    Elements(Vec<ir::ExpressionId>),
    Function {
        parameters: Vec<Variable>,
        body: ir::ExpressionId,
    },
}

/// Returns the types of a tuple's elements.
pub(super) fn tuple_types(ty: &Type) -> Vec<Type> {
    if let Type::Tuple(types) = ty {
        return types.to_vec();
    }
    Vec::new()
}

/// Returns the first `count` parameters of a function type, and the rest.
pub(super) fn split_function(ty: Type, count: usize) -> (Vec<Type>, Type) {
    let mut parameters = Vec::new();
    let mut ty = ty;
    while parameters.len() < count {
        let Type::Function(parameter, result) = ty else {
            break;
        };
        parameters.push((*parameter).clone());
        ty = (*result).clone();
    }
    (parameters, ty)
}

/// Returns the arguments of a built-in of Core.
pub(super) fn arguments(
    w: &mut Writer,
    items: Vec<Item>,
    id: ast::ExpressionId,
) -> Vec<ir::ExpressionId> {
    let mut arguments = Vec::new();
    for item in items {
        match item {
            Item::Value(value) => arguments.push(value),
            Item::Elements(elements) => arguments.extend(elements),
            Item::Function { parameters, body } => {
                arguments.push(w.lambda(parameters, body, id));
            }
        }
    }
    arguments
}
