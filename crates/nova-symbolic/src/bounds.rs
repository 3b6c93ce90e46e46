//! A prover of affine inequalities from affine bounds of variables. It replaces a variable by one of its bounds
//! until a number is left, and backtracks. It is cheaper and weaker than [`crate::Prover`]: facts come and go
//! with the walk of a program, nothing is derived from them, and a proof uses few of them.

use crate::affine::Affine;
use crate::polynomial::Variable;
use std::collections::HashMap;

/// Facts about variables: each lies between these sums.
#[derive(Debug)]
pub struct Bounds<V> {
    lower: HashMap<V, Vec<Affine<V>>>,
    upper: HashMap<V, Vec<Affine<V>>>,
    /// The added facts, oldest first: the variable, and true for a lower bound.
    log: Vec<(V, bool)>,
}

/// The largest number of bounds that are used one after the other in a proof.
const DEPTH: usize = 5;

/// The largest number of bounds that are used one after the other to find a number.
const NUMBERS: usize = 2;

/// The number of bounds of one variable that are tried, the newest first.
const NEWEST: usize = 8;

/// The largest number of steps of a proof.
const STEPS: usize = 200;

impl<V> Default for Bounds<V> {
    fn default() -> Self {
        Bounds {
            lower: HashMap::new(),
            upper: HashMap::new(),
            log: Vec::new(),
        }
    }
}

impl<V: Variable> Bounds<V> {
    /// Notes `bound ≤ variable`.
    pub fn at_least(&mut self, variable: V, bound: impl Into<Option<Affine<V>>>) {
        let Some(bound) = bound.into() else { return };
        let known = self.lower.entry(variable.clone()).or_default();
        if !known.contains(&bound) {
            known.push(bound);
            self.log.push((variable, true));
        }
    }

    /// Notes `variable ≤ bound`.
    pub fn at_most(&mut self, variable: V, bound: impl Into<Option<Affine<V>>>) {
        let Some(bound) = bound.into() else { return };
        let known = self.upper.entry(variable.clone()).or_default();
        if !known.contains(&bound) {
            known.push(bound);
            self.log.push((variable, false));
        }
    }

    /// Returns a sum and its known lower bounds.
    pub fn lower_bounds(&self, sum: &Affine<V>) -> Vec<Affine<V>> {
        bounds_of(&self.lower, sum, |number| number > 0)
    }

    /// Returns a sum and its known upper bounds.
    pub fn upper_bounds(&self, sum: &Affine<V>) -> Vec<Affine<V>> {
        bounds_of(&self.upper, sum, |number| number < 0)
    }

    /// Returns a number that a sum never exceeds, if one is known.
    pub fn most(&self, sum: &Affine<V>) -> Option<i128> {
        self.number(sum, NUMBERS)
    }

    /// Returns a number that a sum is never less than, if one is known.
    pub fn least(&self, sum: &Affine<V>) -> Option<i128> {
        self.most(&sum.negated()).map(|most| -most)
    }

    /// Returns the smallest number that is an upper bound of a sum by the bounds of its variables. Up
    /// to `depth` further bounds are used one after the other.
    fn number(&self, sum: &Affine<V>, depth: usize) -> Option<i128> {
        let mut total = sum.number();
        for (variable, coefficient) in sum.terms() {
            let bounds = match coefficient > 0 {
                true => self.upper.get(variable),
                false => self.lower.get(variable),
            };
            let number = |bound: &Affine<V>| {
                let term = bound.times(coefficient)?;
                match term.as_constant() {
                    Some(number) => Some(number),
                    None if depth > 0 => self.number(&term, depth - 1),
                    None => None,
                }
            };
            let smallest = bounds.into_iter().flatten().filter_map(number).min()?;
            total = total.checked_add(smallest)?;
        }
        Some(total)
    }

    /// Returns the current end of the facts.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Forgets the facts that were added since a mark.
    pub fn forget(&mut self, mark: usize) {
        for (variable, below) in self.log.drain(mark..).rev() {
            let bounds = if below {
                &mut self.lower
            } else {
                &mut self.upper
            };
            if let Some(list) = bounds.get_mut(&variable) {
                list.pop();
            }
        }
    }

    /// True if it can be proved that a sum is never negative. Every variable is replaced by a bound
    /// that makes the sum smaller, until a number is left.
    pub fn is_not_negative(&self, sum: &Affine<V>) -> bool {
        self.prove(sum, DEPTH, &mut { STEPS })
    }

    fn prove(&self, sum: &Affine<V>, depth: usize, steps: &mut usize) -> bool {
        if let Some(constant) = sum.as_constant() {
            return constant >= 0;
        }
        if depth == 0 || *steps == 0 {
            return false;
        }
        // The variable that was bound last comes first, because earlier variables bound it.
        for (variable, coefficient) in sum.terms().rev() {
            let bounds = match coefficient > 0 {
                true => self.lower.get(variable),
                false => self.upper.get(variable),
            };
            for bound in bounds.into_iter().flatten().rev().take(NEWEST) {
                *steps = steps.saturating_sub(1);
                let smaller = sum.substitute(variable, bound);
                if smaller.is_some_and(|s| self.prove(&s, depth - 1, steps)) {
                    return true;
                }
            }
        }
        false
    }
}

/// Returns a sum and its known bounds, if it is a variable plus a number. Where the variable's own
/// bound also holds for the sum (`keeps` tells for which numbers), it is included. It is weaker,
/// but where one side of a clamp is `i - 1 ≤ n - 2`, the other side has only the bound `n - 1`.
fn bounds_of<V: Variable>(
    known: &HashMap<V, Vec<Affine<V>>>,
    sum: &Affine<V>,
    keeps: impl Fn(i128) -> bool,
) -> Vec<Affine<V>> {
    let mut bounds = vec![sum.clone()];
    if let Some((variable, number)) = sum.as_shifted_variable() {
        let of_variable = known
            .get(&variable)
            .into_iter()
            .flatten()
            .rev()
            .take(NEWEST);
        for bound in of_variable {
            bounds.extend(bound.shifted(number));
            bounds.extend(keeps(number).then(|| bound.clone()));
        }
    }
    bounds
}
