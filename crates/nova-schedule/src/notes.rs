//! The outcome of each operation and each sort of a program, with the reason, for reports. The pass
//! records it under the variables that these bind, so that it can be found again in the program that
//! the pass leaves. There a parallelised operation is a conditional, whose second branch runs it
//! unchanged.

use crate::policy::Parallelism;
use nova_flat::freedom::Freedom;
use nova_flat::ir::{Atom, Body, Expression, Statement, Variable};
use nova_flat::visit::each_statement;
use nova_opt::flatten_regular::Irregular;
use std::collections::HashMap;

/// The notes on a program.
#[derive(Clone, Debug)]
pub struct Notes {
    /// The policy by which operations are parallelised.
    pub parallelism: Parallelism,
    of: HashMap<Variable, Note>,
}

/// The note on an operation or a sort.
#[derive(Clone, Debug)]
pub struct Note {
    /// The outcome.
    pub fate: Fate,
    /// True if it stands inside of a parallelised operation. Then it is parallelised only if that
    /// operation has few indices, or one of them has a long row.
    pub nested: bool,
    /// The reason why the rows that it makes are not those of a matrix, if it makes rows.
    pub irregular: Option<Irregular>,
}

/// The outcome of an operation or a sort.
#[derive(Clone, Debug)]
pub enum Fate {
    /// It is parallelised if it is large enough.
    Parallelised(Parallelised),
    /// One thread runs it, for this reason.
    Whole(Reason),
}

/// The way in which an operation or a sort is parallelised.
#[derive(Clone, Debug)]
pub struct Parallelised {
    /// The chunking of the indices.
    pub chunking: Chunking,
    /// The least cost of a chunk, in scalar operations.
    pub grain: i64,
    /// The steps apart from the chunks, or inside of these, each once.
    pub steps: Vec<Step>,
    /// True if it is parallelised only if a thread is idle when it begins, since the whole is less
    /// work.
    pub idle: bool,
    /// With fewer indices than this the operations in its body are parallelised, if these are worth it.
    pub inside: Option<i64>,
}

impl Parallelised {
    /// The way of chunks of rows.
    pub(crate) fn rows(grain: i64) -> Self {
        Parallelised {
            grain,
            chunking: Chunking::Rows,
            steps: Vec::new(),
            idle: false,
            inside: None,
        }
    }
}

/// The chunking of indices.
#[derive(Clone, Debug)]
pub enum Chunking {
    /// One index for each thread of a kernel.
    Each,
    /// Chunks with the same number of indices.
    Even {
        /// The least number of indices for which it is parallelised, and the least number in a chunk,
        /// if the cost of an index is known.
        sizes: Option<(i64, i64)>,
        /// The cost of an index, in cheap scalar operations.
        cost: i64,
        /// Further costs: this much for each index of a space of these extents.
        loops: Vec<(Vec<Atom>, i64)>,
    },
    /// Blocks whose indices [`crate::LANES`] threads of a kernel take cyclically, so that neighbouring
    /// threads have neighbouring ones.
    Lanes {
        /// The least number of indices for which it is parallelised.
        from: i64,
        /// The least number of indices of a thread, if there are so many.
        least: i64,
        /// The cost of an index, in cheap scalar operations.
        cost: i64,
    },
    /// Tiles, each for a work-group whose threads take neighbouring indices.
    Tiles {
        /// The least number of indices for which it is parallelised.
        from: i64,
        /// The number of indices of a tile.
        size: i64,
        /// The cost of an index, in cheap scalar operations.
        cost: i64,
    },
    /// Chunks for work-groups whose threads have bins and take neighbouring indices.
    Bins {
        /// The least number of indices for which it is parallelised.
        from: i64,
        /// The cost of an index, in cheap scalar operations.
        cost: i64,
    },
    /// Chunks of rows with about the same number of elements.
    Elements {
        /// The cost of a row.
        row: i64,
        /// The cost of each of its elements.
        element: i64,
    },
    /// Chunks of which each thread has some, if a thread is idle when the operation begins. The cost of
    /// an index is unknown, since it calls recursive functions.
    Asked,
    /// Chunks of rows of which each reduces its part of all columns.
    Rows,
    /// Runs of a power of two of elements.
    Runs,
    /// Even chunks of keys.
    Keys {
        /// The least number of elements.
        from: i64,
    },
    /// Chunks that store into the same arrays.
    Stores,
    /// One index for each thread of a kernel; the threads store into the same arrays.
    Arrays {
        /// The least number of elements of an array.
        from: i64,
    },
    /// Tiles that kernels sort by a key, digit by digit.
    Radix {
        /// The least number of elements.
        from: i64,
    },
}

impl Chunking {
    /// True for chunks of about as many elements of rows, whatever the number of rows.
    pub fn is_by_elements(&self) -> bool {
        match self {
            Chunking::Elements { .. } => true,
            Chunking::Each
            | Chunking::Even { .. }
            | Chunking::Lanes { .. }
            | Chunking::Tiles { .. }
            | Chunking::Bins { .. }
            | Chunking::Asked
            | Chunking::Rows
            | Chunking::Runs
            | Chunking::Keys { .. }
            | Chunking::Stores
            | Chunking::Arrays { .. }
            | Chunking::Radix { .. } => false,
        }
    }
}

