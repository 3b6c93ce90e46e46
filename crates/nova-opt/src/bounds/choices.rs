//! Bounds of the results of conditionals: the bounds of one branch's result that also hold for the
//! other's. Each is proved where the condition of its branch is known. So `if i = 0 then n - 1 else
//! i - 1` lies between 0 and `n - 1` for an index `i` below `n`.

use super::affine::Affine;
use super::condition::Condition;
use super::state::Bounds;
use crate::limits::BOUNDS_OF_A_RESULT;
use nova_diag::deep;
use nova_flat::ir::{Atom, Body, Variable};

/// Bounds of one result of a conditional.
#[derive(Default)]
pub(super) struct Joined {
    least: Vec<Affine>,
    most: Vec<Affine>,
}

/// A result of a branch, with the bounds that are known inside the branch.
struct Given {
    value: Option<Affine>,
    bounds: Joined,
}

impl Bounds<'_> {
    /// Walks the branches of a conditional, each with the facts that hold inside it. Returns the
    /// bounds of the results.
    pub(super) fn choose(
        &mut self,
        condition: Atom,
        then: &mut Body,
        otherwise: &mut Body,
    ) -> Vec<Joined> {
        let condition = self.condition(condition);
        let contrary = condition.clone().map(Condition::contrary);
        let mark = self.mark();
        self.assume_if_known(&condition);
        deep(|| self.statements(then));
        let first = self.given(then);
        self.forget(mark);
        self.assume_if_known(&contrary);
        deep(|| self.statements(otherwise));
        let second = self.given(otherwise);
        let mut joined: Vec<Joined> = first
            .iter()
            .zip(&second)
            .map(|(one, other)| self.common(one, other))
            .collect();
        self.forget(mark);
        self.assume_if_known(&condition);
        for ((one, other), all) in second.iter().zip(&first).zip(&mut joined) {
            let Joined { least, most } = self.common(one, other);
            all.least.extend(least);
            all.most.extend(most);
        }
        self.forget(mark);
        joined
    }

    /// Notes the bounds of a conditional's results. The strongest come last, because the last are
    /// tried first.
    pub(super) fn bound_choice(&mut self, pattern: &[Variable], results: Vec<Joined>) {
        for (variable, Joined { least, most }) in pattern.iter().zip(results) {
            for bound in least.into_iter().rev() {
                self.facts.at_least(*variable, bound);
            }
            for bound in most.into_iter().rev() {
                self.facts.at_most(*variable, bound);
            }
        }
    }

    fn assume_if_known(&mut self, condition: &Option<Condition>) {
        if let Some(condition) = condition {
            self.assume(condition);
            self.reconsider();
        }
    }

    /// Returns the results of a branch, with the bounds that are known inside it.
    fn given(&self, branch: &Body) -> Vec<Given> {
        let give = |result: &Atom| {
            let value = self.value(*result);
            let bounds = value.as_ref().map(|value| Joined {
                least: newest(self.facts.lower_bounds(value)),
                most: newest(self.facts.upper_bounds(value)),
            });
            Given {
                value,
                bounds: bounds.unwrap_or_default(),
            }
        };
        branch.results.iter().map(give).collect()
    }

    /// Returns the bounds of one branch's result that hold for the other's. The facts must be those
    /// of the other branch.
    fn common(&self, one: &Given, other: &Given) -> Joined {
        let Some(value) = &other.value else {
            return Joined::default();
        };
        let (least, most) = (one.bounds.least.iter(), one.bounds.most.iter());
        Joined {
            least: least
                .filter(|bound| self.is_at_most(bound, value))
                .cloned()
                .collect(),
            most: most
                .filter(|bound| self.is_at_most(value, bound))
                .cloned()
                .collect(),
        }
    }
}

/// Returns the bounds that were learnt last, which are the strongest.
fn newest(mut bounds: Vec<Affine>) -> Vec<Affine> {
    bounds.truncate(BOUNDS_OF_A_RESULT);
    bounds
}
