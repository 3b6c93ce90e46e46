//! A prover that a sum of products is never negative, from facts about its symbols.
//!
//! Each symbol has a range of numbers ([`crate::ranges`]). A sum that the ranges settle needs no search.
//! Bounds that say no more than the range are not stored, since each bound that does not help costs a
//! search.
//!
//! A proof takes the last symbol of the sum, finds out whether the symbol's factor is negative,
//! and puts a bound of the symbol in its place, which consists of earlier symbols. It goes on until a
//! number is left. Of a power, one symbol is replaced at a time: the factor has fewer of them. There is
//! no search beyond the choice of a bound, and the work is limited.

use crate::polynomial::{Polynomial, Symbol};
use crate::ranges::{self, Range};
use nova_diag::deep;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

#[cfg(test)]
mod tests;

/// The largest number of steps of a proof.
const MOST_STEPS: u32 = 30_000;
/// The largest number of bounds of one symbol on one side.
const MOST_BOUNDS: usize = 12;
/// The largest depth of derivation of facts from one fact.
const MOST_DERIVED: u32 = 4;

/// A fact about symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// A sum is not negative.
    AtLeastZero(Polynomial),
    /// A symbol is one of these values.
    OneOf(Symbol, Vec<Case>),
}

/// A value that a symbol may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Case {
    /// The sums that are not negative if it has this value.
    pub(crate) conditions: Vec<Polynomial>,
    /// The value.
    pub(crate) value: Polynomial,
}

impl Case {
    /// A value that a symbol may have without conditions.
    pub(crate) fn of(value: Polynomial) -> Case {
        let conditions = Vec::new();
        Case { conditions, value }
    }
}

/// A bound of a symbol: `times` the symbol is at least, or at most, `value`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound {
    times: i128,
    value: Polynomial,
}

impl Bound {
    fn number(number: i128) -> Option<Bound> {
        let value = Polynomial::constant(i64::try_from(number).ok()?);
        Some(Bound { times: 1, value })
    }

    /// True for a lower bound whose value, of this range, may be above the least number that is known.
    fn says_more_than_least(&self, of_value: Range, known: Range) -> bool {
        let least = known.least.and_then(|least| least.checked_mul(self.times));
        least.is_none_or(|least| of_value.most.is_none_or(|value| value > least))
    }

    /// True for an upper bound whose value, of this range, may be below the largest number that is known.
    fn says_more_than_most(&self, of_value: Range, known: Range) -> bool {
        let most = known.most.and_then(|most| most.checked_mul(self.times));
        most.is_none_or(|most| of_value.least.is_none_or(|value| value < most))
    }
}

/// Facts about a symbol.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Its least and greatest numbers.
    range: Range,
    /// Its other bounds: those that may say more than the range does.
    lower: Vec<Bound>,
    upper: Vec<Bound>,
    /// Lists of cases: of each list, the symbol has one of the values.
    cases: Vec<Vec<Case>>,
    /// Factors, each with an upper bound of its product with the symbol.
    products: Vec<(Polynomial, Polynomial)>,
}

impl Known {
    /// All lower bounds.
    fn lowers(&self) -> impl Iterator<Item = Bound> {
        let number = self.range.least.and_then(Bound::number);
        number.into_iter().chain(self.lower.iter().cloned())
    }

    /// All upper bounds.
    fn uppers(&self) -> impl Iterator<Item = Bound> {
        let number = self.range.most.and_then(Bound::number);
        number.into_iter().chain(self.upper.iter().cloned())
    }

    /// Returns sums that are not negative if the symbol has this value, which then has the same bounds.
    fn of_value(&self, value: &Polynomial) -> Vec<Polynomial> {
        let distance = |bound: Bound| {
            let times = i64::try_from(bound.times).ok()?;
            Some(value.scaled(times)?.minus(&bound.value))
        };
        let above = self.lowers().filter_map(distance);
        let below = self.uppers().filter_map(distance);
        above
            .chain(below.map(|sum| Polynomial::default().minus(&sum)))
            .collect()
    }
}

/// The state of the search for a proof.
#[derive(Debug)]
struct Search {
    /// The number of steps that are left.
    left: u32,
    /// Sums without their constants, with the largest constant for which no proof has been found.
    failed: HashMap<Polynomial, i128>,
    /// Sums without their constants, with the smallest constant for which a proof has been found. There is
    /// one map for each nested assumption of a case: a proof without the last ones also holds with them.
    proved: Vec<HashMap<Polynomial, i128>>,
}

impl Search {
    /// Returns the outcome for a sum with this constant, if it follows from earlier attempts.
    fn found(&self, sum: &Polynomial, number: i128) -> Option<bool> {
        let proved = self.proved.iter().filter_map(|proved| proved.get(sum));
        if proved.into_iter().any(|least| number >= *least) {
            return Some(true);
        }
        let failed = self.failed.get(sum).is_some_and(|most| number <= *most);
        failed.then_some(false)
    }

