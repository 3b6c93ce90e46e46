//! What iterations hand on in their turns ([`crate::ordered_regions`]): the sum of numbers that are not negative
//! rises from turn to turn, by at least what the iteration adds.

use super::Rule;
use super::polynomial::Polynomial;
use super::values::{Base, Value};
use super::walk::Walk;
use crate::ir::{Command, Variable};
use crate::ordered_regions::{HandedOn, handed_on};
use nova_core::{Scalar, ScalarOperation};

/// A number that rises from turn to turn.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    /// What an iteration is given.
    pub(super) given: Polynomial,
    /// What it adds, which is not negative.
    pub(super) own: Polynomial,
}

impl Walk<'_> {
    /// At the end of a turn: what the innermost parallel loop, which has this body, hands on. It lies in
    /// one element of a block from around the loop for all iterations. That only turns write it is what
    /// [`Rule::Turns`] and [`Rule::Blocks`] ask for; that there is one turn, the verifier.
    pub(super) fn end_ordered(&mut self, body: &[Command]) {
        let all = handed_on(body).unwrap_or_default();
        let blocks: Vec<Option<Base>> = all.iter().map(|h| self.block_of(h.state)).collect();
        for (at, handed) in all.iter().enumerate() {
            let is_apart = |base: Base| {
                let mut others = blocks.iter().enumerate().filter(|(other, _)| *other != at);
                others.all(|(_, other)| other.is_some_and(|other| !self.meet(base, other)))
            };
            if blocks.get(at).copied().flatten().is_some_and(is_apart) {
                let sum = self.sum(handed);
                if let Some(frame) = self.frames.last_mut() {
                    frame.handed.extend(sum);
                }
            }
        }
    }

    /// *Handed on.* What is handed on is the sum of numbers that are not negative.
    fn sum(&mut self, handed: &HandedOn) -> Option<Sum> {
        if handed.operation != ScalarOperation::Add || handed.scalar != Scalar::I64 {
            return None;
        }
        let own = self.number(handed.own);
        let rises = self.without.contains(&Rule::HandedOn) || self.is_never_negative(&own);
        rises.then(|| Sum {
            given: self.number_of(handed.begin),
            own,
        })
    }

    /// The block that a pointer from around the innermost parallel loop leads to.
    fn block_of(&self, pointer: Variable) -> Option<Base> {
        let depth = self.frames.len();
        let is_from_around = self.declared.get(&pointer).is_some_and(|at| *at < depth);
        match self.values.get(&pointer).filter(|_| is_from_around) {
            Some(Value::Spots(spots)) => match spots.as_slice() {
                [spot] => Some(spot.base),
                _several => None,
            },
            Some(Value::Number(_)) | None => None,
        }
    }
}
