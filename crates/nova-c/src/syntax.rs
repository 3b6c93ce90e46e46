//! Short forms of syntax trees of C that generated code often contains.

use nova_c_ast::ast::{Binary, Expression, Function, Name, Parameter, Statement, Type};

/// Returns the context, by the name that all functions give it.
pub(crate) fn context() -> Expression {
    Expression::name("context")
}

/// `int64_t`, the type of lengths in the runtime.
pub(crate) fn int64() -> Type {
    Type::name("int64_t")
}

/// `nova_block *`.
pub(crate) fn block_type() -> Type {
    Type::name("nova_block").pointer()
}

/// `NULL`.
pub(crate) fn null() -> Expression {
    Expression::name("NULL")
}

/// Returns a constant number.
pub(crate) fn literal(value: impl ToString) -> Expression {
    Expression::literal(value.to_string())
}

/// `true` or `false`.
pub(crate) fn truth(holds: bool) -> Expression {
    Expression::name(if holds { "true" } else { "false" })
}

/// Declares a variable without a value.
pub(crate) fn declaration(ty: Type, name: Name) -> Statement {
    Statement::Declare {
        ty,
        name,
        value: None,
    }
}

/// Returns a parameter.
pub(crate) fn parameter(ty: Type, name: impl Into<Name>) -> Parameter {
    Parameter {
        ty,
        name: name.into(),
    }
}

/// Returns the parameter for the context.
pub(crate) fn context_parameter() -> Parameter {
    parameter(Type::name("nova_context").pointer(), "context")
}

/// Defines a function of the file.
pub(crate) fn static_function(
    result: Type,
    name: impl Into<Name>,
    parameters: Vec<Parameter>,
    body: Vec<Statement>,
) -> Function {
    Function {
        prefix: vec!["static".into()],
        result,
        name: name.into(),
        parameters,
        body: Some(body.into()),
    }
}

/// Defines a function of the file without a result.
pub(crate) fn procedure(
    name: impl Into<Name>,
    parameters: Vec<Parameter>,
    body: Vec<Statement>,
) -> Function {
    static_function(Type::name("void"), name, parameters, body)
}

/// Returns the product of extents; 1 if there are none.
pub(crate) fn product(extents: impl IntoIterator<Item = Expression>) -> Expression {
    extents
        .into_iter()
        .reduce(|a, b| Expression::binary(Binary::Multiply, a, b))
        .unwrap_or_else(|| literal(1))
}

/// Returns a pointer advanced by a number of elements.
pub(crate) fn offset(pointer: Expression, elements: usize) -> Expression {
    match elements {
        0 => pointer,
        _ => Expression::binary(Binary::Add, pointer, literal(elements)),
    }
}