    /// Records the outcome for a sum with this constant.
    fn remember(&mut self, sum: Polynomial, number: i128, holds: bool) {
        match self.proved.last_mut().filter(|_| holds) {
            Some(proved) => {
                let least = proved.entry(sum).or_insert(number);
                *least = number.min(*least);
            }
            None => {
                let most = self.failed.entry(sum).or_insert(number);
                *most = number.max(*most);
            }
        }
    }
}

/// A set of facts about symbols.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prover {
    /// The facts by symbol, shared with copies of the prover that assume a case.
    known: BTreeMap<Symbol, Rc<Known>>,
    /// True if the facts contradict each other, so that control never reaches a place where they hold.
    is_nowhere: bool,
}

impl Prover {
    /// Learns a fact.
    pub(crate) fn learn(&mut self, fact: &Fact) {
        match fact {
            Fact::AtLeastZero(sum) => self.learn_sum(sum, MOST_DERIVED),
            Fact::OneOf(symbol, values) => {
                let ranges = values.iter().map(|case| self.range(&case.value));
                let of_any = ranges.reduce(Range::or);
                let known = self.known_mut(*symbol);
                if !known.cases.contains(values) {
                    known.cases.push(values.clone());
                }
                if let Some(of_any) = of_any {
                    self.narrow(*symbol, of_any);
                }
            }
        }
    }

    /// Learns that a sum is not negative: a bound of its last symbol. Combined with the bounds of that symbol
    /// on the other side, this gives facts about earlier symbols too.
    fn learn_sum(&mut self, sum: &Polynomial, derive: u32) {
        self.is_nowhere |= sum.as_constant().is_some_and(|number| number < 0);
        let Some(symbol) = sum.latest() else { return };
        let (factor, rest) = sum.split_once(symbol);
        let Some(factor) = factor.as_constant() else {
            // The product of the symbol and the negated factor is at most `rest`.
            let product = Polynomial::default().minus(&factor);
            let known = self.known_mut(symbol);
            let most = (product, rest);
            if !known.products.contains(&most) {
                known.products.push(most);
            }
            return;
        };
        let is_lower = factor > 0;
        let value = match is_lower {
            true => Polynomial::default().minus(&rest),
            false => rest.clone(),
        };
        let times = factor.abs();
        let Some(others) = self.learn_bound(symbol, is_lower, Bound { times, value }) else {
            return;
        };
        if let Some(derive) = derive.checked_sub(1) {
            for other in others {
                if let Some(sum) = eliminate(factor, &rest, &other) {
                    deep(|| self.learn_sum(&sum, derive));
                }
            }
        }
    }

    /// Learns a bound of a symbol; returns its bounds on the other side if the bound is new.
    fn learn_bound(&mut self, symbol: Symbol, is_lower: bool, bound: Bound) -> Option<Vec<Bound>> {
        let of_value = self.range(&bound.value);
        // A whole number that is at least a fraction is at least the next whole number.
        let limits = match is_lower {
            true => Range {
                least: of_value.least.map(|least| div_up(least, bound.times)),
                most: None,
            },
            false => Range {
                least: None,
                most: of_value.most.map(|most| most.div_euclid(bound.times)),
            },
        };
        let narrows = self.narrow(symbol, limits);
        let known = self.known_mut(symbol);
        let others: Vec<Bound> = match is_lower {
            true => known.uppers().collect(),
            false => known.lowers().collect(),
        };
        let says_more = match is_lower {
            true => bound.says_more_than_least(of_value, known.range),
            false => bound.says_more_than_most(of_value, known.range),
        };
        let mine = match is_lower {
            true => &mut known.lower,
            false => &mut known.upper,
        };
        let is_new = says_more && !mine.contains(&bound) && mine.len() < MOST_BOUNDS;
        if is_new {
            mine.push(bound);
        }
        (is_new || narrows).then_some(others)
    }

    /// Learns that a symbol is in a range, and forgets the bounds that say no more than that. Returns true if
    /// the range is new.
    fn narrow(&mut self, symbol: Symbol, range: Range) -> bool {
        let before = self.known.entry(symbol).or_default().clone();
        let both = before.range.and(range);
        if both == before.range {
            return false;
        }
        let range = |bound: &Bound| self.range(&bound.value);
        let is_lower = |b: &&Bound| b.says_more_than_least(range(b), both);
        let is_upper = |b: &&Bound| b.says_more_than_most(range(b), both);
        let lower = before.lower.iter().filter(is_lower).cloned().collect();
        let upper = before.upper.iter().filter(is_upper).cloned().collect();
        let known = self.known_mut(symbol);
        (known.range, known.lower, known.upper) = (both, lower, upper);
        self.is_nowhere |= both.is_empty();
        true
    }

    fn known_mut(&mut self, symbol: Symbol) -> &mut Known {
        Rc::make_mut(self.known.entry(symbol).or_default())
    }

    /// The range of a sum.
    fn range(&self, sum: &Polynomial) -> Range {
        ranges::of_sum(sum, &|symbol| {
            self.known
                .get(&symbol)
                .map_or_else(Range::default, |known| known.range)
        })
    }

