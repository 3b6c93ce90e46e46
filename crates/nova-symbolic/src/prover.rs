//! A prover that a polynomial is never negative, from facts about its variables.
//!
//! Each variable has an interval ([`Interval`]). A sum that the intervals settle needs no search. Bounds that
//! say no more than the interval are not stored, since each bound that does not help costs a search.
//!
//! A proof takes the last variable of the sum, finds out whether the variable's factor is negative, and puts
//! a bound of the variable in its place, which consists of earlier variables. It goes on until a number is
//! left. Of a power, one variable is replaced at a time: the factor has fewer of them. There is no search
//! beyond the choice of a bound, and the work is limited.
//!
//! A variable whose lower bound is also an upper one has an equation. The first attempt at a proof puts what
//! variables are equal to in their place, which needs no choice. Quotients and remainders mostly cancel then.

use crate::interval::Interval;
use crate::polynomial::{Exact, Sum, Variable};
use nova_diag::deep;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

#[cfg(test)]
mod tests;

/// The largest number of steps of a proof.
const MOST_STEPS: u32 = 30_000;
/// The attempt by equations takes at most one in this many of the steps of a proof.
const BY_EQUATIONS: u32 = 10;
/// The largest number of bounds of one variable on one side.
const MOST_BOUNDS: usize = 12;
/// The largest depth of derivation of facts from one fact.
const MOST_DERIVED: u32 = 4;

/// A fact about variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact<V> {
    /// A sum is not negative.
    AtLeastZero(Exact<V>),
    /// A variable is one of these values.
    OneOf(V, Vec<Case<V>>),
}

/// A value that a variable may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case<V> {
    /// The sums that are not negative if it has this value.
    pub conditions: Vec<Exact<V>>,
    /// The value.
    pub value: Exact<V>,
}

impl<V: Variable> Case<V> {
    /// A value that a variable may have without conditions.
    pub fn of(value: Exact<V>) -> Self {
        let conditions = Vec::new();
        Case { conditions, value }
    }
}

/// A bound of a variable: `times` the variable is at least, or at most, `value`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound<V> {
    times: i128,
    value: Exact<V>,
}

impl<V: Variable> Bound<V> {
    fn number(number: i128) -> Option<Bound<V>> {
        let value = Exact::constant(i64::try_from(number).ok()?);
        Some(Bound { times: 1, value })
    }

    /// True for a lower bound whose value, of this range, may be above the least number that is known.
    fn says_more_than_least(&self, of_value: Interval, known: Interval) -> bool {
        let least = known.least.and_then(|least| least.checked_mul(self.times));
        least.is_none_or(|least| of_value.most.is_none_or(|value| value > least))
    }

    /// True for an upper bound whose value, of this range, may be below the largest number that is known.
    fn says_more_than_most(&self, of_value: Interval, known: Interval) -> bool {
        let most = known.most.and_then(|most| most.checked_mul(self.times));
        most.is_none_or(|most| of_value.least.is_none_or(|value| value < most))
    }
}

/// Facts about a variable.
#[derive(Clone, Debug)]
struct Known<V> {
    /// Its least and greatest numbers.
    range: Interval,
    /// Its other bounds: those that may say more than the range does.
    lower: Vec<Bound<V>>,
    upper: Vec<Bound<V>>,
    /// Lists of cases: of each list, the variable has one of the values.
    cases: Vec<Vec<Case<V>>>,
    /// Factors, each with an upper bound of its product with the variable.
    products: Vec<(Exact<V>, Exact<V>)>,
}

impl<V> Default for Known<V> {
    fn default() -> Self {
        Known {
            range: Interval::default(),
            lower: Vec::new(),
            upper: Vec::new(),
            cases: Vec::new(),
            products: Vec::new(),
        }
    }
}

impl<V: Variable> Known<V> {
    /// All lower bounds.
    fn lowers(&self) -> impl Iterator<Item = Bound<V>> {
        let number = self.range.least.and_then(Bound::number);
        number.into_iter().chain(self.lower.iter().cloned())
    }

