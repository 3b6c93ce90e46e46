//! Ranges of symbols and of sums. Questions that ranges alone settle are settled here, so that a proof
//! searches only among bounds that say more.

use crate::polynomial::{Polynomial, Symbol};

/// The least and greatest numbers of a value; `None` where no number is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) least: Option<i128>,
    pub(crate) most: Option<i128>,
}

impl Range {
    /// One number.
    pub(crate) fn exactly(number: i128) -> Range {
        Range {
            least: Some(number),
            most: Some(number),
        }
    }

    /// True if no number is in it.
    pub(crate) fn is_empty(self) -> bool {
        matches!((self.least, self.most), (Some(least), Some(most)) if least > most)
    }

    /// The numbers in both.
    pub(crate) fn and(self, other: Range) -> Range {
        Range {
            least: self.least.max(other.least),
            most: [self.most, other.most].into_iter().flatten().min(),
        }
    }

    /// The smallest range that contains both.
    pub(crate) fn or(self, other: Range) -> Range {
        Range {
            least: self.least.zip(other.least).map(|(a, b)| a.min(b)),
            most: self.most.zip(other.most).map(|(a, b)| a.max(b)),
        }
    }

    fn plus(self, other: Range) -> Range {
        let sum = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        Range {
            least: sum(self.least, other.least),
            most: sum(self.most, other.most),
        }
    }

    fn is_not_negative(self) -> bool {
        self.least.is_some_and(|least| least >= 0)
    }

    fn is_not_positive(self) -> bool {
        self.most.is_some_and(|most| most <= 0)
    }

    fn times(self, other: Range) -> Range {
        let product = |a: Option<i128>, b: Option<i128>| a?.checked_mul(b?);
        if self.is_not_negative() && other.is_not_negative() {
            return Range {
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
            Some(ends) => Range {
                least: ends.iter().copied().min(),
                most: ends.iter().copied().max(),
            },
            None => self.sign_times(other),
        }
    }

    /// The range of a product that follows from the signs alone.
    fn sign_times(self, other: Range) -> Range {
        let is_positive = self.is_not_negative() && other.is_not_negative()
            || self.is_not_positive() && other.is_not_positive();
        let is_negative = self.is_not_negative() && other.is_not_positive()
            || self.is_not_positive() && other.is_not_negative();
        Range {
            least: is_positive.then_some(0),
            most: is_negative.then_some(0),
        }
    }
}

/// The range of a sum, from those of its symbols.
pub(crate) fn of_sum(sum: &Polynomial, of: &dyn Fn(Symbol) -> Range) -> Range {
    sum.products()
        .map(|(symbols, factor)| {
            let symbols = symbols.iter().map(|symbol| of(*symbol));
            symbols.fold(Range::exactly(factor), Range::times)
        })
        .fold(Range::exactly(0), Range::plus)
}
