//! Prefixes that the ordered regions of iterations propagate ([`nova_loop::ordered_regions`]). A sum of numbers
//! that are not negative rises from iteration to iteration, by at least what the iteration adds.

use crate::refusal::Rule;
use crate::state::State;
use crate::symbolic::{Base, Prefix, Value};
use crate::walk::Walk;
use nova_core::{Scalar, ScalarOperation};
use nova_loop::ir::{Command, Variable};
use nova_loop::ordered_regions::{Propagated, propagated};

/// Records, at the end of an ordered region, the prefixes that the innermost parallel loop, which has
/// this body, propagates. Each lies in one element of a block from outside the loop, the same for all
/// iterations. [`Rule::Ordered`] and [`Rule::Blocks`] require that only ordered regions write it. The
/// verifier requires that the body has one ordered region.
pub(crate) fn end_ordered(walk: &mut Walk, body: &[Command]) {
    let all = propagated(body).unwrap_or_default();
    let blocks: Vec<Option<Base>> = all.iter().map(|h| block_of(walk, h.state)).collect();
    for (at, propagated) in all.iter().enumerate() {
        let is_apart = |base: Base| {
            let mut others = blocks.iter().enumerate().filter(|(other, _)| *other != at);
            others.all(|(_, other)| other.is_some_and(|other| !walk.state.bases.meet(base, other)))
        };
        if blocks.get(at).copied().flatten().is_some_and(is_apart) {
            let prefix = prefix(&mut walk.state, propagated);
            if let Some(parallel_loop) = walk.nest.last_mut() {
                parallel_loop.prefixes.extend(prefix);
            }
        }
    }
}

/// *Propagated.* Returns a propagated prefix if it is a sum of numbers that are not negative.
fn prefix(state: &mut State, propagated: &Propagated) -> Option<Prefix> {
    if propagated.operation != ScalarOperation::Add || propagated.scalar != Scalar::I64 {
        return None;
    }
    let own = state.number(propagated.own);
    let rises = state.without.contains(&Rule::Propagated) || state.facts.is_never_negative(&own);
    rises.then(|| Prefix {
        given: state.number_of(propagated.begin),
        own,
    })
}

/// Returns the base of a pointer that is declared outside the innermost parallel loop.
fn block_of(walk: &Walk, pointer: Variable) -> Option<Base> {
    let depth = walk.nest.len();
    let is_from_outside = walk.declared.get(&pointer).is_some_and(|at| *at < depth);
    match walk.state.values.get(&pointer).filter(|_| is_from_outside) {
        Some(Value::Spots(spots)) => match spots.as_slice() {
            [spot] => Some(spot.base),
            _several => None,
        },
        Some(Value::Number(_)) | None => None,
    }
}
