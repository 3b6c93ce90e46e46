//! Provers of a walk, kept by what they have learned. Most questions that a walk asks come from the same
//! place as the one before, and so from the same facts, which take longer to learn than to compare.

use super::prover::{Fact, Prover};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// So many provers are kept: those that were made last.
const MOST: usize = 32;

/// Provers with the facts that they have learned, in the order in which they have learned them; first the
/// one that was made last.
#[derive(Debug, Default)]
pub(super) struct Provers(RefCell<VecDeque<(Vec<Fact>, Rc<Prover>)>>);

impl Provers {
    /// A prover that has learned these facts in this order.
    pub(super) fn that_knows(&self, facts: &[&Fact]) -> Rc<Prover> {
        let mut kept = self.0.borrow_mut();
        // Facts of a place differ from those of another in the last ones.
        let are_those = |learned: &[Fact]| learned.iter().rev().eq(facts.iter().rev().copied());
        if let Some((_, prover)) = kept.iter().find(|(learned, _)| are_those(learned)) {
            return prover.clone();
        }
        let mut prover = Prover::default();
        facts.iter().for_each(|fact| prover.learn(fact));
        let prover = Rc::new(prover);
        kept.truncate(MOST - 1);
        let learned = facts.iter().copied().cloned().collect();
        kept.push_front((learned, prover.clone()));
        prover
    }
}
