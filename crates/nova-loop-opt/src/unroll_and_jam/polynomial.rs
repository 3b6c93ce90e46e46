//! Sums of products with constant factors. In this form, integer expressions that are equal by the
//! laws of a ring are identical. Integers that wrap are such a ring, so the form is exact.

use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::ir::{Expression, Variable};
use std::collections::BTreeMap;

/// Products of more terms than this are not expanded.
const MOST_TERMS: usize = 16;

/// A factor of a product.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    /// A variable.
    Variable(Variable),
    /// An operation that is neither sum nor product, on operands of a type.
    Operation(ScalarOperation, Scalar, Vec<Polynomial>),
}

/// A sum: products with their factors, none of which is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Polynomial(BTreeMap<Vec<Atom>, i64>);

impl Polynomial {
    /// Returns a number.
    pub(super) fn constant(value: i64) -> Polynomial {
        Polynomial::product(Vec::new(), value)
    }

    /// Returns a single atom.
    pub(super) fn atom(atom: Atom) -> Polynomial {
        Polynomial::product(vec![atom], 1)
    }

    fn product(atoms: Vec<Atom>, factor: i64) -> Polynomial {
        let mut made = Polynomial::default();
        made.add(atoms, factor);
        made
    }

    fn add(&mut self, atoms: Vec<Atom>, factor: i64) {
        let sum = self.0.get(&atoms).copied().unwrap_or(0);
        match sum.wrapping_add(factor) {
            0 => self.0.remove(&atoms),
            sum => self.0.insert(atoms, sum),
        };
    }

    /// Returns the sum.
    pub(super) fn plus(mut self, other: &Polynomial) -> Polynomial {
        for (atoms, factor) in &other.0 {
            self.add(atoms.clone(), *factor);
        }
        self
    }

    /// Returns the difference.
    pub(super) fn minus(self, other: &Polynomial) -> Polynomial {
        let negated = |(atoms, factor): (&Vec<Atom>, &i64)| (atoms.clone(), factor.wrapping_neg());
        self.plus(&Polynomial(other.0.iter().map(negated).collect()))
    }

    /// Returns the product, unless it is too large.
    pub(super) fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        if self.0.len() * other.0.len() > MOST_TERMS {
            return None;
        }
        let mut made = Polynomial::default();
        for (left, factor) in &self.0 {
            for (right, other) in &other.0 {
                let mut atoms = left.clone();
                atoms.extend_from_slice(right);
                atoms.sort();
                made.add(atoms, factor.wrapping_mul(*other));
            }
        }
        Some(made)
    }

    /// Returns the same polynomial modulo 2³².
    pub(super) fn narrow(self) -> Polynomial {
        let mut made = Polynomial::default();
        for (atoms, factor) in self.0 {
            made.add(atoms, i64::from(factor as i32));
        }
        made
    }

    /// Returns the number, if it is one.
    pub(super) fn as_constant(&self) -> Option<i64> {
        match self.0.first_key_value() {
            None => Some(0),
            Some((atoms, factor)) => (atoms.is_empty() && self.0.len() == 1).then_some(*factor),
        }
    }

    /// Returns the number of terms.
    pub(super) fn terms(&self) -> usize {
        self.0.len()
    }

    /// Returns the summand that is a number.
    pub(super) fn number(&self) -> i64 {
        self.0.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// True if it depends on a variable.
    pub(super) fn mentions(&self, variable: Variable) -> bool {
        let of_atom = |atom: &Atom| match atom {
            Atom::Variable(other) => *other == variable,
            Atom::Operation(_, _, arguments) => {
                arguments.iter().any(|a| deep(|| a.mentions(variable)))
            }
        };
        self.0.keys().flatten().any(of_atom)
    }

    /// Returns an `i64` expression for it, if it consists of variables.
    pub(super) fn expression(&self) -> Option<Expression> {
        let mut sum = Expression::index(0);
        let is_product = |(atoms, _): &(&Vec<Atom>, &i64)| !atoms.is_empty();
        for (atoms, factor) in self.0.iter().filter(is_product) {
            let mut product = Expression::index(*factor);
            for atom in atoms {
                let Atom::Variable(variable) = atom else {
                    return None;
                };
                product = product.times(Expression::Variable(*variable));
            }
            sum = sum.plus(product);
        }
        Some(sum.plus(Expression::index(self.number())))
    }
}
