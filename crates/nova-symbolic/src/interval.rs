//! Intervals of integers, and the interval of a polynomial from those of its variables.

use crate::polynomial::{Exact, Variable};

/// The least and greatest numbers of a value; `None` where no number is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// The value is at least this.
    pub least: Option<i128>,
    /// The value is at most this.
    pub most: Option<i128>,
}

impl Interval {
    /// Returns the interval of one number.
    pub fn exactly(number: i128) -> Interval {
        Interval::between(number, number)
    }

    /// Returns the interval from one number up to another, both included.
    pub fn between(least: i128, most: i128) -> Interval {
        Interval {
            least: Some(least),
            most: Some(most),
        }
    }

    /// True if no number is in it.
    pub fn is_empty(self) -> bool {
        matches!((self.least, self.most), (Some(least), Some(most)) if least > most)
    }

    /// True if a number is in it.
    pub fn contains(self, number: i128) -> bool {
        self.least.is_none_or(|least| least <= number)
            && self.most.is_none_or(|most| number <= most)
    }

    /// True if all numbers of another interval are in it.
    pub fn includes(self, other: Interval) -> bool {
        let ends = |mine: Option<i128>, others: Option<i128>| mine.is_none() || others.is_some();
        ends(self.least, other.least)
            && ends(self.most, other.most)
            && other.least.is_none_or(|least| self.contains(least))
            && other.most.is_none_or(|most| self.contains(most))
    }

    /// Returns the interval of the numbers in both.
    pub fn intersection(self, other: Interval) -> Interval {
        Interval {
            least: either(self.least, other.least, i128::max),
            most: either(self.most, other.most, i128::min),
        }
    }

    /// Returns the smallest interval that includes both.
    pub fn hull(self, other: Interval) -> Interval {
        Interval {
            least: both(self.least, other.least, i128::min),
            most: both(self.most, other.most, i128::max),
        }
    }

    /// Returns the interval of the smaller of two values.
    pub fn minimum(self, other: Interval) -> Interval {
        Interval {
            least: both(self.least, other.least, i128::min),
            most: either(self.most, other.most, i128::min),
        }
    }

    /// Returns the interval of the larger of two values.
    pub fn maximum(self, other: Interval) -> Interval {
        Interval {
            least: either(self.least, other.least, i128::max),
            most: both(self.most, other.most, i128::max),
        }
    }

    /// Returns the interval of the sum of two values. An end that overflows is not known.
    pub fn plus(self, other: Interval) -> Interval {
        let sum = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        Interval {
            least: sum(self.least, other.least),
            most: sum(self.most, other.most),
        }
    }

    /// Returns the interval of the sum with a number.
    pub fn plus_number(self, number: i128) -> Interval {
        self.plus(Interval::exactly(number))
    }

    fn is_not_negative(self) -> bool {
        self.least.is_some_and(|least| least >= 0)
    }

    fn is_not_positive(self) -> bool {
        self.most.is_some_and(|most| most <= 0)
    }

    /// Returns the interval of the product of two values. An end that overflows is not known.
    pub fn times(self, other: Interval) -> Interval {
        let product = |a: Option<i128>, b: Option<i128>| a?.checked_mul(b?);
        if self.is_not_negative() && other.is_not_negative() {
            return Interval {
                least: product(self.least, other.least),
                most: product(self.most, other.most),
            };
        }
        let ends = [
            product(self.least, other.least),
            product(self.least, other.most),
            product(self.most, other.least),
            product(self.most, other.most),
        ];
        let known: Option<Vec<i128>> = ends.into_iter().collect();
        match known {
            Some(ends) => Interval {
                least: ends.iter().copied().min(),
                most: ends.iter().copied().max(),
            },
            None => self.sign_times(other),
        }
    }

    /// Returns the interval of a product that follows from the signs alone.
    fn sign_times(self, other: Interval) -> Interval {
        let is_positive = self.is_not_negative() && other.is_not_negative()
            || self.is_not_positive() && other.is_not_positive();
        let is_negative = self.is_not_negative() && other.is_not_positive()
            || self.is_not_positive() && other.is_not_negative();
        Interval {
            least: is_positive.then_some(0),
            most: is_negative.then_some(0),
        }
    }
}

/// Chooses one of two ends that must both be known.
fn both(one: Option<i128>, other: Option<i128>, choose: fn(i128, i128) -> i128) -> Option<i128> {
    Some(choose(one?, other?))
}

/// Chooses one of two ends, or takes the one that is known.
fn either(one: Option<i128>, other: Option<i128>, choose: fn(i128, i128) -> i128) -> Option<i128> {
    both(one, other, choose).or(one).or(other)
}

impl<V: Variable> Exact<V> {
    /// Returns the interval of the sum, from the intervals of its variables.
    pub fn interval(&self, of: impl Fn(&V) -> Interval) -> Interval {
        self.products()
            .map(|(variables, coefficient)| {
                let factors = variables.iter().map(&of);
                factors.fold(Interval::exactly(coefficient), Interval::times)
            })
            .fold(Interval::exactly(0), Interval::plus)
    }
}