    /// True if a sum is known never to be negative.
    pub(crate) fn holds(&self, sum: &Polynomial) -> bool {
        self.holds_within(MOST_STEPS, sum) == Some(true)
    }

    /// Does the same as [`Prover::holds`]; returns `None` if this number of steps does not suffice.
    fn holds_within(&self, steps: u32, sum: &Polynomial) -> Option<bool> {
        let mut search = Search {
            left: steps,
            failed: HashMap::new(),
            proved: vec![HashMap::new()],
        };
        let holds = self.is_nowhere || self.prove(sum, &mut search);
        (holds || search.left > 0).then_some(holds)
    }

    fn prove(&self, sum: &Polynomial, search: &mut Search) -> bool {
        let range = self.range(sum);
        if range.least.is_some_and(|least| least >= 0) {
            return true;
        }
        if range.most.is_some_and(|most| most < 0) {
            return false;
        }
        let (rest, number) = sum.split_number();
        if let Some(found) = search.found(&rest, number) {
            return found;
        }
        if search.left == 0 {
            return false;
        }
        search.left -= 1;
        let holds = self.prove_new(sum, search);
        search.remember(rest, number, holds);
        holds
    }

    /// Searches for a proof for a sum that has not been tried.
    fn prove_new(&self, sum: &Polynomial, search: &mut Search) -> bool {
        let Some(symbol) = sum.latest() else {
            return false;
        };
        let (factor, rest) = sum.split_once(symbol);
        let Some(known) = self.known.get(&symbol) else {
            return false;
        };
        let rises = match factor.as_constant() {
            Some(number) => Some(number > 0),
            None if deep(|| self.prove(&factor, search)) => Some(true),
            None if deep(|| self.prove(&Polynomial::default().minus(&factor), search)) => {
                Some(false)
            }
            None => None,
        };
        let bounds: Vec<Bound> = match rises {
            Some(true) => known.lowers().collect(),
            Some(false) => known.uppers().collect(),
            None => Vec::new(),
        };
        // The bounds that cancel most terms are tried first: the others mostly fail, after a long search.
        let sums = bounds.iter();
        let sums = sums.filter_map(|bound| replace(&factor, &rest, bound));
        let mut sums: Vec<Polynomial> = sums.collect();
        sums.sort_by_key(|sum| (sum.terms(), sum.split_number().1 < 0));
        if sums.iter().any(|sum| deep(|| self.prove(sum, search))) {
            return true;
        }
        for (product, most) in &known.products {
            if *product == Polynomial::default().minus(&factor)
                && deep(|| self.prove(&rest.minus(most), search))
            {
                return true;
            }
        }
        known.cases.iter().any(|cases| {
            cases.iter().all(|case| {
                let product = factor.times(&case.value);
                self.is_excluded(known, case, search)
                    || product.is_some_and(|product| {
                        deep(|| self.prove_case(known, case, &product.plus(&rest), search))
                    })
            })
        })
    }

    /// True if a sum is not negative where a case holds of the symbol with the facts `known`.
    fn prove_case(
        &self,
        known: &Known,
        case: &Case,
        sum: &Polynomial,
        search: &mut Search,
    ) -> bool {
        if case.conditions.is_empty() {
            return self.prove(sum, search);
        }
        let mut inside = self.clone();
        for condition in &case.conditions {
            inside.learn_sum(condition, MOST_DERIVED);
        }
        for fact in known.of_value(&case.value) {
            inside.learn_sum(&fact, MOST_DERIVED);
        }
        if inside.is_nowhere {
            return true;
        }
        let outside = std::mem::take(&mut search.failed);
        search.proved.push(HashMap::new());
        let holds = inside.prove(sum, search);
        search.proved.pop();
        search.failed = outside;
        holds
    }

    /// True if the symbol with the facts `known` cannot have the value of a case.
    fn is_excluded(&self, known: &Known, case: &Case, search: &mut Search) -> bool {
        let is_less = |least: i128| case.value.as_constant().is_some_and(|v| v < least);
        known.range.least.is_some_and(is_less)
            || case.conditions.iter().any(|condition| {
                let opposite = Polynomial::constant(-1).minus(condition);
                deep(|| self.prove(&opposite, search))
            })
    }
}

/// Returns `factor · symbol + rest` with a bound in place of the symbol, times a positive number.
fn replace(factor: &Polynomial, rest: &Polynomial, bound: &Bound) -> Option<Polynomial> {
    let times = Polynomial::constant(i64::try_from(bound.times).ok()?);
    Some(factor.times(&bound.value)?.plus(&rest.times(&times)?))
}

/// Eliminates a symbol from `factor · symbol + rest ≥ 0` by a bound of it on the other side: the result is
/// a sum that is not negative.
fn eliminate(factor: i128, rest: &Polynomial, other: &Bound) -> Option<Polynomial> {
    let factor = Polynomial::constant(i64::try_from(factor).ok()?);
    replace(&factor, rest, other)
}

/// Divides and rounds up.
fn div_up(number: i128, by: i128) -> i128 {
    number.div_euclid(by) + i128::from(number.rem_euclid(by) != 0)
}
