//! Integers with variables: polynomials, intervals, and provers of inequalities.
//!
//! Passes compare addresses, counts and indices that are known only at run time, and the checker of races
//! proves that such numbers differ. All of them use the types of this crate.
//!
//! | type | meaning |
//! | --- | --- |
//! | [`Wrapping`] | a polynomial whose numbers wrap at 64 bits, as those of programs do |
//! | [`Exact`] | a polynomial of mathematical integers |
//! | [`Affine`] | an exact polynomial of degree one with few variables |
//! | [`Shifted`] | one variable plus a number |
//! | [`Interval`] | the least and greatest number of a value, as far as they are known |
//! | [`Prover`] | proves that exact polynomials are not negative, from facts |
//! | [`Bounds`] | proves the same of affine sums, from bounds that come and go |
//!
//! The variables are any ordered type. Their order is that of the terms, so that results do not depend on
//! anything else.
//!
//! # Guarantees
//!
//! - *One normal form.* Equal polynomials are identical: `==` decides equality as polynomials. Wrapping
//!   integers are a ring, so equal wrapping polynomials have equal values for all values of the variables.
//! - *Nothing overflows.* Arithmetic on exact sums gives `None` where a coefficient is above [`LARGEST`], or
//!   where a sum has too many terms. An end of an interval that overflows is not known. No result is wrong.
//! - *Sound proofs.* What [`Prover`] and [`Bounds`] prove holds for all integers for which the facts hold.
//!   If the facts contradict each other, everything holds.
//! - *No completeness.* A proof that is not found in a limited number of steps is given up. "Not proved" says
//!   nothing about the sum.
//! - *Missing facts are harmless.* A fact that is not known need not be learned: fewer facts prove less. A
//!   list of cases must be complete, and a condition under which something is learned must not be left out.
//!
//! # Which arithmetic
//!
//! An equality of numbers of the program may be shown with [`Wrapping`]. An inequality needs [`Exact`], and
//! whoever makes the sum knows that the program's arithmetic does not wrap there.
//!
//! The checker of races uses this crate. So the crate depends on no other but `nova-diag`, for recursion that
//! may be deep, and its tests evaluate each operation and each proof on random polynomials.

mod affine;
mod bounds;
mod coefficient;
mod interval;
mod polynomial;
mod prover;
mod shifted;
mod terms;

#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;

pub use affine::Affine;
pub use bounds::Bounds;
pub use coefficient::{Coefficient, LARGEST};
pub use interval::Interval;
pub use polynomial::{Exact, Polynomial, Sum, Variable, Wrapping};
pub use prover::{Case, Fact, Prover};
pub use shifted::Shifted;
