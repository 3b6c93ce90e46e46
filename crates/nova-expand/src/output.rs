//! The outputs of an operation under translation.

use crate::accumulators::Reduction;
use nova_flat::ir as flat;
use nova_loop::ir::{Expression, Stays, Variable};

/// An output of an operation under translation.
pub(crate) enum Output<'a> {
    Map(flat::Variable),
    Reduction(Reduction<'a>),
    Scan(Scan<'a>),
    Filter {
        count: Variable,
        arrays: &'a [flat::Variable],
        compaction: Compaction,
    },
    Scatter {
        positions: Positions,
        arrays: &'a [flat::Variable],
    },
    Histogram {
        lambda: &'a flat::Lambda,
        /// The number of bins that indices are compared with; none if they are guarded.
        bins: Option<Expression>,
        arrays: &'a [flat::Variable],
    },
    Collect(Collect<'a>),
    Join(flat::Variable),
}

impl Output<'_> {
    /// Returns the lanes that it fills row by row.
    pub(crate) fn lanes(&self) -> Vec<Variable> {
        match self {
            Output::Reduction(reduction) => reduction.row_lanes().to_vec(),
            _others => Vec::new(),
        }
    }
}

/// The way in which a scatter stores a value to an element.
#[derive(Clone, Copy)]
pub(crate) enum ScatterMode {
    /// It overwrites the element.
    Overwrite,
    /// It overwrites the element if the value is greater.
    IfGreater,
    /// It stores atomically, since other iterations may store at the same time.
    Contends(Stays),
}

/// The positions at which a scatter stores its values.
pub(crate) enum Positions {
    /// At given indices, if they are below the length of the destinations.
    Given {
        length: Expression,
        mode: ScatterMode,
    },
    /// At the indices of the space plus these starts.
    Block { starts: Vec<Expression> },
}

/// Rows of varying length, concatenated.
pub(crate) struct Collect<'a> {
    pub(crate) starts: flat::Variable,
    pub(crate) ends: flat::Variable,
    pub(crate) total: Variable,
    pub(crate) arrays: &'a [flat::Variable],
    /// The result buffers, if threads run the indices in parallel.
    pub(crate) buffers: Option<ResultBuffers>,
}

/// The way in which a filter stores its survivors.
pub(crate) enum Compaction {
    /// It stores survivors to the array, after a branch.
    Branching,
    /// It may store every element to the array, which has room for all; only survivors advance the counter.
    Branchless,
    /// It stores to local arrays.
    Staged(Staging),
}

/// The survivors of a chunk so far.
pub(crate) struct Staging {
    /// The local arrays.
    pub(crate) locals: Vec<Variable>,
    /// The number of their survivors.
    pub(crate) count: Variable,
}

/// True if an output is staged in local arrays.
pub(crate) fn is_staged(output: &Output) -> bool {
    matches!(
        output,
        Output::Filter {
            compaction: Compaction::Staged(_),
            ..
        }
    )
}

/// The tables of result buffers of a collect whose iterations run in parallel.
pub(crate) struct ResultBuffers {
    pub(crate) tables: Vec<Variable>,
    /// The number of iterations.
    pub(crate) count: Expression,
}

/// A scan under translation.
pub(crate) struct Scan<'a> {
    pub(crate) lambda: &'a flat::Lambda,
    pub(crate) arrays: &'a [flat::Variable],
    pub(crate) exclusive: bool,
    /// The `y` of the previous element.
    pub(crate) last: Vec<Variable>,
    pub(crate) strict: Option<Strict>,
}

pub(crate) struct Strict {
    /// The `y` before the block.
    pub(crate) carry: Vec<Variable>,
    /// The fold of the complete chunks of the block so far.
    pub(crate) before: Vec<Variable>,
    /// The fold of the current chunk so far.
    pub(crate) chunk: Vec<Variable>,
    /// The combination of `before` and `chunk`.
    pub(crate) within: Vec<Variable>,
}
