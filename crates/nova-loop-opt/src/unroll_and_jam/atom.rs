//! Integers of a nest as polynomials over variables and operations. In this form, integer expressions that
//! are equal by the laws of a ring are identical. Integers that wrap are such a ring, so the form is exact.

use crate::limits::TERMS_OF_A_PRODUCT;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::ir::{Expression, Variable};
use nova_symbolic::Wrapping;

/// A sum of products of atoms.
pub(super) type Polynomial = Wrapping<Atom>;

/// A factor of a product.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Atom {
    /// A variable.
    Variable(Variable),
    /// An operation that is neither sum nor product, on operands of a type.
    Operation(ScalarOperation, Scalar, Vec<Polynomial>),
}

/// Returns the product, unless it is too large.
pub(super) fn product(left: &Polynomial, right: &Polynomial) -> Option<Polynomial> {
    (left.terms() * right.terms() <= TERMS_OF_A_PRODUCT).then(|| left.times(right))
}

/// True if a polynomial depends on a variable.
pub(super) fn mentions(polynomial: &Polynomial, variable: Variable) -> bool {
    let of_atom = |atom: &Atom| match atom {
        Atom::Variable(other) => *other == variable,
        Atom::Operation(_, _, arguments) => {
            arguments.iter().any(|a| deep(|| mentions(a, variable)))
        }
    };
    polynomial.variables().any(of_atom)
}

/// Returns an `i64` expression for a polynomial, if it consists of variables.
pub(super) fn expression(polynomial: &Polynomial) -> Option<Expression> {
    let mut sum = Expression::index(0);
    let (products, number) = polynomial.split_number();
    for (atoms, factor) in products.products() {
        let mut product = Expression::index(factor);
        for atom in atoms {
            let Atom::Variable(variable) = atom else {
                return None;
            };
            product = product.times(Expression::Variable(*variable));
        }
        sum = sum.plus(product);
    }
    Some(sum.plus(Expression::index(number)))
}
