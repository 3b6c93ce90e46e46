//! Integers with variables.
mod affine;
mod bounds;
mod coefficient;
mod interval;
mod polynomial;
mod prover;
#[cfg(test)]
mod random;
mod shifted;
#[cfg(test)]
mod tests;

pub use affine::Affine;
pub use bounds::Bounds;
pub use coefficient::{Coefficient, LARGEST};
pub use interval::Interval;
pub use polynomial::{Exact, Polynomial, Sum, Variable, Wrapping};
pub use prover::{Case, Fact, Prover};
pub use shifted::Shifted;
