//! Integers as sums of multiples of symbols, bounds of symbols, and proofs of inequalities from them.

use nova_flat::ir::Variable;
use std::collections::{BTreeMap, HashMap};

/// `constant + Σ coefficient · symbol`, as mathematical integers. Symbols are variables of the
/// program. An integer that is computed from others in another way is a symbol of its own.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Affine {
    constant: i128,
    terms: BTreeMap<Variable, i128>,
}

/// The largest coefficients and constants. Sums of a few of them stay far from overflow.
const LARGEST: i128 = 1 << 100;

/// The largest number of symbols in a sum.
const MOST_TERMS: usize = 6;

impl Affine {
    /// Returns a number as a sum.
    pub(super) fn constant(constant: i128) -> Affine {
        Affine {
            constant,
            terms: BTreeMap::new(),
        }
    }

    /// Returns a symbol as a sum.
    pub(super) fn symbol(symbol: Variable) -> Affine {
        Affine {
            constant: 0,
            terms: BTreeMap::from([(symbol, 1)]),
        }
    }

    /// Returns the number that it is, if it has no symbols.
    pub(super) fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns the symbol, if the sum is a single symbol.
    pub(super) fn as_symbol(&self) -> Option<Variable> {
        let (symbol, number) = self.as_shifted_symbol()?;
        (number == 0).then_some(symbol)
    }

    /// Returns the symbol and the number, if the sum is one symbol plus a number.
    fn as_shifted_symbol(&self) -> Option<(Variable, i128)> {
        let mut terms = self.terms.iter();
        match (terms.next(), terms.next()) {
            (Some((symbol, 1)), None) => Some((*symbol, self.constant)),
            _ => None,
        }
    }

    /// Returns the symbols with coefficient 1 or -1.
    pub(super) fn unit_terms(&self) -> Vec<(Variable, i128)> {
        let units = self.terms.iter().filter(|(_, c)| c.abs() == 1);
        units.map(|(symbol, c)| (*symbol, *c)).collect()
    }

    /// Returns the symbols with their coefficients.
    pub(super) fn terms(&self) -> Vec<(Variable, i128)> {
        self.terms.iter().map(|(symbol, c)| (*symbol, *c)).collect()
    }

    /// Returns the symbols.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Variable> {
        self.terms.keys().copied()
    }

    /// Returns the coefficient of a symbol.
    pub(super) fn coefficient(&self, symbol: Variable) -> i128 {
        self.terms.get(&symbol).copied().unwrap_or(0)
    }

    /// Returns the number without the symbols.
    pub(super) fn number(&self) -> i128 {
        self.constant
    }

    /// Returns two sums whose difference is this one. Their symbols have positive coefficients, and
    /// their numbers are not positive.
    pub(super) fn sides(&self) -> (Affine, Affine) {
        let (mut more, mut less) = (Affine::default(), Affine::default());
        for (symbol, coefficient) in &self.terms {
            let side = if *coefficient > 0 {
                &mut more
            } else {
                &mut less
            };
            side.terms.insert(*symbol, coefficient.abs());
        }
        more.constant = self.constant.min(0);
        less.constant = (-self.constant).min(0);
        (more, less)
    }

    /// Returns the sum without one of its symbols.
    pub(super) fn without(&self, symbol: Variable) -> Affine {
        let mut rest = self.clone();
        rest.terms.remove(&symbol);
        rest
    }

    /// Returns `self + factor · other`, or `None` where it becomes too large to handle.
    pub(super) fn plus(&self, factor: i128, other: &Affine) -> Option<Affine> {
        let mut sum = self.clone();
        sum.constant = within(sum.constant + within(factor.checked_mul(other.constant)?)?)?;
        for (symbol, coefficient) in &other.terms {
            let entry = sum.terms.entry(*symbol).or_default();
            *entry = within(*entry + within(factor.checked_mul(*coefficient)?)?)?;
        }
        sum.terms.retain(|_, coefficient| *coefficient != 0);
        (sum.terms.len() <= MOST_TERMS).then_some(sum)
    }

    /// Returns `self + number`.
    pub(super) fn shifted(&self, number: i128) -> Option<Affine> {
        self.plus(1, &Affine::constant(number))
    }

    /// Returns `factor · self`.
    pub(super) fn times(&self, factor: i128) -> Option<Affine> {
        Affine::default().plus(factor, self)
    }

    /// Replaces a symbol, which has this coefficient, by a sum.
    pub(super) fn substitute(
        &self,
        symbol: Variable,
        coefficient: i128,
        value: &Affine,
    ) -> Option<Affine> {
        self.without(symbol).plus(coefficient, value)
    }
}

fn within(number: i128) -> Option<i128> {
    (-LARGEST..=LARGEST).contains(&number).then_some(number)
}

/// Facts about symbols: each lies between these sums.
#[derive(Default)]
pub(super) struct Facts {
    lower: HashMap<Variable, Vec<Affine>>,
    upper: HashMap<Variable, Vec<Affine>>,
    /// The added facts, oldest first: the symbol, and true for a lower bound.
    log: Vec<(Variable, bool)>,
}

