//! Whether a sum of products is never negative, by what is known of its symbols.
//!
//! A proof takes the last symbol of the sum, finds out whether what it is multiplied by is negative,
//! and puts a bound of the symbol in its place, which consists of earlier symbols; until a number is
//! left. Of a power one symbol is replaced at a time: what it is multiplied by has fewer of them. There is
//! no search beyond the choice of a bound, and the work is limited.

use super::polynomial::{Polynomial, Symbol};
use nova_diag::deep;
use std::collections::{BTreeMap, HashSet};

/// Steps of a proof.
const MOST_STEPS: u32 = 100_000;
/// Bounds of one symbol that are looked at.
const MOST_BOUNDS: usize = 12;
/// How many facts follow from one, at most one from the other.
const MOST_DERIVED: u32 = 4;

/// Something that is known.
#[derive(Clone, Debug)]
pub(super) enum Fact {
    /// A sum is not negative.
    AtLeastZero(Polynomial),
    /// A symbol is one of these values.
    OneOf(Symbol, Vec<Case>),
}

/// A value that a symbol may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Case {
    /// What is not negative if it has this value.
    pub(super) conditions: Vec<Polynomial>,
    /// The value.
    pub(super) value: Polynomial,
}

impl Case {
    /// A value that a symbol may have whenever.
    pub(super) fn of(value: Polynomial) -> Case {
        let conditions = Vec::new();
        Case { conditions, value }
    }
}

/// A bound of a symbol: so many times the symbol is at least, or at most, this.
#[derive(Clone, Debug)]
struct Bound {
    times: i128,
    value: Polynomial,
}

#[derive(Clone, Debug, Default)]
struct Known {
    lower: Vec<Bound>,
    upper: Vec<Bound>,
    /// Values of which it is one.
    cases: Vec<Vec<Case>>,
    /// What products with it are at most.
    products: Vec<(Polynomial, Polynomial)>,
}

impl Known {
    /// What holds if the symbol has this value: its bounds are also those of the value.
    fn of_value(&self, value: &Polynomial) -> Vec<Polynomial> {
        let distance = |bound: &Bound| {
            let times = i64::try_from(bound.times).ok()?;
            Some(value.scaled(times)?.minus(&bound.value))
        };
        let above = self.lower.iter().filter_map(distance);
        let below = self.upper.iter().filter_map(distance);
        above
            .chain(below.map(|sum| Polynomial::default().minus(&sum)))
            .collect()
    }
}

/// A proof that is being looked for.
#[derive(Debug)]
struct Search {
    /// Steps that are left.
    left: u32,
    /// Sums of which it has been found out that nothing shows that they are not negative.
    failed: HashSet<Polynomial>,
    /// Those of which it has been shown, by the cases that are assumed: what is known without the last
    /// ones also holds with them.
    proved: Vec<HashSet<Polynomial>>,
}

/// What is known of symbols.
#[derive(Clone, Debug, Default)]
pub(super) struct Prover {
    known: BTreeMap<Symbol, Known>,
    /// Whether all of it cannot be at once, so that whoever knows it is nowhere.
    is_nowhere: bool,
}

impl Prover {
    /// Learns a fact.
    pub(super) fn learn(&mut self, fact: &Fact) {
        match fact {
            Fact::AtLeastZero(sum) => self.learn_sum(sum, MOST_DERIVED),
            Fact::OneOf(symbol, values) => {
                let known = self.known.entry(*symbol).or_default();
                if !known.cases.contains(values) {
                    known.cases.push(values.clone());
                }
            }
        }
    }

