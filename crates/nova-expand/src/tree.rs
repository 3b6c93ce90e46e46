//! The tree of adjacent pairs of docs/order.md, built like a binary counter. Complete subtrees of falling
//! height lie in local arrays, and two of equal height are combined as soon as there are two.

use crate::accumulators::{Reduction, Tree, at, remainder, zero};
use crate::translator::{INDEX, Result, Translator};
use nova_core::{Scalar, ScalarOperation};
use nova_diag::Place;
use nova_flat::ir::Bracketing;
use nova_loop::ir::{Command, Expression, Variable};

/// The maximum number of subtrees of different heights at one time, plus the start value.
const HEIGHTS: u32 = 64;

impl<'a> Translator<'a> {
    /// Returns a tree without elements.
    pub(crate) fn start_tree(
        &mut self,
        starts: Vec<(Expression, Scalar)>,
        bracketing: Bracketing,
    ) -> Tree {
        let scalars: Vec<Scalar> = starts.iter().map(|s| s.1).collect();
        let subtrees = self.buffers("parts", &scalars, HEIGHTS);
        for (pointer, (start, _)) in subtrees.iter().zip(starts) {
            self.set_element(*pointer, zero(), start);
        }
        let depth = match bracketing {
            Bracketing::Whole | Bracketing::Pairs => Expression::index(1),
            Bracketing::Chunk | Bracketing::Left => zero(),
        };
        let depth = self.declare("depth", INDEX, depth);
        Tree { subtrees, depth }
    }

    /// Pushes the result of group number `group` and combines subtrees of equal height.
    pub(crate) fn push_subtree(
        &mut self,
        reduction: &Reduction<'a>,
        tree: &Tree,
        values: Vec<Expression>,
        group: Expression,
        place: &Place,
    ) -> Result<()> {
        let depth = Expression::Variable(tree.depth);
        for (pointer, value) in tree.subtrees.iter().zip(values) {
            self.set_element(*pointer, depth.clone(), value);
        }
        self.assign(tree.depth, depth.plus(Expression::index(1)));
        // The number of subtrees to combine with is the number of trailing ones in the group's number.
        let merges = self.declare("merges", INDEX, group);
        self.combine_subtrees(reduction, tree, Some(merges), place)
    }

    /// Combines the last two subtrees repeatedly: once for each trailing one of `merges`, or until one is
    /// left.
    pub(crate) fn combine_subtrees(
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
            let right = tree.subtrees.iter().map(|p| at(*p, depth())).collect();
            let left = depth().minus(Expression::index(1));
            this.combine(reduction, &tree.subtrees, &left, right)?;
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
