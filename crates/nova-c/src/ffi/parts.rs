//! The components of values as C expressions.

use nova_c_ast::ast::Expression;

/// One component of a value, as C expressions.
#[derive(Clone, Debug)]
pub enum Part {
    /// A scalar.
    Scalar(Expression),
    /// An array: pointer and block.
    Array {
        pointer: Expression,
        block: Expression,
    },
}

impl Part {
    /// Returns the expressions, in the order of the parameters of functions.
    pub fn expressions(self) -> Vec<Expression> {
        match self {
            Part::Scalar(value) => vec![value],
            Part::Array { pointer, block } => vec![pointer, block],
        }
    }
}
