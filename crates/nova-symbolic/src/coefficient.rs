//! Coefficients of polynomials, with the two kinds of arithmetic.

use std::fmt::Debug;
use std::hash::Hash;

/// The largest absolute value of an exact coefficient. Sums of a few products of coefficients and `i64`
/// numbers stay within `i128`.
pub const LARGEST: i128 = 1 << 100;

/// A coefficient. `i64` wraps, as the numbers of programs do. `i128` is exact: a result whose absolute value
/// is above [`LARGEST`] is not known.
pub trait Coefficient: Copy + Ord + Hash + Debug + Default + From<i64> {
    /// Returns the sum, if it is known.
    fn sum(self, other: Self) -> Option<Self>;

    /// Returns the product, if it is known.
    fn product(self, other: Self) -> Option<Self>;

    /// Returns the number with the other sign.
    fn negated(self) -> Self;
}

impl Coefficient for i64 {
    fn sum(self, other: i64) -> Option<i64> {
        Some(self.wrapping_add(other))
    }

    fn product(self, other: i64) -> Option<i64> {
        Some(self.wrapping_mul(other))
    }

    fn negated(self) -> i64 {
        self.wrapping_neg()
    }
}

impl Coefficient for i128 {
    fn sum(self, other: i128) -> Option<i128> {
        within(self.checked_add(other)?)
    }

    fn product(self, other: i128) -> Option<i128> {
        within(self.checked_mul(other)?)
    }

    fn negated(self) -> i128 {
        // No coefficient is above `LARGEST`, so the number fits.
        -self
    }
}

/// Returns a number, unless it is too large for an exact coefficient.
pub(crate) fn within(number: i128) -> Option<i128> {
    (-LARGEST..=LARGEST).contains(&number).then_some(number)
}
