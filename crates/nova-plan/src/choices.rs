//! The table of choices: what a plan may say about an operation. A pass asks for a choice only where every
//! value of it is legal, so that no plan can make a program wrong.

/// A question that a pass asks about one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Choice {
    /// Whether maps over positions become maps over rows and columns.
    Delinearise,
    /// Whether gathers that a loop repeats become a table.
    GatherTable,
    /// Whether a loop takes several steps in one pass.
    Blocking,
    /// Whether threads share the rows of a reduction of columns.
    Rfactor,
    /// Whether threads share the operation.
    Threads,
    /// The least cost of a chunk.
    Grain,
    /// The most chunks.
    Chunks,
    /// Whether a contraction is computed by panels.
    Panels,
    /// The groups of rows in a block of a contraction.
    PanelRows,
    /// The rows of lanes in a block of a contraction.
    PanelColumns,
    /// The steps of a block of sums.
    Steps,
    /// Whether results of a reduction are computed in tiles.
    Tiles,
    /// Whether rows are reduced in groups.
    Groups,
    /// Whether iterations that contain loops are taken in lockstep.
    Lockstep,
    /// Whether a transposed copy is made in tiles.
    Transpose,
    /// Whether a reduction of truths stops early.
    EarlyExit,
    /// Whether invariant conditions leave a loop.
    Unswitch,
    /// Whether a loop is split at its ends.
    Split,
    /// Whether small integers are added in narrow lanes.
    Narrow,
    /// Whether lanes that agree compute once.
    Agreement,
    /// Whether three loops of a chunked scan become one.
    ChainedScan,
    /// Whether rows that read the same memory are taken together.
    UnrollAndJam,
    /// Whether sines and cosines of bounded angles have a loop of their own.
    BoundedAngles,
    /// Whether a selection is searched in strips.
    Selection,
    /// Whether prefix scans are computed in vector registers.
    PrefixScan,
    /// Whether a loop with carried state is distributed.
    Distribution,
    /// Whether a filter packs the survivors of a strip.
    Packing,
    /// Whether a recurrence is decoupled from costly work.
    Decoupling,
    /// Whether large results are written past the caches.
    Stream,
    /// Whether long chains become two loops.
    Fission,
}

/// The values of a choice that is one of two ways: 0 is no, 1 is yes.
const WAYS: &[i64] = &[0, 1];

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The choice.
    pub choice: Choice,
    /// Its name in the text of a plan.
    pub name: &'static str,
    /// The pass that asks for it.
    pub pass: &'static str,
    /// The decision, as the end of a sentence that begins with "Says".
    pub meaning: &'static str,
    /// The values that a plan may give.
    pub values: &'static [i64],
}

impl Row {
    /// True if the choice is one of two ways, written `yes` and `no`.
    pub fn is_way(&self) -> bool {
        self.values == WAYS
    }
}

/// All choices, in the order of the passes that ask for them.
#[rustfmt::skip]
pub const CHOICES: &[Row] = &[
    row(Choice::Delinearise, "delinearise", "delinearise", "whether maps over positions get rows and columns", WAYS),
    row(Choice::GatherTable, "gather-table", "gather-tables", "whether gathers that a loop repeats become a table", WAYS),
    row(Choice::Blocking, "blocking", "temporal-blocking", "whether a loop takes several steps in one pass", WAYS),
    row(Choice::Rfactor, "rfactor", "rfactor", "whether threads share the rows of reductions of columns", WAYS),
    row(Choice::Threads, "threads", "parallelise", "whether threads share the operation", WAYS),
    row(Choice::Grain, "grain", "parallelise", "how many simple operations a chunk costs at least",
        &[1 << 11, 1 << 13, 1 << 15, 1 << 17, 1 << 19]),
    row(Choice::Chunks, "chunks", "parallelise", "how many chunks there are at most", &[4, 16, 64, 256, 1024]),
    row(Choice::Panels, "panels", "loops", "whether a contraction is computed by panels", WAYS),
    row(Choice::PanelRows, "panel-rows", "loops", "how many groups of six rows a block of a contraction has",
        &[2, 4, 8, 16, 32, 64]),
    row(Choice::PanelColumns, "panel-columns", "loops", "how many rows of lanes a block of a contraction has",
        &[1, 2, 4, 8, 16, 32]),
    row(Choice::Steps, "steps", "loops", "how many products a block of a contraction adds", &[32, 64, 128, 256, 512]),
    row(Choice::Tiles, "tiles", "loops", "whether results of reductions are computed in tiles", WAYS),
    row(Choice::Groups, "groups", "loops", "whether short rows are computed in groups", WAYS),
    row(Choice::Lockstep, "lockstep", "loops", "whether iterations that contain loops are taken in lanes", WAYS),
    row(Choice::Transpose, "transpose", "loops", "whether a transposed copy is made in tiles", WAYS),
    row(Choice::EarlyExit, "early-exit", "loops", "whether a reduction of truths stops early", WAYS),
    row(Choice::Unswitch, "unswitch", "loop-unswitching", "whether conditions that never change leave the loop", WAYS),
    row(Choice::Split, "split", "index-set-splitting", "whether the loop is split at its ends", WAYS),
    row(Choice::Narrow, "narrow", "narrow-accumulators", "whether small integers are added in narrow lanes", WAYS),
    row(Choice::Agreement, "agreement", "lockstep", "whether lanes that agree compute once", WAYS),
    row(Choice::ChainedScan, "chained-scan", "chained-scan", "whether a chunked scan is one loop", WAYS),
    row(Choice::UnrollAndJam, "unroll-and-jam", "unroll-and-jam", "whether four rows are taken together", WAYS),
    row(Choice::BoundedAngles, "bounded-angles", "strip-mining",
        "whether sines and cosines of bounded angles are inline", WAYS),
    row(Choice::Selection, "selection", "strip-mining", "how many iterations look for something better at once",
        &[0, 16, 32, 64, 128, 256]),
    row(Choice::PrefixScan, "prefix-scan", "strip-mining", "whether prefix scans are computed in vector registers", WAYS),
    row(Choice::Distribution, "distribution", "strip-mining", "whether a loop with state is distributed", WAYS),
    row(Choice::Packing, "packing", "strip-mining", "whether a filter packs the survivors of a strip", WAYS),
    row(Choice::Decoupling, "decoupling", "strip-mining", "whether a recurrence is decoupled from costly work", WAYS),
    row(Choice::Stream, "stream", "strip-mining", "whether large results are written past the caches", WAYS),
    row(Choice::Fission, "fission", "strip-mining", "whether long chains become two loops", WAYS),
];

/// Returns a row of the table.
const fn row(
    choice: Choice,
    name: &'static str,
    pass: &'static str,
    meaning: &'static str,
    values: &'static [i64],
) -> Row {
    Row {
        choice,
        name,
        pass,
        meaning,
        values,
    }
}

impl Choice {
    /// Returns its row.
    pub fn row(self) -> Option<&'static Row> {
        CHOICES.iter().find(|row| row.choice == self)
    }

    /// Returns its name in the text of a plan.
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// Returns the row of the choice with this name.
    pub fn by_name(name: &str) -> Option<&'static Row> {
        CHOICES.iter().find(|row| row.name == name)
    }

    /// Returns the text of a value: `yes`, `no` or a number.
    pub fn text(self, value: i64) -> String {
        match (self.row().is_some_and(Row::is_way), value) {
            (true, 0) => "no".to_string(),
            (true, _) => "yes".to_string(),
            (false, value) => value.to_string(),
        }
    }
}