/// The largest number of bounds that are used one after the other in a proof.
const DEPTH: usize = 5;

/// The largest number of bounds that are used one after the other to find a number.
const NUMBERS: usize = 2;

/// The number of bounds of one symbol that are tried, the newest first.
const NEWEST: usize = 8;

/// The largest number of steps of a proof.
const STEPS: usize = 200;

impl Facts {
    /// Notes `bound ≤ symbol`.
    pub(super) fn at_least(&mut self, symbol: Variable, bound: Affine) {
        let known = self.lower.entry(symbol).or_default();
        if !known.contains(&bound) {
            known.push(bound);
            self.log.push((symbol, true));
        }
    }

    /// Notes `symbol ≤ bound`.
    pub(super) fn at_most(&mut self, symbol: Variable, bound: Affine) {
        let known = self.upper.entry(symbol).or_default();
        if !known.contains(&bound) {
            known.push(bound);
            self.log.push((symbol, false));
        }
    }

    /// Returns a sum and its known lower bounds.
    pub(super) fn lower_bounds(&self, sum: &Affine) -> Vec<Affine> {
        bounds_of(&self.lower, sum, |number| number > 0)
    }

    /// Returns a sum and its known upper bounds.
    pub(super) fn upper_bounds(&self, sum: &Affine) -> Vec<Affine> {
        bounds_of(&self.upper, sum, |number| number < 0)
    }

    /// Returns a number that a sum never exceeds, if one is known.
    pub(super) fn most(&self, sum: &Affine) -> Option<i128> {
        self.number(sum, NUMBERS)
    }

    /// Returns a number that a sum is never less than, if one is known.
    pub(super) fn least(&self, sum: &Affine) -> Option<i128> {
        self.most(&sum.times(-1)?).map(|most| -most)
    }

    /// Returns the smallest number that is an upper bound of a sum by the bounds of its symbols. Up
    /// to `depth` further bounds are used one after the other.
    fn number(&self, sum: &Affine, depth: usize) -> Option<i128> {
        let mut total = Affine::constant(sum.constant);
        for (symbol, coefficient) in &sum.terms {
            let bounds = match *coefficient > 0 {
                true => self.upper.get(symbol),
                false => self.lower.get(symbol),
            };
            let number = |bound: &Affine| {
                let term = bound.times(*coefficient)?;
                match term.as_constant() {
                    Some(number) => Some(number),
                    None if depth > 0 => self.number(&term, depth - 1),
                    None => None,
                }
            };
            let smallest = bounds.into_iter().flatten().filter_map(number).min()?;
            total = total.shifted(smallest)?;
        }
        total.as_constant()
    }

    /// Returns the current end of the facts.
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Forgets the facts that were added since a mark.
    pub(super) fn forget(&mut self, mark: usize) {
        for (symbol, below) in self.log.drain(mark..).rev() {
            let bounds = if below {
                &mut self.lower
            } else {
                &mut self.upper
            };
            if let Some(list) = bounds.get_mut(&symbol) {
                list.pop();
            }
        }
    }

    /// True if it can be proved that a sum is never negative. Every symbol is replaced by a bound
    /// that makes the sum smaller, until a number is left.
    pub(super) fn is_not_negative(&self, sum: &Affine) -> bool {
        self.prove(sum, DEPTH, &mut { STEPS })
    }

    fn prove(&self, sum: &Affine, depth: usize, steps: &mut usize) -> bool {
        if let Some(constant) = sum.as_constant() {
            return constant >= 0;
        }
        if depth == 0 || *steps == 0 {
            return false;
        }
        // The symbol that was bound last comes first, because earlier symbols bound it.
        for (symbol, coefficient) in sum.terms.iter().rev() {
            let bounds = match *coefficient > 0 {
                true => self.lower.get(symbol),
                false => self.upper.get(symbol),
            };
            for bound in bounds.into_iter().flatten().rev().take(NEWEST) {
                *steps = steps.saturating_sub(1);
                let smaller = sum.substitute(*symbol, *coefficient, bound);
                if smaller.is_some_and(|s| self.prove(&s, depth - 1, steps)) {
                    return true;
                }
            }
        }
        false
    }
}

/// Returns a sum and its known bounds, if it is a symbol plus a number. Where the symbol's own
/// bound also holds for the sum (`keeps` tells for which numbers), it is included. It is weaker,
/// but where one side of a clamp is `i - 1 ≤ n - 2`, the other side has only the bound `n - 1`.
fn bounds_of(
    known: &HashMap<Variable, Vec<Affine>>,
    sum: &Affine,
    keeps: impl Fn(i128) -> bool,
) -> Vec<Affine> {
    let mut bounds = vec![sum.clone()];
    if let Some((symbol, number)) = sum.as_shifted_symbol() {
        let of_symbol = known.get(&symbol).into_iter().flatten().rev().take(NEWEST);
        for bound in of_symbol {
            bounds.extend(bound.shifted(number));
            bounds.extend(keeps(number).then(|| bound.clone()));
        }
    }
    bounds
}