    /// All upper bounds.
    fn uppers(&self) -> impl Iterator<Item = Bound<V>> {
        let number = self.range.most.and_then(Bound::number);
        number.into_iter().chain(self.upper.iter().cloned())
    }

    /// Returns a sum of earlier variables to which the variable is equal.
    fn equal(&self) -> Option<&Exact<V>> {
        let mut lower = self.lower.iter();
        let both = lower.find(|bound| bound.times == 1 && self.upper.contains(bound));
        both.map(|bound| &bound.value)
    }

    /// Returns sums that are not negative if the variable has this value, which then has the same bounds.
    fn of_value(&self, value: &Exact<V>) -> Vec<Exact<V>> {
        let distance = |bound: Bound<V>| value.scaled(bound.times)?.minus(&bound.value);
        let above = self.lowers().filter_map(distance);
        let below = self.uppers().filter_map(distance);
        above.chain(below.map(|sum| sum.negated())).collect()
    }
}

/// The state of the search for a proof.
#[derive(Debug)]
struct Search<V> {
    /// The number of steps that are left.
    left: u32,
    /// Sums without their constants, with the largest constant for which no proof has been found.
    failed: HashMap<Exact<V>, i128>,
    /// Sums without their constants, with the smallest constant for which a proof has been found. There is
    /// one map for each nested assumption of a case: a proof without the last ones also holds with them.
    proved: Vec<HashMap<Exact<V>, i128>>,
}

impl<V: Variable> Search<V> {
    /// Returns the outcome for a sum with this constant, if it follows from earlier attempts.
    fn found(&self, sum: &Exact<V>, number: i128) -> Option<bool> {
        let proved = self.proved.iter().filter_map(|proved| proved.get(sum));
        if proved.into_iter().any(|least| number >= *least) {
            return Some(true);
        }
        let failed = self.failed.get(sum).is_some_and(|most| number <= *most);
        failed.then_some(false)
    }

