//! Random numbers and polynomials for tests, the same each time, and values on a small cube.

use crate::{Coefficient, Exact, Polynomial};
use std::ops::RangeInclusive;

/// The number of variables, which are the numbers from 0.
pub(crate) const VARIABLES: usize = 3;
/// The values of each variable.
pub(crate) const VALUES: RangeInclusive<i128> = -3..=3;

/// Numbers that look random, the same each time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below a limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// A number whose absolute value is at most `most`.
    pub(crate) fn number(&mut self, most: i64) -> i64 {
        let span = u64::try_from(2 * most + 1).unwrap();
        i64::try_from(self.below(span)).unwrap() - most
    }

    /// A sum of at most two products of at most two of the first variables.
    pub(crate) fn sum(&mut self, variables: usize) -> Exact<usize> {
        let mut sum = Exact::constant(self.number(3));
        for _ in 0..self.below(3) {
            if variables == 0 {
                break;
            }
            let mut product = Exact::constant(self.number(2));
            for _ in 0..=self.below(2) {
                let variable = self.below(variables as u64) as usize;
                product = product.times(&Exact::variable(variable)).unwrap();
            }
            sum = sum.plus(&product).unwrap();
        }
        sum
    }
}

/// The value of a sum.
pub(crate) fn value<C: Coefficient>(sum: &Polynomial<usize, C>, values: &[C]) -> C {
    let of_product = |(variables, coefficient): (&[usize], C)| {
        let values = variables.iter().map(|variable| values[*variable]);
        values.fold(coefficient, |a, b| a.product(b).unwrap())
    };
    let products = sum.products().map(of_product);
    products.fold(C::default(), |a, b| a.sum(b).unwrap())
}

/// Calls `look` with the values of all points of the cube.
pub(crate) fn each_point(mut look: impl FnMut(&[i128])) {
    for a in VALUES {
        for b in VALUES {
            for c in VALUES {
                look(&[a, b, c]);
            }
        }
    }
}
