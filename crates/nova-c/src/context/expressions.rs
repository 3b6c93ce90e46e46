//! Expressions and types of C that generated code often contains.

use crate::scalar::{self, memory_type};
use nova_c_ast::ast::{Binary, Expression, Type};
use nova_core::Scalar;
use nova_loop::ir;

/// Returns the context, by the name that all functions give it.
pub fn context() -> Expression {
    Expression::name("context")
}

/// Returns a pointer advanced by a number of elements.
pub fn offset(pointer: Expression, elements: usize) -> Expression {
    match elements {
        0 => pointer,
        _ => {
            let elements = Expression::literal(elements.to_string());
            Expression::binary(Binary::Add, pointer, elements)
        }
    }
}

/// Returns the C type of a variable of Loop.
pub fn type_of(ty: ir::Type) -> Type {
    match ty {
        ir::Type::Scalar(scalar) => scalar::variable_type(scalar),
        ir::Type::Pointer(scalar) => memory_type(scalar).pointer(),
        ir::Type::Block => Type::name("nova_block").pointer(),
    }
}

/// Returns the address for pointers to arrays without elements.
pub fn empty(element: Scalar) -> Expression {
    Expression::name("nova_empty").cast(memory_type(element).pointer())
}

/// `int64_t`, the type of lengths in the runtime.
pub fn int64() -> Type {
    Type::name("int64_t")
}

/// `nova_block *`.
pub fn block_type() -> Type {
    Type::name("nova_block").pointer()
}

/// `NULL`.
pub fn null() -> Expression {
    Expression::name("NULL")
}

/// Returns the product of extents; 1 if there are none.
pub fn product(extents: impl IntoIterator<Item = Expression>) -> Expression {
    extents
        .into_iter()
        .reduce(|a, b| Expression::binary(nova_c_ast::ast::Binary::Multiply, a, b))
        .unwrap_or_else(|| Expression::literal("1"))
}

/// Returns the zero of a scalar.
pub fn zero(scalar: Scalar) -> Expression {
    match scalar {
        Scalar::Bool => Expression::name("false"),
        Scalar::F32 => Expression::literal("0.0f"),
        Scalar::F64 => Expression::literal("0.0"),
        Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64 => Expression::literal("0"),
    }
}