    /// Records the outcome for a sum with this constant.
    fn remember(&mut self, sum: Exact<V>, number: i128, holds: bool) {
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

/// A set of facts about variables.
#[derive(Clone, Debug)]
pub struct Prover<V> {
    /// The facts by variable, shared with copies of the prover that assume a case.
    known: BTreeMap<V, Rc<Known<V>>>,
    /// True if the facts contradict each other, so that control never reaches a place where they hold.
    is_nowhere: bool,
}

impl<V> Default for Prover<V> {
    fn default() -> Self {
        Prover {
            known: BTreeMap::new(),
            is_nowhere: false,
        }
    }
}

impl<V: Variable> Prover<V> {
    /// Learns a fact.
    pub fn learn(&mut self, fact: &Fact<V>) {
        match fact {
            Fact::AtLeastZero(sum) => self.learn_sum(sum, MOST_DERIVED),
            Fact::OneOf(variable, values) => {
                let ranges = values.iter().map(|case| self.range(&case.value));
                let of_any = ranges.reduce(Interval::hull);
                let known = self.known_mut(variable);
                if !known.cases.contains(values) {
                    known.cases.push(values.clone());
                }
                if let Some(of_any) = of_any {
                    self.narrow(variable, of_any);
                }
            }
        }
    }

    /// Learns that a sum is not negative: a bound of its last variable. Combined with the bounds of that variable
    /// on the other side, this gives facts about earlier variables too.
    fn learn_sum(&mut self, sum: &Exact<V>, derive: u32) {
        self.is_nowhere |= sum.as_constant().is_some_and(|number| number < 0);
        let Some(variable) = sum.latest() else { return };
        let (factor, rest) = sum.split_once(&variable);
        let Some(factor) = factor.as_constant() else {
            // The product of the variable and the negated factor is at most `rest`.
            let product = factor.negated();
            let known = self.known_mut(&variable);
            let most = (product, rest);
            if !known.products.contains(&most) {
                known.products.push(most);
            }
            return;
        };
        let is_lower = factor > 0;
        let value = match is_lower {
            true => rest.negated(),
            false => rest.clone(),
        };
        let times = factor.abs();
        let Some(others) = self.learn_bound(&variable, is_lower, Bound { times, value }) else {
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

    /// Learns a bound of a variable; returns its bounds on the other side if the bound is new.
    fn learn_bound(
        &mut self,
        variable: &V,
        is_lower: bool,
        bound: Bound<V>,
    ) -> Option<Vec<Bound<V>>> {
        let of_value = self.range(&bound.value);
        // A whole number that is at least a fraction is at least the next whole number.
        let limits = match is_lower {
            true => Interval {
                least: of_value.least.map(|least| div_up(least, bound.times)),
                most: None,
            },
            false => Interval {
                least: None,
                most: of_value.most.map(|most| most.div_euclid(bound.times)),
            },
        };
        let narrows = self.narrow(variable, limits);
        let known = self.known_mut(variable);
        let others: Vec<Bound<V>> = match is_lower {
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

    /// Learns that a variable is in a range, and forgets the bounds that say no more than that. Returns true if
    /// the range is new.
    fn narrow(&mut self, variable: &V, range: Interval) -> bool {
        let before = self.known.entry(variable.clone()).or_default().clone();
        let both = before.range.intersection(range);
        if both == before.range {
            return false;
        }
        let range = |bound: &Bound<V>| self.range(&bound.value);
        let is_lower = |b: &&Bound<V>| b.says_more_than_least(range(b), both);
        let is_upper = |b: &&Bound<V>| b.says_more_than_most(range(b), both);
        let lower = before.lower.iter().filter(is_lower).cloned().collect();
        let upper = before.upper.iter().filter(is_upper).cloned().collect();
        let known = self.known_mut(variable);
        (known.range, known.lower, known.upper) = (both, lower, upper);
        self.is_nowhere |= both.is_empty();
        true
    }

    fn known_mut(&mut self, variable: &V) -> &mut Known<V> {
        Rc::make_mut(self.known.entry(variable.clone()).or_default())
    }

    /// The range of a sum.
    fn range(&self, sum: &Exact<V>) -> Interval {
        sum.interval(|variable| {
            self.known
                .get(variable)
                .map_or_else(Interval::default, |known| known.range)
        })
    }

    /// True if it is proved that a sum is never negative where the facts hold.
    pub fn holds(&self, sum: &impl Sum<V>) -> bool {
        let sum = sum.known();
        sum.is_some_and(|sum| self.holds_within(MOST_STEPS, sum) == Some(true))
    }

    /// True if it is proved that a sum is always positive where the facts hold.
    pub fn is_positive(&self, sum: &Exact<V>) -> bool {
        self.holds(&sum.plus_number(-1))
    }

    /// True if it is proved that one sum is always at least as large as another.
    pub fn is_at_least(&self, one: &Exact<V>, other: &Exact<V>) -> bool {
        self.holds(&one.minus(other))
    }

    /// Does the same as [`Prover::holds`]; returns `None` if this number of steps does not suffice.
    fn holds_within(&self, steps: u32, sum: &Exact<V>) -> Option<bool> {
        let by_equations = self.by_equations(sum);
        if by_equations.is_some_and(|sum| self.search(steps / BY_EQUATIONS, &sum) == Some(true)) {
            return Some(true);
        }
        self.search(steps, sum)
    }

    /// Returns a sum with what variables are equal to in their place, as often as there is an equation.
    fn by_equations(&self, sum: &Exact<V>) -> Option<Exact<V>> {
        let mut result: Option<Exact<V>> = None;
        let mut next = sum.latest();
        while let Some(variable) = next {
            let value = self.known.get(&variable).and_then(|known| known.equal());
            if let Some(value) = value {
                let (factor, rest) = result.as_ref().unwrap_or(sum).split_once(&variable);
                result = Some(factor.times(value)?.plus(&rest)?);
            }
            // Of a power, one occurrence is replaced at a time.
            let is_left = |v: &&V| **v < variable || **v == variable && value.is_some();
            let left = result.as_ref().unwrap_or(sum).variables();
            next = left.filter(is_left).max().cloned();
        }
        result
    }

    /// Searches for a proof within this number of steps.
    fn search(&self, steps: u32, sum: &Exact<V>) -> Option<bool> {
        let mut search = Search {
            left: steps,
            failed: HashMap::new(),
            proved: vec![HashMap::new()],
        };
        let holds = self.is_nowhere || self.prove(sum, &mut search);
        (holds || search.left > 0).then_some(holds)
    }

    fn prove(&self, sum: &Exact<V>, search: &mut Search<V>) -> bool {
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
    fn prove_new(&self, sum: &Exact<V>, search: &mut Search<V>) -> bool {
        let Some(variable) = sum.latest() else {
            return false;
        };
        let (factor, rest) = sum.split_once(&variable);
        let Some(known) = self.known.get(&variable) else {
            return false;
        };
        let rises = match factor.as_constant() {
            Some(number) => Some(number > 0),
            None if deep(|| self.prove(&factor, search)) => Some(true),
            None if deep(|| self.prove(&factor.negated(), search)) => Some(false),
            None => None,
        };
        let bounds: Vec<Bound<V>> = match rises {
            Some(true) => known.lowers().collect(),
            Some(false) => known.uppers().collect(),
            None => Vec::new(),
        };
        // The bounds that cancel most terms are tried first: the others mostly fail, after a long search.
        let sums = bounds.iter();
        let sums = sums.filter_map(|bound| replace(&factor, &rest, bound));
        let mut sums: Vec<Exact<V>> = sums.collect();
        sums.sort_by_key(|sum| (sum.terms(), sum.split_number().1 < 0));
        if sums.iter().any(|sum| deep(|| self.prove(sum, search))) {
            return true;
        }
        for (product, most) in &known.products {
            if *product == factor.negated()
                && rest
                    .minus(most)
                    .is_some_and(|sum| deep(|| self.prove(&sum, search)))
            {
                return true;
            }
        }
        known.cases.iter().any(|cases| {
            cases.iter().all(|case| {
                let product = factor.times(&case.value);
                self.is_excluded(known, case, search)
                    || product
                        .and_then(|product| product.plus(&rest))
                        .is_some_and(|sum| deep(|| self.prove_case(known, case, &sum, search)))
            })
        })
    }

    /// True if a sum is not negative where a case holds of the variable with the facts `known`.
    fn prove_case(
        &self,
        known: &Known<V>,
        case: &Case<V>,
        sum: &Exact<V>,
        search: &mut Search<V>,
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

    /// True if the variable with the facts `known` cannot have the value of a case.
    fn is_excluded(&self, known: &Known<V>, case: &Case<V>, search: &mut Search<V>) -> bool {
        let is_less = |least: i128| case.value.as_constant().is_some_and(|v| v < least);
        known.range.least.is_some_and(is_less)
            || case.conditions.iter().any(|condition| {
                // A whole number is negative exactly where -1 less the number is not.
                let opposite = Exact::constant(-1).minus(condition);
                opposite.is_some_and(|opposite| deep(|| self.prove(&opposite, search)))
            })
    }
}

/// Returns `factor · variable + rest` with a bound in place of the variable, times a positive number.
fn replace<V: Variable>(factor: &Exact<V>, rest: &Exact<V>, bound: &Bound<V>) -> Option<Exact<V>> {
    factor.times(&bound.value)?.plus(&rest.scaled(bound.times)?)
}

/// Eliminates a variable from `factor · variable + rest ≥ 0` by a bound of it on the other side: the result is
/// a sum that is not negative.
fn eliminate<V: Variable>(factor: i128, rest: &Exact<V>, other: &Bound<V>) -> Option<Exact<V>> {
    replace(&Exact::integer(factor)?, rest, other)
}

/// Divides and rounds up.
fn div_up(number: i128, by: i128) -> i128 {
    number.div_euclid(by) + i128::from(number.rem_euclid(by) != 0)
}
