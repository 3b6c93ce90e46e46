//! The reasons for expected types, which messages give.

use nova_diag::Span;
use nova_syntax::ast::ExpressionId;
use std::sync::Arc;

/// The reason for an expected type.
#[derive(Clone, Debug)]
pub(crate) enum Because {
    /// The k-th argument (from 1) of a function.
    Argument {
        function: ExpressionId,
        position: usize,
    },
    /// The first operand of an operation on two operands of one type.
    Operand {
        function: ExpressionId,
        first: ExpressionId,
    },
    /// The other branch of a conditional.
    Branch { first: ExpressionId },
    /// A condition.
    Condition,
    /// The first element of a vector.
    Element { first: ExpressionId },
    /// An annotation.
    Annotation { at: Span },
    /// The first arm of a case.
    Arm { first: ExpressionId },
    /// The arms of a case.
    Scrutinee { arm: Span, name: Arc<str> },
    /// The payload of the constructor at this place.
    Pattern { at: Span },
    /// The value that a pattern matches.
    Value { at: ExpressionId },
    /// An index of a vector or `vector#n`.
    Index { rank: u32 },
    /// The indexed expression.
    Indexed,
    /// The type of a recursive function where its own body uses it.
    Recursion { name: Arc<str>, at: Span },
    /// The nodes or links of a `foreach` or `up`.
    Nodes { form: ExpressionId },
    /// The form itself.
    Form,
}
