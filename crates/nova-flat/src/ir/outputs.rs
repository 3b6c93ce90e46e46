//! The outputs of an array operation.

use super::{Atom, Lambda, Variable};

/// The steps of a reduction: all of docs/order.md, or one step of it, for elements that are reduced in
/// chunks.
///
/// If every chunk has the same `2^k` blocks, and the last chunk has the rest, the chunks are subtrees
/// of the tree of adjacent pairs over all blocks. Then `Pairs` over the results of `Chunk` for each
/// chunk equals `Whole` over all elements, to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracketing {
    /// `start ⊕ r`, where `r` is the combination of the blocks. Gives `start` for no elements.
    Whole,
    /// `r` alone. Gives `start` for no elements.
    Chunk,
    /// `start ⊕ r`, where `r` combines the elements themselves by the tree of adjacent pairs. Gives
    /// `start` for no elements. This holds under any floating-point mode, commuting or not.
    Pairs,
    /// The elements from left to right, as in a piece of docs/order.md. Gives `start` for no elements.
    /// This holds under any floating-point mode, commuting or not.
    Left,
}

/// The positions at which a scatter stores its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Positions {
    /// At the index that the body gives with them. Values outside of the destinations are skipped, and
    /// the last of several wins.
    Given,
    /// At the operation's own indices, each offset by one of these starts. The positions are in range,
    /// if the space is not empty. So each element of a block of the destinations is written once.
    Block(Vec<Atom>),
    /// As `Given`, but any one of several values for one element may win: they are equal, or nothing
    /// reads the element. So the threads of a grid may store them.
    Unordered,
    /// As `Given`, but the greatest of the old element and the values for it wins. The elements are
    /// integers. The threads of a grid may store them.
    Greatest,
}

impl Positions {
    /// True if the body gives an index with the values.
    pub fn are_given(&self) -> bool {
        match self {
            Positions::Given | Positions::Unordered | Positions::Greatest => true,
            Positions::Block(_) => false,
        }
    }

    /// True if the result does not depend on the order in which values are stored.
    pub fn are_orderless(&self) -> bool {
        match self {
            Positions::Given => false,
            Positions::Block(_) | Positions::Unordered | Positions::Greatest => true,
        }
    }
}

/// The outputs of an array operation, which consume the values that its body gives. `n` is the number
/// of indices. All outputs but `Map`, `Reduce`, `Histogram` and a `Scatter` of a block require a space of rank 1.
#[derive(Clone, Debug)]
pub enum Output {
    /// Consumes a scalar, and gives the array of these scalars with the extents of the space.
    Map,
    /// Consumes `start.len()` scalars and gives as many: `start ⊕ v0 ⊕ v1 …` in the order of
    /// docs/order.md, or one step of that ([`Bracketing`]). The lambda takes the left operand, then the
    /// right one.
    Reduce {
        lambda: Lambda,
        start: Vec<Atom>,
        commutes: bool,
        bracketing: Bracketing,
    },
    /// Consumes `start.len()` scalars, and gives as many `[n]` arrays of prefix results.
    Scan {
        lambda: Lambda,
        start: Vec<Atom>,
        exclusive: bool,
    },
    /// Consumes a bool and `values` scalars. Gives the number of survivors, for which the bool was
    /// true, and for each scalar the array `[count]` of the survivors, in order.
    Filter { values: usize },
    /// Consumes a scalar per destination, preceded by an index if positions are given. Gives the
    /// destinations with those elements replaced. Destinations are arrays of one shape, and of the rank
    /// of the space.
    Scatter {
        destinations: Vec<Variable>,
        positions: Positions,
    },
    /// Consumes an index and `start.len()` scalars. Gives as many `[bins]` arrays, where each bin is
    /// `start ⊕` its values in order. Values with an index out of range are skipped. The lambda
    /// commutes. If it is guarded, it consumes a bool before the index: values for which it is false are
    /// skipped, and no other has an index out of range.
    Histogram {
        lambda: Lambda,
        start: Vec<Atom>,
        bins: Atom,
        guarded: bool,
    },
    /// Consumes a length and `values` arrays `[length]`. Gives `starts` and `ends` (`[n]i64`, from 0,
    /// dense), the total, and for each array the concatenation `[total]` in order.
    Collect { values: usize },
    /// Consumes an index and an array, a chunk of the result. Gives the array of this shape in which
    /// element i of the chunk stands at the index plus i (`join` of dpia.txt §3). Chunks do not
    /// overlap, and their extents after the first one are those of the shape. Elements that no chunk
    /// covers must not be read.
    Join { shape: Vec<Atom> },
}

impl Output {
    /// Returns the operator of a reduction, a scan or a histogram.
    pub fn lambda(&self) -> Option<&Lambda> {
        match self {
            Output::Reduce { lambda, .. }
            | Output::Scan { lambda, .. }
            | Output::Histogram { lambda, .. } => Some(lambda),
            Output::Map
            | Output::Filter { .. }
            | Output::Scatter { .. }
            | Output::Collect { .. }
            | Output::Join { .. } => None,
        }
    }

    /// Returns the operator, to change it.
    pub fn lambda_mut(&mut self) -> Option<&mut Lambda> {
        match self {
            Output::Reduce { lambda, .. }
            | Output::Scan { lambda, .. }
            | Output::Histogram { lambda, .. } => Some(lambda),
            _ => None,
        }
    }

    /// Names what it makes of the values of the body.
    pub fn word(&self) -> &'static str {
        match self {
            Output::Map => "map",
            Output::Reduce { .. } => "reduce",
            Output::Scan { .. } => "scan",
            Output::Filter { .. } => "filter",
            Output::Scatter { .. } => "scatter",
            Output::Histogram { .. } => "histogram",
            Output::Collect { .. } => "rows of varying length",
            Output::Join { .. } => "rows of one length",
        }
    }

    /// Returns the number of results of the body that it consumes.
    pub fn consumes(&self) -> usize {
        match self {
            Output::Map => 1,
            Output::Reduce { start, .. } | Output::Scan { start, .. } => start.len(),
            Output::Filter { values } | Output::Collect { values } => values + 1,
            Output::Scatter {
                destinations,
                positions,
            } => destinations.len() + usize::from(positions.are_given()),
            Output::Histogram { start, guarded, .. } => start.len() + 1 + usize::from(*guarded),
            Output::Join { .. } => 2,
        }
    }

    /// Returns the number of results of the operation that it gives.
    pub fn gives(&self) -> usize {
        match self {
            Output::Map => 1,
            Output::Reduce { start, .. }
            | Output::Scan { start, .. }
            | Output::Histogram { start, .. } => start.len(),
            Output::Filter { values } => values + 1,
            Output::Scatter { destinations, .. } => destinations.len(),
            Output::Collect { values } => values + 3,
            Output::Join { .. } => 1,
        }
    }
}