/// A step apart from the chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Indices claim the elements where they store; the last of them wins.
    Claims,
    /// The partial results of the chunks are reduced.
    Reduce(Freedom),
    /// The partial results of the lanes are reduced by kernels while there are more values than this,
    /// then by the host.
    Lanes(i64),
    /// The number of survivors of each tile comes first, then their compaction.
    Compaction,
    /// Each tile propagates the number of survivors so far in an ordered region, and writes its own
    /// after those.
    OrderedCompaction,
    /// The partial result of each tile comes first, then the running results of these, then those of
    /// the tiles.
    Tiles,
    /// Each tile propagates its prefix in an ordered region, and begins with the one that it has been
    /// given.
    OrderedTiles,
    /// If there are many indices, groups of threads take blocks of some indices of each dimension. They
    /// bring tiles of the loop inside to local memory.
    Blocks {
        /// The number of threads of a group.
        threads: i64,
        /// The indices of a block in each dimension; 1 if there is no second one.
        block: [i64; 2],
        /// The iterations of a tile.
        tile: i64,
    },
    /// If there are many indices, groups of threads take tiles of neighbouring ones. They bring what
    /// these read of some arrays to local memory.
    Neighbours {
        /// The indices of a tile.
        tile: i64,
        /// The number of arrays whose neighbours are read.
        arrays: usize,
    },
    /// Rows that are long enough on average have several lanes each, whose values are combined in local
    /// memory.
    SegmentedReduction {
        /// The least average number of elements of such rows.
        worth: i64,
        /// The most lanes of a row.
        threads: i64,
        /// Rows of a nested vector with this many times the mean have a group each.
        times: i64,
    },
    /// The partial result of each chunk, or block, comes first, then the running results.
    Scan(Freedom),
    /// The same for state that is a running result.
    State,
    /// The number of survivors of each chunk comes first, then the elements.
    Count,
    /// The survivors of the chunks are concatenated.
    Survivors,
    /// The rows that the chunks make are concatenated.
    Rows,
    /// With fewer rows than this, each is in chunks of its own, where that is worth it.
    FewRows(i64),
    /// Each chunk has bins of its own, which are combined, and this many elements or more for each bin.
    Bins(i64),
    /// With up to this many bins, threads of work-groups have bins of their own in local memory. These
    /// are combined there, then those of the groups.
    LocalBins(i64),
    /// Sorted chunks are merged.
    Merge,
    /// Pieces of the result take their parts of sorted chunks, and sort them.
    Pieces,
}

/// The reason why one thread runs an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It only checks.
    Nothing,
    /// It has side effects that are visible from outside.
    Observable,
    /// It calls foreign functions that the device does not have.
    Foreign,
    /// It appends nodes that hold arrays to the tables of recursive data, takes arrays from nodes, or needs all
    /// nodes of a table, which threads cannot.
    Nodes,
    /// Its elements go to computed positions.
    Scatter,
    /// Its values are combined in an order that chunks cannot keep.
    Order,
    /// Its chunks would start with the identity of the operator, and none is known.
    Operator,
    /// It is known to cost less than two chunks.
    Small,
    /// It has loop-carried state that is not a running result of an operator that no order changes.
    State,
    /// The cost of recursive functions is not known, and the chunking would change the result.
    Recursion,
    /// Chunks of scans compute the body twice, which is expensive here.
    Expensive,
    /// It has too many enclosing parallelised operations.
    Deep,
    /// The program states how it runs.
    Strategy,
    /// An operation inside of it is shared among threads, because the program says so.
    Inside,
    /// Nothing shows that its iterations do not interfere.
    Unproved,
    /// The plan gives it to one thread.
    Plan,
}

impl Notes {
    pub(crate) fn new(parallelism: Parallelism) -> Notes {
        let of = HashMap::new();
        Notes { parallelism, of }
    }

    /// Returns the note on the statement that binds one of these variables.
    pub fn of(&self, pattern: &[Variable]) -> Option<&Note> {
        pattern.iter().find_map(|variable| self.of.get(variable))
    }

    /// Records a note on the statement that binds a variable.
    pub(crate) fn insert(&mut self, variable: Variable, note: Note) {
        self.of.insert(variable, note);
    }

    /// Records that the statement that binds a variable is parallelised, if there is a note on it.
    pub(crate) fn parallelise(&mut self, variable: Variable, parallelised: Parallelised) {
        if let Some(note) = self.of.get_mut(&variable) {
            note.fate = Fate::Parallelised(parallelised);
        }
    }

    /// Copies the notes on the second variables to the first ones.
    pub(crate) fn copy(&mut self, pairs: &[(Variable, Variable)]) {
        for (to, from) in pairs {
            if let Some(note) = self.of.get(from).cloned() {
                self.of.insert(*to, note);
            }
        }
    }
}

/// Returns the variable under which the note on a statement is recorded.
pub(crate) fn key(statement: &Statement) -> Option<Variable> {
    match &statement.expression {
        Expression::Operation(_) | Expression::Sort { .. } | Expression::SortKeys { .. } => {
            statement.pattern.first().copied()
        }
        _nothing_to_parallelise => None,
    }
}

/// Pairs the operations and sorts of two bodies of which one is a copy of the other, by the variables
/// under which their notes are recorded.
pub(crate) fn pairs(one: &Body, other: &Body) -> Vec<(Variable, Variable)> {
    let keys = |body: &Body| {
        let mut keys = Vec::new();
        each_statement(body, &mut |statement| keys.extend(key(statement)));
        keys
    };
    keys(one).into_iter().zip(keys(other)).collect()
}
