//! Productions of tuples and sums.

use super::kinds::{element, is_list, is_maybe, is_shape, is_tree, is_tuple};
use super::{Production, row};
use crate::random::types::{BYTE, INT, Ty};

/// Productions of tuples and of values of the sum types of the prelude.
pub const DATA: &[Production] = &[
    row("tuple", 8, is_tuple, |d, t, f| {
        let Ty::Tuple(elements) = t else {
            return d.leaf(t);
        };
        let items: Vec<String> = elements.iter().map(|e| d.expression(e, f)).collect();
        format!("({})", items.join(", "))
    }),
    row("Some", 8, is_maybe, |d, t, f| {
        let value = d.expression(&element(t), f);
        format!("(Some {value})")
    }),
    row("Leaf", 4, is_tree, |d, t, f| {
        let value = d.expression(&element(t), f);
        format!("(Leaf {value})")
    }),
    row("Node", 4, is_tree, |d, t, f| {
        let (l, r) = (d.expression(t, f), d.expression(t, f));
        format!("(Node ({l}, {r}))")
    }),
    row("Cons", 5, is_list, |d, t, f| {
        let head = d.expression(&element(t), f);
        let tail = d.expression(t, f);
        format!("(Cons ({head}, {tail}))")
    }),
    row("from_vector", 3, is_list, |d, t, f| {
        let v = d.expression(&element(t).vector(), f);
        format!("(from_vector {v})")
    }),
    row("Shape", 4, is_shape, |d, _, f| match d.random.below(3) {
        0 => format!("(Circle {})", d.expression(&Ty::Scalar("float"), f)),
        1 => format!(
            "(Square ({}, {}))",
            d.expression(&INT, f),
            d.expression(&INT, f)
        ),
        _ => format!("(Text {})", d.expression(&BYTE.vector(), f)),
    }),
];
