//! Polynomials over variables, in one normal form: equal polynomials are identical.

use crate::coefficient::{Coefficient, within};
use crate::terms::{Product, Terms};
use std::fmt::Debug;
use std::hash::Hash;

/// Exact polynomials with more products than this are not multiplied out.
const MOST_PRODUCTS: usize = 48;

/// The variables of a polynomial. The order of variables is the order of the terms.
pub trait Variable: Clone + Ord + Hash + Debug {}

impl<V: Clone + Ord + Hash + Debug> Variable for V {}

/// A sum of products of variables with coefficients. It maps each product, sorted and with repetition, to its
/// coefficient, which is not 0. The empty product is the constant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Polynomial<V, C>(Terms<V, C>);

/// A polynomial whose arithmetic wraps at 64 bits, as that of programs does. Addition and multiplication
/// are total.
pub type Wrapping<V> = Polynomial<V, i64>;

/// A polynomial of mathematical integers. A result with a coefficient that is too large is not known.
pub type Exact<V> = Polynomial<V, i128>;

impl<V, C> Default for Polynomial<V, C> {
    fn default() -> Self {
        Polynomial(Terms::default())
    }
}

impl<V: Variable, C: Coefficient> Polynomial<V, C> {
    /// Returns a number.
    pub fn constant(value: i64) -> Self {
        Self::product(Product::Unit, C::from(value))
    }

    /// Returns a variable.
    pub fn variable(variable: V) -> Self {
        Self::product(Product::Variable(variable), C::from(1))
    }

    /// Returns a product of variables, which are sorted, with a coefficient.
    fn product(variables: Product<V>, coefficient: C) -> Self {
        let mut made = Self::default();
        if coefficient != C::default() {
            made.0.insert(variables, coefficient);
        }
        made
    }

    /// Adds a product of variables, which are sorted.
    fn add(&mut self, variables: Product<V>, coefficient: C) -> Option<()> {
        let sum = self.coefficient(&variables).sum(coefficient)?;
        self.put(variables, sum);
        Some(())
    }

    /// Sets the coefficient of a product of variables, which are sorted.
    fn put(&mut self, variables: Product<V>, coefficient: C) {
        match coefficient == C::default() {
            true => {
                self.0.remove(&variables);
            }
            false => self.0.insert(variables, coefficient),
        }
    }

    /// Returns `self + factor · other`, if it is known.
    fn sum_with(&self, factor: C, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (variables, coefficient) in other.0.iter() {
            sum.add(variables.clone(), factor.product(*coefficient)?)?;
        }
        Some(sum)
    }

    fn product_with(&self, other: &Self) -> Option<Self> {
        let mut made = Self::default();
        for (left, a) in self.0.iter() {
            for (right, b) in other.0.iter() {
                let variables = merged(left, right);
                made.add(variables, a.product(*b)?)?;
            }
        }
        Some(made)
    }

    /// Returns the polynomial with the other sign.
    pub fn negated(&self) -> Self {
        Polynomial(self.0.map(|c| c.negated()))
    }

    /// Returns its value if it is a constant.
    pub fn as_constant(&self) -> Option<C> {
        match self.0.first() {
            None => Some(C::default()),
            Some((variables, number)) => {
                (variables.is_empty() && self.0.len() == 1).then_some(*number)
            }
        }
    }

    /// Returns the variable if it is one.
    pub fn as_variable(&self) -> Option<V> {
        match self.as_product()? {
            [variable] => Some(variable.clone()),
            _ => None,
        }
    }

    /// Returns the factors if it is a product of variables without a coefficient, or 1.
    pub fn as_product(&self) -> Option<&[V]> {
        match self.0.first() {
            Some((variables, one)) if self.0.len() == 1 && *one == C::from(1) => Some(variables),
            Some(_) | None => None,
        }
    }

    /// Returns the number of products, the constant included.
    pub fn terms(&self) -> usize {
        self.0.len()
    }

    /// Returns the products with their coefficients, in order. The constant comes first.
    pub fn products(&self) -> impl DoubleEndedIterator<Item = (&[V], C)> + Clone {
        let products = self.0.iter();
        products.map(|(variables, coefficient)| (&variables[..], *coefficient))
    }

    /// Returns the occurrences of variables, in the order of the products.
    pub fn variables(&self) -> impl Iterator<Item = &V> {
        self.0.iter().flat_map(|(product, _)| product.iter())
    }

    /// Returns the last variable in it.
    pub fn latest(&self) -> Option<V> {
        self.variables().max().cloned()
    }

