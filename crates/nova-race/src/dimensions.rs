//! Indices into arrays of several dimensions, taken apart into one index for each dimension (delinearization:
//! Maslov, 1992; Grosser and others, 2015). An index `i · S + r` with `0 ≤ r < S` is known by the digits `i` and `r`.
//! Two such indices differ if one of the digits does. A proof about a digit is short, while the search for a proof
//! about the whole sum takes many steps where extents are multiplied.

use crate::symbolic::{Polynomial, Prover, Symbol};

/// Indices that have no products of so many extents are compared as a whole, which takes less time.
const EXTENTS: usize = 2;

/// Two indices of iterations, and what is known of both.
pub(crate) struct Dimensions<'p> {
    pub(crate) prover: &'p Prover,
    /// Earlier symbols are the same in both iterations. Products of them are extents.
    pub(crate) inner: Symbol,
}

impl Dimensions<'_> {
    /// True if two indices are proved to differ, digit by digit. Indices without products of
    /// several extents are not tried.
    pub(crate) fn differ(&self, one: &Polynomial, other: &Polynomial) -> bool {
        let is_shared = |product: &[Symbol]| {
            product.iter().all(|symbol| *symbol < self.inner)
                && one.coefficient(product) == other.coefficient(product)
        };
        let [one, other] = [one, other].map(|sum| sum.retained(|product| !is_shared(product)));
        self.scale(&one).is_some_and(|s| s.len() >= EXTENTS) && self.are_apart(&one, &other)
    }

    fn are_apart(&self, one: &Polynomial, other: &Polynomial) -> bool {
        let scale = self.scale(one).filter(|scale| !scale.is_empty());
        let digits = scale.and_then(|scale| {
            let ((high, low), (other_high, other_low)) =
                (one.split_product(&scale), other.split_product(&scale));
            let is_below = self.is_below(&low, &scale) && self.is_below(&other_low, &scale);
            is_below.then_some([(high, other_high), (low, other_low)])
        });
        match digits {
            Some(digits) => digits.iter().any(|(one, other)| self.are_apart(one, other)),
            None => {
                let prover = self.prover;
                prover.holds(&one.gap_to(other)) || prover.holds(&other.gap_to(one))
            }
        }
    }

    /// True if a number is proved to be at least 0 and less than a product of extents.
    fn is_below(&self, number: &Polynomial, product: &[Symbol]) -> bool {
        let digit = |at: usize| {
            let mut scale = product.to_vec();
            let extent = Polynomial::variable(scale.remove(at));
            let (high, low) = number.split_product(&scale);
            let is_digit = !scale.is_empty() && high != Polynomial::default();
            is_digit.then_some((high, extent, low, scale))
        };
        let mut digits = (0..product.len()).filter_map(digit).peekable();
        if digits.peek().is_none() {
            let whole = product.iter().try_fold(Polynomial::constant(1), |p, s| {
                p.times(&Polynomial::variable(*s))
            });
            return whole.is_some_and(|whole| self.is_within(number, &whole));
        }
        digits.any(|(high, extent, low, scale)| {
            self.is_within(&high, &extent) && self.is_below(&low, &scale)
        })
    }

    fn is_within(&self, number: &Polynomial, count: &Polynomial) -> bool {
        self.prover.holds(number) && self.prover.holds(&number.gap_to(count))
    }

    /// The longest product of extents in a sum.
    fn scale(&self, sum: &Polynomial) -> Option<Vec<Symbol>> {
        let extents = |product: &[Symbol]| -> Vec<Symbol> {
            let extents = product.iter().filter(|symbol| **symbol < self.inner);
            extents.copied().collect()
        };
        let scales = sum.products().map(|(product, _)| extents(product));
        scales.max_by_key(Vec::len)
    }
}
