//! The components of values as C expressions.

use crate::context::writer::Writer;
use crate::emit::nodes::payload_fields;
use nova_c_ast::ast::Expression;
use nova_core::{SumId, Type as CoreType};
use nova_flat::representation::{Component, payload_places, width};

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

/// Takes the components of a value of a sum that is not recursive: its tag, and for each constructor those
/// of its payload. `lifted` tells whether the values are lifted.
pub(crate) fn take_sum(
    code: &Writer,
    id: SumId,
    lifted: bool,
    parts: &mut std::slice::Iter<Part>,
) -> (Option<Part>, Vec<Vec<Part>>) {
    let sums = &code.unit.program.sums;
    let count = width(&CoreType::Sum(id), sums, lifted);
    let own: Vec<Part> = parts.by_ref().take(count).cloned().collect();
    let payload = |k: usize| {
        let places = payload_places(id, k, sums, lifted).into_iter();
        places.filter_map(|place| own.get(place).cloned()).collect()
    };
    let constructors = code.unit.types.sum(id).constructors.len();
    let payloads = (0..constructors).map(payload).collect();
    (own.first().cloned(), payloads)
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
