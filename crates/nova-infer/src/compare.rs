//! Comparison of two types without unification. No variable is bound.

use crate::types::{Shallow, Ty, TyNode, Types, children};
use std::collections::HashSet;

/// Which types are alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Likeness {
    /// Types that could become equal. An unbound variable is like each type that it could have.
    Possible,
    /// Types that are equal. An unbound variable is like itself only.
    Certain,
}

impl Types {
    /// Returns the innermost parts in which two types certainly differ.
    pub fn difference(&mut self, a: Ty, b: Ty) -> Option<(Ty, Ty)> {
        self.unlike(a, b, Likeness::Possible)
    }

    /// True for two types that are the same.
    pub fn same(&mut self, a: Ty, b: Ty) -> bool {
        self.unlike(a, b, Likeness::Certain).is_none()
    }

    /// Returns the first innermost parts of two types that are not alike. Errors are like every type.
    fn unlike(&mut self, a: Ty, b: Ty, likeness: Likeness) -> Option<(Ty, Ty)> {
        let mut seen = HashSet::new();
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            let (a, b) = (self.resolve(a), self.resolve(b));
            if a == b || !seen.insert((a, b)) || self.is_error(a) || self.is_error(b) {
                continue;
            }
            let (of_a, of_b) = match (self.shallow(a), self.shallow(b)) {
                (Shallow::Node(of_a), Shallow::Node(of_b)) => (of_a, of_b),
                (Shallow::Unbound(a, _), Shallow::Unbound(b, _)) if a == b => continue,
                _ if likeness == Likeness::Certain => return Some((a, b)),
                (Shallow::Node(node), Shallow::Unbound(_, variable))
                | (Shallow::Unbound(_, variable), Shallow::Node(node)) => {
                    let is_link = matches!(node, TyNode::Link(_));
                    if is_link && variable.constraint.scalars.is_some() {
                        return Some((a, b));
                    }
                    continue;
                }
                (Shallow::Unbound(..), Shallow::Unbound(..)) => continue,
            };
            if !of_a.is_alike(&of_b) {
                return Some((a, b));
            }
            work.extend(children(&of_a).into_iter().zip(children(&of_b)).rev());
        }
        None
    }
}
