//! Witnesses: the reasons that the iterations of a parallel loop do not meet (architecture, invariant 9).

use crate::ir::Variable;
use std::collections::BTreeMap;

/// The reasons that distinct iterations of a parallel loop do not meet. For each block from outside the loop
/// that an iteration writes, it has all reasons that are needed for a pair of paths to the block.
/// Blocks that iterations make themselves, and those that they only read, need none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// The reasons for each block, by a pointer to it.
    pub blocks: BTreeMap<Variable, Vec<Reason>>,
}

/// A reason that two iterations, one of which writes, do not use the same element of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The indices differ, as sums of products of numbers that both iterations know: injective affine maps,
    /// segments, rows, private bins.
    Apart,
    /// Each iteration stays in a segment of its own: these variables of it are the start and the length of
    /// the segment.
    Segment(Variable, Variable),
    /// Both write it by commands for elements that several iterations write, with the same rule for the
    /// value that stays.
    Contended,
    /// The earlier iteration uses it before or in its ordered region, the later one in or after its region.
    Ordered,
    /// The prefixes that iterations propagate in their ordered regions rise.
    Propagated,
    /// A barrier lies between the two uses.
    Phases,
    /// The loop with this index has written the starts of the chunks, which follow each other.
    Scan(Variable),
    /// The starts of the chunks are found by bisection, with limits that rise.
    Bisected,
    /// Each iteration checks at its end that it has stayed where it belongs.
    Checked,
}

impl Reason {
    /// The reasons that have no variables.
    pub const PLAIN: [Reason; 7] = [
        Reason::Apart,
        Reason::Contended,
        Reason::Ordered,
        Reason::Propagated,
        Reason::Phases,
        Reason::Bisected,
        Reason::Checked,
    ];

    /// Its word in the text of Loop.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Apart => "apart",
            Reason::Contended => "contended",
            Reason::Segment(_, _) => "segment",
            Reason::Ordered => "ordered",
            Reason::Propagated => "propagated",
            Reason::Phases => "phases",
            Reason::Scan(_) => "scan",
            Reason::Bisected => "bisected",
            Reason::Checked => "checked",
        }
    }
}
