//! Affine sums: exact polynomials of degree one with few variables.

use crate::polynomial::{Exact, Variable};

/// The largest number of variables in a sum.
const MOST_VARIABLES: usize = 6;

/// `constant + Σ coefficient · variable`, as mathematical integers. A sum with too many variables or too
/// large coefficients is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affine<V>(Exact<V>);

impl<V> Default for Affine<V> {
    fn default() -> Self {
        Affine(Exact::default())
    }
}

impl<V: Variable> Affine<V> {
    /// Returns a number.
    pub fn constant(value: i64) -> Self {
        Affine(Exact::constant(value))
    }

    /// Returns a number, if it is small enough.
    pub fn integer(value: i128) -> Option<Self> {
        Exact::integer(value).map(Affine)
    }

    /// Returns a variable.
    pub fn variable(variable: V) -> Self {
        Affine(Exact::variable(variable))
    }

    /// Returns its value if it is a constant.
    pub fn as_constant(&self) -> Option<i128> {
        self.0.as_constant()
    }

    /// Returns the variable if it is one.
    pub fn as_variable(&self) -> Option<V> {
        self.0.as_variable()
    }

    /// Returns the variable and the number if it is one variable plus a number.
    pub fn as_shifted_variable(&self) -> Option<(V, i128)> {
        let (variable, number) = self.0.split_number();
        Some((variable.as_variable()?, number))
    }

    /// Returns the variables with their coefficients, in order.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&V, i128)> {
        let products = self.0.products();
        products.filter_map(|(variables, coefficient)| Some((variables.first()?, coefficient)))
    }

    /// Returns the variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &V> {
        self.0.variables()
    }

    /// Returns the coefficient of a variable.
    pub fn coefficient(&self, variable: &V) -> i128 {
        self.0.coefficient(std::slice::from_ref(variable))
    }

    /// Returns the constant.
    pub fn number(&self) -> i128 {
        self.0.number()
    }

    /// Returns two sums whose difference is this one. Their variables have positive coefficients, and their
    /// numbers are not positive.
    pub fn sides(&self) -> (Self, Self) {
        let (mut more, mut less) = (Self::default(), Self::default());
        let number = self.number();
        let numbers = [(&mut more, number.min(0)), (&mut less, (-number).min(0))];
        for (side, number) in numbers {
            side.0.set(&[], number);
        }
        for (variable, coefficient) in self.terms() {
            let side = match coefficient > 0 {
                true => &mut more,
                false => &mut less,
            };
            side.0
                .set(std::slice::from_ref(variable), coefficient.abs());
        }
        (more, less)
    }

    /// Returns the sum without one of its variables.
    pub fn without(&self, variable: &V) -> Self {
        let mut rest = self.clone();
        rest.0.set(std::slice::from_ref(variable), 0);
        rest
    }

    /// Returns `self + factor · other`.
    pub fn plus(&self, factor: i128, other: &Self) -> Option<Self> {
        let sum = self.0.plus_times(factor, &other.0)?;
        let variables = sum.terms() - usize::from(sum.number() != 0);
        (variables <= MOST_VARIABLES).then_some(Affine(sum))
    }

    /// Returns `self + number`.
    pub fn shifted(&self, number: i128) -> Option<Self> {
        self.0.plus_number(number).map(Affine)
    }

    /// Returns `factor · self`.
    pub fn times(&self, factor: i128) -> Option<Self> {
        self.0.scaled(factor).map(Affine)
    }

    /// Returns the sum with the other sign.
    pub fn negated(&self) -> Self {
        Affine(self.0.negated())
    }

    /// Replaces a variable by a sum.
    pub fn substitute(&self, variable: &V, value: &Self) -> Option<Self> {
        self.without(variable)
            .plus(self.coefficient(variable), value)
    }
}
