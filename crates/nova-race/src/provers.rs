//! A cache of the provers of a walk, by the facts that they have learned. Most questions of a walk come from
//! the same place as the one before, and so from the same facts, which take longer to learn than to compare.

use crate::symbolic::{Fact, Prover};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The number of provers in the cache: those that were made last.
const MOST: usize = 32;

/// Provers with the facts that they have learned, in the order in which they have learned them. The prover
/// that was made last comes first.
#[derive(Debug, Default)]
pub(crate) struct Provers(RefCell<VecDeque<(Vec<Fact>, Rc<Prover>)>>);

impl Provers {
    /// Returns a prover that has learned these facts in this order.
    pub(crate) fn that_knows(&self, facts: &[&Fact]) -> Rc<Prover> {
        let mut cached = self.0.borrow_mut();
        // The lists of facts of two places mostly differ at their ends.
        let are_those = |learned: &[Fact]| learned.iter().rev().eq(facts.iter().rev().copied());
        if let Some((_, prover)) = cached.iter().find(|(learned, _)| are_those(learned)) {
            return prover.clone();
        }
        let mut prover = Prover::default();
        facts.iter().for_each(|fact| prover.learn(fact));
        let prover = Rc::new(prover);
        cached.truncate(MOST - 1);
        let learned = facts.iter().copied().cloned().collect();
        cached.push_front((learned, prover.clone()));
        prover
    }
}
