//! Witnesses: why the iterations of a parallel loop do not meet (architecture, invariant 10).

use crate::ir::Variable;
use std::collections::BTreeMap;

/// Why distinct iterations of a parallel loop do not meet: for each block from around the loop that
/// an iteration writes, by a pointer to it, all reasons that are needed for a pair of paths to it.
/// Blocks that iterations make themselves, and those that they only read, need none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// The reasons for each block.
    pub blocks: BTreeMap<Variable, Vec<Reason>>,
}

/// Why two iterations do not use the same element of a block, one of them writing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The places differ, as sums of products of what both iterations know: injective affine maps,
    /// segments, rows, own bins.
    Apart,
    /// Each iteration stays in a segment of its own: these variables of it say where the segment
    /// begins and how long it is.
    Segment(Variable, Variable),
    /// Both write it by commands for elements that several iterations write, which leave the same.
    Contended,
    /// They do it in turn, or before and behind their turns.
    Turns,
    /// What iterations hand on in their turns rises.
    HandedOn,
    /// A barrier lies between.
    Phases,
    /// The loop with this index has written where the parts begin, and they follow each other.
    Scan(Variable),
    /// Where the parts begin is found by bisection, with limits that rise.
    Bisected,
    /// Each iteration checks at its end that it has stayed where it belongs.
    Checked,
}

impl Reason {
    /// Those that name no loop.
    pub const PLAIN: [Reason; 7] = [
        Reason::Apart,
        Reason::Contended,
        Reason::Turns,
        Reason::HandedOn,
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
            Reason::Turns => "turns",
            Reason::HandedOn => "handed_on",
            Reason::Phases => "phases",
            Reason::Scan(_) => "scan",
            Reason::Bisected => "bisected",
            Reason::Checked => "checked",
        }
    }
}

impl Witness {
    /// True if no iteration writes anything from around the loop.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}
