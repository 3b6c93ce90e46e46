//! The tree of adjacent pairs of docs/order.md, built like a binary counter. Complete subtrees of falling
//! height lie in local arrays, and two of equal height are combined as soon as there are two.

use crate::accumulators::{Reduction, Tree, at, remainder, zero};
use crate::operators::combine;
use crate::translator::Translator;
use crate::writer::{INDEX, Nesting, Result, Writer};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir::Bracketing;
use nova_loop::ir::{Expression, Variable};

/// The maximum number of subtrees of different heights at one time, plus the start value.
const HEIGHTS: u32 = 64;

/// Returns a tree without elements.
pub(crate) fn start_tree(
    out: &mut Writer,
    starts: Vec<(Expression, Scalar)>,
    bracketing: Bracketing,
) -> Tree {
    let scalars: Vec<Scalar> = starts.iter().map(|s| s.1).collect();
    let subtrees = out.buffers("parts", &scalars, HEIGHTS);
    for (pointer, (start, _)) in subtrees.iter().zip(starts) {
        out.set_element(*pointer, zero(), start);
    }
    let depth = match bracketing {
        Bracketing::Whole | Bracketing::Pairs => Expression::index(1),
        Bracketing::Chunk | Bracketing::Left => zero(),
    };
    let depth = out.declare("depth", INDEX, depth);
    Tree { subtrees, depth }
}

/// Pushes the result of group number `group` and combines subtrees of equal height.
pub(crate) fn push_subtree<'a>(
    cx: &mut Translator<'a>,
    reduction: &Reduction<'a>,
    tree: &Tree,
    values: Vec<Expression>,
    group: Expression,
    place: &Place,
) -> Result<()> {
    let depth = Expression::Variable(tree.depth);
    for (pointer, value) in tree.subtrees.iter().zip(values) {
        cx.set_element(*pointer, depth.clone(), value);
    }
    cx.assign(tree.depth, depth.plus(Expression::index(1)));
    // The number of subtrees to combine with is the number of trailing ones in the group's number.
    let merges = cx.declare("merges", INDEX, group);
    combine_subtrees(cx, reduction, tree, Some(merges), place)
}

/// Combines the last two subtrees repeatedly: once for each trailing one of `merges`, or until one is
/// left.
pub(crate) fn combine_subtrees<'a>(
    cx: &mut Translator<'a>,
    reduction: &Reduction<'a>,
    tree: &Tree,
    merges: Option<Variable>,
    place: &Place,
) -> Result<()> {
    let depth = || Expression::Variable(tree.depth);
    cx.endless_loop(place, |cx| {
        let done = match merges {
            Some(merges) => {
                remainder(&Expression::Variable(merges), 2).compare(ScalarOperation::Equal, zero())
            }
            None => depth().compare(ScalarOperation::LessEqual, Expression::index(1)),
        };
        cx.break_if(done);
        cx.assign(tree.depth, depth().minus(Expression::index(1)));
        let right = tree.subtrees.iter().map(|p| at(*p, depth())).collect();
        let left = depth().minus(Expression::index(1));
        combine(cx, reduction, &tree.subtrees, &left, right)?;
        if let Some(merges) = merges {
            let rest = Expression::Variable(merges);
            let rest = rest.compare(ScalarOperation::ShiftRight, Expression::index(1));
            cx.assign(merges, rest);
        }
        Ok(())
    })
}