    /// Learns that a sum is not negative: a bound of its last symbol. With the bounds of that symbol
    /// on the other side, this says something of earlier ones too.
    fn learn_sum(&mut self, sum: &Polynomial, derive: u32) {
        self.is_nowhere |= sum.as_constant().is_some_and(|number| number < 0);
        let Some(symbol) = sum.latest() else { return };
        let (factor, rest) = sum.split_once(symbol);
        let Some(factor) = factor.as_constant() else {
            // At most `rest` are as many times the symbol as its factor says.
            let product = Polynomial::default().minus(&factor);
            let known = self.known.entry(symbol).or_default();
            let most = (product, rest);
            if !known.products.contains(&most) {
                known.products.push(most);
            }
            return;
        };
        let known = self.known.entry(symbol).or_default();
        let (mine, others) = match factor > 0 {
            true => (&mut known.lower, &known.upper),
            false => (&mut known.upper, &known.lower),
        };
        let value = match factor > 0 {
            true => Polynomial::default().minus(&rest),
            false => rest.clone(),
        };
        let times = factor.abs();
        let is_known = mine.iter().any(|b| b.times == times && b.value == value);
        if is_known || mine.len() >= MOST_BOUNDS {
            return;
        }
        let others = others.clone();
        mine.push(Bound { times, value });
        if let Some(derive) = derive.checked_sub(1) {
            for other in others {
                if let Some(sum) = eliminate(factor, &rest, &other) {
                    deep(|| self.learn_sum(&sum, derive));
                }
            }
        }
    }

    /// Whether a sum is known never to be negative.
    pub(super) fn holds(&self, sum: &Polynomial) -> bool {
        let mut search = Search {
            left: MOST_STEPS,
            failed: HashSet::new(),
            proved: vec![HashSet::new()],
        };
        self.is_nowhere || self.prove(sum, &mut search)
    }

    fn prove(&self, sum: &Polynomial, search: &mut Search) -> bool {
        if let Some(number) = sum.as_constant() {
            return number >= 0;
        }
        if search.proved.iter().any(|proved| proved.contains(sum)) {
            return true;
        }
        if search.left == 0 || search.failed.contains(sum) {
            return false;
        }
        search.left -= 1;
        let holds = self.prove_new(sum, search);
        match search.proved.last_mut().filter(|_| holds) {
            Some(proved) => proved.insert(sum.clone()),
            None => search.failed.insert(sum.clone()),
        };
        holds
    }

    /// The same, for a sum that has not been looked at.
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
        let bounds = match rises {
            Some(true) => &known.lower,
            Some(false) => &known.upper,
            None => &Vec::new(),
        };
        // What cancels most is tried first: the others are mostly in vain, which takes long to find out.
        let sums = bounds.iter();
        let sums = sums.filter_map(|bound| replace(&factor, &rest, bound));
        let mut sums: Vec<Polynomial> = sums.collect();
        sums.sort_by_key(Polynomial::terms);
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

    /// Whether a sum is not negative where a case holds of a symbol of which this is known.
    fn prove_case(
        &self,
        known: &Known,
        case: &Case,
        sum: &Polynomial,
        search: &mut Search,
    ) -> bool {
        if self.prove(sum, search) {
            return true;
        }
        if case.conditions.is_empty() || search.left == 0 {
            return false;
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
        search.proved.push(HashSet::new());
        let holds = inside.prove(sum, search);
        search.proved.pop();
        search.failed = outside;
        holds
    }

    /// Whether a symbol of which this is known does not have a value.
    fn is_excluded(&self, known: &Known, case: &Case, search: &mut Search) -> bool {
        let is_less = |bound: &Bound| match (bound.value.as_constant(), case.value.as_constant()) {
            (Some(least), Some(value)) => bound.times.saturating_mul(value) < least,
            (_, _) => false,
        };
        known.lower.iter().any(is_less)
            || case.conditions.iter().any(|condition| {
                let opposite = Polynomial::constant(-1).minus(condition);
                deep(|| self.prove(&opposite, search))
            })
    }
}

/// `factor · symbol + rest` with a bound in the place of the symbol, times a positive number.
fn replace(factor: &Polynomial, rest: &Polynomial, bound: &Bound) -> Option<Polynomial> {
    let times = Polynomial::constant(i64::try_from(bound.times).ok()?);
    Some(factor.times(&bound.value)?.plus(&rest.times(&times)?))
}

/// What is known without a symbol from `factor · symbol + rest ≥ 0` and its bound on the other side.
fn eliminate(factor: i128, rest: &Polynomial, other: &Bound) -> Option<Polynomial> {
    let factor = Polynomial::constant(i64::try_from(factor).ok()?);
    replace(&factor, rest, other)
}
