//! Costs that the program computes from sizes when it runs.

use crate::cost::Cost;
use crate::rows::Rows;
use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation as Operation};
use nova_flat::ir::{ArrayOperation, Atom};

/// Numbers of elements and of bins are capped at this, which is beyond any memory.
pub(crate) const BEYOND_MEMORY: i64 = 1 << 40;

/// Extents and their products are capped at this where costs are computed.
const CAPPED_EXTENT: i64 = 1 << 16;

/// Computes the cost of an index of the first dimension.
pub(crate) fn cost_of_index(code: &mut Writer, operation: &ArrayOperation, cost: &Cost) -> Atom {
    let sum = cost_of(code, cost);
    let inner: Vec<Atom> = operation.shape.iter().skip(1).copied().collect();
    let iterations = extent_product(code, &inner);
    let all = code.scalar(Operation::Multiply, sum, iterations);
    code.scalar(Operation::Maximum, all, Atom::index(1))
}

/// Computes a cost as a number.
pub(crate) fn cost_of(code: &mut Writer, cost: &Cost) -> Atom {
    let mut sum = Atom::index(cost.fixed);
    for (extents, each) in &cost.loops {
        let product = extent_product(code, extents);
        let all = code.scalar(Operation::Multiply, product, Atom::index(*each));
        sum = code.scalar(Operation::Add, sum, all);
    }
    sum
}

/// Computes the product of extents, capped where it is large enough for any purpose.
pub(crate) fn extent_product(code: &mut Writer, extents: &[Atom]) -> Atom {
    let mut product = Atom::index(1);
    for extent in extents {
        let most = Atom::index(CAPPED_EXTENT);
        let capped = code.scalar(Operation::Minimum, *extent, most);
        product = code.scalar(Operation::Multiply, product, capped);
        product = code.scalar(Operation::Minimum, product, most);
    }
    product
}

/// Computes the start of the elements of the first of `n` rows, and the number of elements of all
/// rows, if these follow each other.
pub(crate) fn elements(code: &mut Writer, n: Atom, rows: &Rows) -> (Atom, Atom) {
    let (zero, most) = (Atom::index(0), Atom::index(BEYOND_MEMORY));
    let last = code.scalar(Operation::Subtract, n, Atom::index(1));
    let some = code.compare(Operation::Greater, n, zero);
    let first = |code: &mut Writer| code.element(rows.starts, zero);
    let first = code.choose_one(some, Scalar::I64, first, |_| zero);
    let end = |code: &mut Writer| code.element(rows.ends, last);
    let end = code.choose_one(some, Scalar::I64, end, |_| zero);
    let elements = code.scalar(Operation::Subtract, end, first);
    let magnitude = code.magnitude(elements);
    (first, code.scalar(Operation::Minimum, magnitude, most))
}

pub(crate) fn weigh(
    code: &mut Writer,
    indices: Atom,
    elements: Atom,
    index: i64,
    element: Atom,
) -> Atom {
    let indices = code.scalar(Operation::Multiply, indices, Atom::index(index));
    let elements = code.scalar(Operation::Multiply, elements, element);
    code.scalar(Operation::Add, indices, elements)
}
