//! The C types of variables of Loop, and their empty values.

use crate::scalar::{self, memory_type};
use crate::syntax::block_type;
use nova_c_ast::ast::{Expression, Type};
use nova_core::Scalar;
use nova_loop::ir;

/// Returns the C type of a variable of Loop.
pub fn type_of(ty: ir::Type) -> Type {
    match ty {
        ir::Type::Scalar(scalar) => scalar::variable_type(scalar),
        ir::Type::Pointer(scalar) => memory_type(scalar).pointer(),
        ir::Type::Block => block_type(),
    }
}

/// Returns the address for pointers to arrays without elements.
pub fn empty(element: Scalar) -> Expression {
    Expression::name("nova_empty").cast(memory_type(element).pointer())
}
