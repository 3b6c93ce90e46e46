//! Symbolic values: numbers as sums of products of symbols, places in memory, and facts about both.

use crate::blocks::RootSet;
use nova_core::{Scalar, ScalarOperation};
use nova_symbolic::Exact;

nova_diag::ids! {
    /// A value that is computed at one place. Earlier symbols bound later ones, never the other way round.
    pub(crate) struct Symbol;

    /// A pointer as it was made at one place: indices from the same one can be compared.
    pub(crate) struct Base;
}

/// A number. Addresses, counts and conditions are compared in this form.
pub(crate) type Polynomial = Exact<Symbol>;

/// A fact about symbols.
pub(crate) type Fact = nova_symbolic::Fact<Symbol>;

/// A value that a symbol may have.
pub(crate) type Case = nova_symbolic::Case<Symbol>;

/// A set of facts about symbols.
pub(crate) type Prover = nova_symbolic::Prover<Symbol>;

/// Facts about a base.
#[derive(Clone, Debug)]
pub(crate) struct BaseInfo {
    /// The possible origins of its block.
    pub(crate) roots: RootSet,
    /// True if the block was made with the base, and so is none that was there before.
    pub(crate) is_new: bool,
    /// The number of bases at the time from which a node may hold the block.
    pub(crate) held: Option<usize>,
    /// The number of loops of any kind around the place where it was made.
    pub(crate) depth: usize,
    /// If the list is not empty, the base is one of these, which are earlier and one block each.
    pub(crate) one_of: Vec<Base>,
    /// Earlier bases whose blocks are certainly not its block.
    pub(crate) apart: Vec<Base>,
    /// The distance of its elements, which is more than 1 if other arrays' elements lie between them.
    pub(crate) stride: i64,
}

/// A place in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) base: Base,
    pub(crate) index: Polynomial,
}

/// The value of a variable.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Number(Polynomial),
    Spots(Vec<Spot>),
}

/// The sums that are not negative where a bool is true, and those where it is false.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    pub(crate) yes: Vec<Polynomial>,
    pub(crate) no: Vec<Polynomial>,
}

/// An operation on known numbers, which has the same value everywhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Operation(
    pub(crate) ScalarOperation,
    pub(crate) Scalar,
    pub(crate) Vec<Polynomial>,
);

/// A prefix sum that rises from iteration to iteration.
#[derive(Clone, Debug)]
pub(crate) struct Prefix {
    /// The sum that an iteration receives.
    pub(crate) given: Polynomial,
    /// The number that it adds, which is not negative.
    pub(crate) own: Polynomial,
}

/// A bisection of the program.
#[derive(Clone, Debug)]
pub(crate) struct Bisection {
    /// The number of parallel loops around it.
    pub(crate) depth: usize,
    /// The index that it finds.
    pub(crate) found: Symbol,
    /// The key in the symbols of the template, the comparison, and the first `low` and `high`.
    pub(crate) key: (Polynomial, ScalarOperation, Polynomial, Polynomial),
    /// The value with which keys are compared.
    pub(crate) limit: Polynomial,
}

/// Products that are not negative, in the order in which they became known.
pub(crate) type Sizes = Vec<Vec<Symbol>>;

/// A node in the tree of facts: the facts up to the root hold there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Context(pub(crate) u32);