    /// Returns the constant.
    pub fn number(&self) -> C {
        self.coefficient(&[])
    }

    /// Returns the sum without its constant, and the constant.
    pub fn split_number(&self) -> (Self, C) {
        let mut rest = self.clone();
        let number = rest.0.remove(&[]).unwrap_or_default();
        (rest, number)
    }

    /// Splits the sum into the factor of a variable and the rest. Returns `None` if the variable is
    /// multiplied by itself.
    pub fn split(&self, variable: &V) -> Option<(Self, Self)> {
        let (factor, rest) = self.split_once(variable);
        let is_linear = !factor.variables().any(|v| v == variable);
        is_linear.then_some((factor, rest))
    }

    /// Splits the sum into the factor of one occurrence of a variable in each product, and the rest. The
    /// rest does not have the variable; the factor has it where it is multiplied by itself.
    pub fn split_once(&self, variable: &V) -> (Self, Self) {
        let (mut factor, mut rest) = (Self::default(), Self::default());
        for (variables, number) in self.0.iter() {
            match variables.iter().position(|v| v == variable) {
                None => {
                    rest.0.insert(variables.clone(), *number);
                }
                Some(at) => {
                    // Different products stay different without one occurrence of a variable of both.
                    let mut others = variables.to_vec();
                    others.remove(at);
                    factor.0.insert(others.into(), *number);
                }
            }
        }
        (factor, rest)
    }

    /// Splits the sum into the factor of a product, which is sorted, and the rest: the products that are no
    /// multiples of it.
    pub fn split_product(&self, product: &[V]) -> (Self, Self) {
        let (mut factor, mut rest) = (Self::default(), Self::default());
        for (variables, number) in self.0.iter() {
            match without(variables, product) {
                None => rest.0.insert(variables.clone(), *number),
                Some(others) => factor.0.insert(others.into(), *number),
            }
        }
        (factor, rest)
    }

    /// Returns the sum of the products that are wanted.
    pub fn retained(&self, is_wanted: impl Fn(&[V]) -> bool) -> Self {
        let mut made = Self::default();
        for (variables, number) in self.0.iter().filter(|(product, _)| is_wanted(product)) {
            made.0.insert(variables.clone(), *number);
        }
        made
    }

    /// True if no coefficient is negative and all variables are of a kind. Where variables of that kind are
    /// not negative and nothing wraps, the polynomial is not negative.
    pub fn is_natural(&self, is_natural: impl Fn(&V) -> bool) -> bool {
        let mut products = self.0.iter();
        products.all(|(variables, c)| *c >= C::default() && variables.iter().all(&is_natural))
    }

    /// Returns the coefficient of a product, which is sorted.
    pub fn coefficient(&self, product: &[V]) -> C {
        self.0.get(product).copied().unwrap_or_default()
    }
}

impl<V: Variable> Wrapping<V> {
    /// Returns the sum.
    pub fn plus(&self, other: &Self) -> Self {
        self.plus_times(1, other)
    }

    /// Returns the difference.
    pub fn minus(&self, other: &Self) -> Self {
        self.plus_times(-1, other)
    }

    /// Returns `self + factor · other`.
    pub fn plus_times(&self, factor: i64, other: &Self) -> Self {
        let mut sum = self.clone();
        for (variables, coefficient) in other.0.iter() {
            sum.add_wrapping(variables.clone(), factor.wrapping_mul(*coefficient));
        }
        sum
    }

    /// Returns the product.
    pub fn times(&self, other: &Self) -> Self {
        let mut made = Self::default();
        for (left, a) in self.0.iter() {
            for (right, b) in other.0.iter() {
                let variables = merged(left, right);
                made.add_wrapping(variables, a.wrapping_mul(*b));
            }
        }
        made
    }

    fn add_wrapping(&mut self, variables: Product<V>, coefficient: i64) {
        let sum = self.coefficient(&variables).wrapping_add(coefficient);
        self.put(variables, sum);
    }

    /// Returns the polynomial with the value `of` a variable in place of each variable.
    pub fn substitute(&self, mut of: impl FnMut(&V) -> Self) -> Self {
        let mut made = Self::default();
        for (variables, coefficient) in self.0.iter() {
            let product = Self::constant(*coefficient);
            let product = variables.iter().fold(product, |p, v| p.times(&of(v)));
            made = made.plus(&product);
        }
        made
    }

