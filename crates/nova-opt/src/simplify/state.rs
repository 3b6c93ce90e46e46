//! The state of the walk from the beginning, with the definitions of variables that it knows.

use nova_core::{Scalar, ScalarOperation};
use nova_flat::ir::{Atom, Program, Variable, View};
use nova_flat::visit::Substitution;
use std::collections::HashMap;

/// The known definition of a variable.
pub(super) enum Definition {
    /// The same integer in another type.
    Converted(Atom, Scalar),
    /// The sum of two integers.
    Sum([Atom; 2]),
    /// The difference of two integers.
    Difference([Atom; 2]),
    /// A comparison of two scalars of the same type.
    Comparison(ScalarOperation, Scalar, [Atom; 2]),
    /// One of two atoms, selected by a condition.
    Choice(Variable, [Atom; 2]),
    Iota {
        start: Atom,
        step: Atom,
    },
    Replicate(Atom),
    Literal(Vec<Atom>),
    /// The elements of another array.
    View(Variable, View),
}

/// The state of the walk over a function.
pub(super) struct Forward<'a> {
    pub program: &'a mut Program,
    /// The replacements of the variables met so far. They are already simplified.
    pub substitution: Substitution,
    pub(super) definitions: HashMap<Variable, Definition>,
    /// The extents of the enclosing operations. Inside, they are not 0.
    pub(super) positive: Vec<Atom>,
}
