//! The components of values as C expressions.

use crate::context::writer::Writer;
use crate::emit::nodes::payload_fields;
use nova_c_ast::ast::Expression;
use nova_core::{SumId, Type as CoreType};
use nova_flat::representation::Component;

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

/// Returns the components of a payload of a node.
pub(crate) fn parts_of(
    code: &Writer,
    sum: SumId,
    constructor: u32,
    payload: &CoreType,
    node: &Expression,
) -> Vec<Part> {
    let mut paths = payload_fields(code.unit, sum, constructor).into_iter();
    let mut field = || {
        let path = paths.next().unwrap_or_default();
        let mut names = path.into_iter();
        let first = names.next();
        let first = first.map_or(node.clone(), |name| node.clone().arrow(name));
        names.fold(first, Expression::member)
    };
    let components = code.unit.components(payload);
    let part = |component: &Component| match component.shape.is_empty() {
        true => Part::Scalar(field()),
        false => Part::Array {
            pointer: field(),
            block: field(),
        },
    };
    components.iter().map(part).collect()
}