    /// Returns the same polynomial modulo 2³², with coefficients that fit `i32`.
    pub fn narrow(&self) -> Self {
        let mut made = Self::default();
        for (variables, coefficient) in self.0.iter() {
            made.add_wrapping(variables.clone(), i64::from(*coefficient as i32));
        }
        made
    }
}

/// Returns the variables of a product that are left without those of another one. Both are sorted.
fn without<V: Variable>(product: &[V], others: &[V]) -> Option<Vec<V>> {
    let mut left = product.to_vec();
    for variable in others {
        let at = left.iter().position(|v| v == variable)?;
        left.remove(at);
    }
    Some(left)
}

/// Returns the product of two products.
fn merged<V: Variable>(left: &Product<V>, right: &Product<V>) -> Product<V> {
    let mut variables = [&left[..], right].concat();
    variables.sort_unstable();
    variables.into()
}

/// A polynomial, or the outcome of exact arithmetic, which may not be known.
pub trait Sum<V> {
    /// Returns the polynomial, if it is known.
    fn known(&self) -> Option<&Exact<V>>;
}

impl<V> Sum<V> for Exact<V> {
    fn known(&self) -> Option<&Exact<V>> {
        Some(self)
    }
}

impl<V> Sum<V> for Option<Exact<V>> {
    fn known(&self) -> Option<&Exact<V>> {
        self.as_ref()
    }
}

impl<V: Variable> Exact<V> {
    /// Sets the coefficient of a product, which is sorted, to a number that is small enough.
    pub(crate) fn set(&mut self, product: &[V], coefficient: i128) {
        self.put(product.to_vec().into(), coefficient);
    }

    /// Returns the sum of two variables and a number.
    pub fn pair(one: V, other: V, number: i64) -> Self {
        let mut sum = Self::constant(number);
        if one == other {
            sum.put(Product::Variable(one), 2);
        } else {
            sum.put(Product::Variable(one), 1);
            sum.put(Product::Variable(other), 1);
        }
        sum
    }

    /// Returns a number, if it is small enough.
    pub fn integer(value: i128) -> Option<Self> {
        Some(Self::product(Product::Unit, within(value)?))
    }

    /// Returns the sum.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        self.sum_with(1, other)
    }

    /// Returns the difference.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.sum_with(-1, other)
    }

    /// Returns `self + factor · other`.
    pub fn plus_times(&self, factor: i128, other: &Self) -> Option<Self> {
        self.sum_with(factor, other)
    }

    /// Returns the sum with a number.
    pub fn plus_number(&self, number: impl Into<i128>) -> Option<Self> {
        let mut sum = self.clone();
        sum.add(Product::Unit, number.into())?;
        Some(sum)
    }

    /// Returns the product with a number, if it is known.
    pub fn scaled(&self, number: impl Into<i128>) -> Option<Self> {
        Self::default().sum_with(number.into(), self)
    }

    /// Returns `other - self - 1`, which is not negative exactly where this is less than `other`.
    pub fn gap_to(&self, other: &Self) -> Option<Self> {
        other.minus(self)?.plus_number(-1)
    }

    /// Returns the product, unless it has too many terms.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let is_small = self.0.len() * other.0.len() <= MOST_PRODUCTS;
        is_small.then(|| self.product_with(other)).flatten()
    }

    /// Returns the polynomial with the value `of` a variable in place of each variable.
    pub fn substitute(&self, of: &dyn Fn(&V) -> Self) -> Option<Self> {
        let mut made = Self::default();
        for (variables, coefficient) in self.0.iter() {
            let mut product = Self::product(Product::Unit, *coefficient);
            for variable in variables.iter() {
                product = product.times(&of(variable))?;
            }
            made = made.plus(&product)?;
        }
        Some(made)
    }

    /// Returns the sum divided by a positive number of which each coefficient is a multiple.
    pub fn divided(&self, by: i64) -> Option<Self> {
        let is_multiple = self.is_multiple(by);
        is_multiple.then(|| Polynomial(self.0.map(|c| c / i128::from(by))))
    }

    /// Returns the sum divided by a positive number and rounded down, if it is a multiple of that number plus
    /// a constant.
    pub fn divided_down(&self, by: i64) -> Option<Self> {
        let number = self.number();
        self.plus_number(-number.rem_euclid(i128::from(by)))?
            .divided(by)
    }

    /// True if all coefficients are multiples of a number, which is not 0.
    pub fn is_multiple(&self, of: i64) -> bool {
        self.0.iter().all(|(_, c)| c % i128::from(of) == 0)
    }
}
