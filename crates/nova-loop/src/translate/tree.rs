//! The tree of adjacent pairs of docs/order.md, built as a binary counter counts: complete subtrees of
//! falling height lie in local arrays, and two of equal height become one as soon as there are two.

use super::reduction::{Reduction, at, remainder, zero};
use super::{INDEX, Result, Translator};
use crate::ir::{Command, Expression, Variable};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir::Bracketing;

/// Subtrees of different heights that there can be at once, and the start value.
const HEIGHTS: u32 = 64;

/// The complete subtrees of the tree of adjacent pairs, the start value below them. That of a part
/// stands where the first subtree comes instead, as long as there is none.
pub(super) struct Tree {
    pub(super) parts: Vec<Variable>,
    depth: Variable,
}

impl Tree {
    /// For each component the subtrees, the result at their bottom.
    pub(super) fn results(&self) -> &[Variable] {
        &self.parts
    }
}

impl<'a> Translator<'a> {
    /// A tree without elements yet.
    pub(super) fn start_tree(
        &mut self,
        starts: Vec<(Expression, Scalar)>,
        bracketing: Bracketing,
    ) -> Tree {
        let scalars: Vec<Scalar> = starts.iter().map(|s| s.1).collect();
        let parts = self.buffers("parts", &scalars, HEIGHTS);
        for (pointer, (start, _)) in parts.iter().zip(starts) {
            self.set_element(*pointer, zero(), start);
        }
        let depth = match bracketing {
            Bracketing::Whole | Bracketing::Pairs => Expression::index(1),
            Bracketing::Part | Bracketing::Left => zero(),
        };
        let depth = self.declare("depth", INDEX, depth);
        Tree { parts, depth }
    }

    /// Pushes the result of group number `group` and combines subtrees of equal height.
    pub(super) fn push_part(
        &mut self,
        reduction: &Reduction<'a>,
        tree: &Tree,
        values: Vec<Expression>,
        group: Expression,
        place: &Place,
    ) -> Result<()> {
        let depth = Expression::Variable(tree.depth);
        for (pointer, value) in tree.parts.iter().zip(values) {
            self.set_element(*pointer, depth.clone(), value);
        }
        self.assign(tree.depth, depth.plus(Expression::index(1)));
        // One subtree to combine with for each one at the end of the group's number in binary.
        let merges = self.declare("merges", INDEX, group);
        self.combine_parts(reduction, tree, Some(merges), place)
    }

    /// Combines the last two subtrees, as often as `merges` ends in ones, or until one is left.
    pub(super) fn combine_parts(
        &mut self,
        reduction: &Reduction<'a>,
        tree: &Tree,
        merges: Option<Variable>,
        place: &Place,
    ) -> Result<()> {
        let depth = || Expression::Variable(tree.depth);
        let (code, ()) = self.nested(|this| {
            let done = match merges {
                Some(merges) => remainder(&Expression::Variable(merges), 2)
                    .compare(ScalarOperation::Equal, zero()),
                None => depth().compare(ScalarOperation::LessEqual, Expression::index(1)),
            };
            this.when(done, |this| {
                this.emit(Command::Break);
                Ok(())
            })?;
            this.assign(tree.depth, depth().minus(Expression::index(1)));
            let right = tree.parts.iter().map(|p| at(*p, depth())).collect();
            let left = depth().minus(Expression::index(1));
            this.combine(reduction, &tree.parts, &left, right)?;
            if let Some(merges) = merges {
                let rest = Expression::Variable(merges);
                let rest = rest.compare(ScalarOperation::ShiftRight, Expression::index(1));
                this.assign(merges, rest);
            }
            Ok(())
        })?;
        self.emit(Command::Loop {
            body: code,
            place: place.clone(),
        });
        Ok(())
    }
}
