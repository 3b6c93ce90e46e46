//! The variables and local arrays of a reduction under translation.

use crate::writer::Writer;
use nova_core::{Scalar, ScalarOperation, ScalarValue};
use nova_flat::ir as flat;
use nova_flat::operators::{Bound, Operator};
use nova_loop::ir::{Expression, Type, Variable};

/// A reduction under translation.
pub(crate) struct Reduction<'a> {
    pub(crate) lambda: &'a flat::Lambda,
    pub(crate) pattern: &'a [flat::Variable],
    pub(crate) scalars: Vec<Scalar>,
    pub(crate) kind: Kind,
}

/// The way in which its elements are combined.
pub(crate) enum Kind {
    /// A left fold into these accumulators.
    Fold(Vec<Variable>),
    /// The operator commutes, and each element finds its lane by its number.
    Lanes { lanes: Vec<Variable>, tree: Tree },
    /// The operator commutes, and loops fill the lanes row by row, starting from the identities.
    Rows(RowLanes),
    /// The operator does not commute, and the order is strict: the running fold of the current chunk.
    Chunks { running: Vec<Variable>, tree: Tree },
    /// The elements are combined by the tree of adjacent pairs.
    Pairs(Tree),
    /// A left fold into accumulators that start as the first element.
    Left(Vec<Variable>),
}

impl<'a> Reduction<'a> {
    /// Returns a reduction whose lanes are separate results, each of which ends in its lane.
    pub(crate) fn in_lanes(
        lambda: &'a flat::Lambda,
        pattern: &'a [flat::Variable],
        scalars: &[Scalar],
        lanes: Vec<Variable>,
        operators: &[Operator],
    ) -> Self {
        Reduction {
            lambda,
            pattern,
            scalars: scalars.to_vec(),
            kind: Kind::Rows(RowLanes {
                lanes,
                fixed_block: Vec::new(),
                width: 0,
                identities: operators.iter().map(|operator| operator.identity).collect(),
                bounds: None,
                blocks: Blocks::Whole(Vec::new()),
            }),
        }
    }

    /// Returns the lanes that it fills row by row.
    pub(crate) fn row_lanes(&self) -> &[Variable] {
        match &self.kind {
            Kind::Rows(rows) => &rows.lanes,
            Kind::Fold(_)
            | Kind::Lanes { .. }
            | Kind::Chunks { .. }
            | Kind::Pairs(_)
            | Kind::Left(_) => &[],
        }
    }
}

/// Lanes that are filled row by row.
pub(crate) struct RowLanes {
    /// The lanes of each component.
    pub(crate) lanes: Vec<Variable>,
    /// The number of lanes of each component.
    pub(crate) width: u32,
    /// The fixed-size block of each component, if short rows have one.
    pub(crate) fixed_block: Vec<Variable>,
    /// The start value of the lanes of each component.
    pub(crate) identities: Vec<ScalarValue>,
    /// The comparisons of the operators, if all are minima and maxima and no lane is ever nan.
    pub(crate) bounds: Option<Vec<Bound>>,
    /// The results of blocks. Where the order is free there may be one block, which is combined with the
    /// start values at the end.
    pub(crate) blocks: Blocks,
}

/// The destination of the results of blocks.
pub(crate) enum Blocks {
    /// The tree of adjacent pairs.
    Tree(Tree),
    /// There is one block, whose result goes to these variables.
    Whole(Vec<Variable>),
}

/// The complete subtrees of the tree of adjacent pairs, with the start value below them. The start value of
/// a chunk occupies the slot of the first subtree instead, until there is one.
pub(crate) struct Tree {
    pub(crate) subtrees: Vec<Variable>,
    pub(crate) depth: Variable,
}

impl Tree {
    /// Returns the subtrees of each component, with the result at their bottom.
    pub(crate) fn results(&self) -> &[Variable] {
        &self.subtrees
    }
}

/// Returns the element of a local array at an index.
pub(crate) fn at(pointer: Variable, index: Expression) -> Expression {
    Expression::load(pointer, index)
}

/// Returns the first elements of local arrays.
pub(crate) fn firsts(pointers: &[Variable]) -> Vec<Expression> {
    pointers.iter().map(|p| at(*p, zero())).collect()
}

pub(crate) fn zero() -> Expression {
    Expression::index(0)
}

/// `number % size` for a power of two and a number that is not negative.
pub(crate) fn remainder(number: &Expression, size: usize) -> Expression {
    let mask = Expression::index(size as i64 - 1);
    number.clone().compare(ScalarOperation::BitAnd, mask)
}

/// Declares scalar variables for the components of a reduction or scan.
pub(crate) fn make_accumulators(
    out: &mut Writer,
    names: &[&str],
    starts: &[(Expression, nova_core::Scalar)],
) -> Vec<Variable> {
    let mut variables = Vec::with_capacity(starts.len());
    for ((start, scalar), name) in starts.iter().zip(names) {
        variables.push(out.declare(*name, Type::Scalar(*scalar), start.clone()));
    }
    variables
}

/// Declares variables with the placeholder 0, one for each component.
pub(crate) fn unset(out: &mut Writer, name: &str, scalars: &[Scalar]) -> Vec<Variable> {
    let mut variables = Vec::with_capacity(scalars.len());
    for scalar in scalars {
        let zero = nova_core::ScalarValue::from_integer_wrapping(*scalar, 0);
        let zero = Expression::Constant(zero);
        variables.push(out.declare(name, Type::Scalar(*scalar), zero));
    }
    variables
}
