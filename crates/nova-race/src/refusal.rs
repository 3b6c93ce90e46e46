//! The rules of the checker, and its refusals of loops that break them.

use nova_loop::ir::Variable;

/// A requirement of the checker on a parallel loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// An iteration assigns no variable from outside the loop.
    Scalars,
    /// An iteration counts no references of blocks from outside the loop.
    Handles,
    /// An iteration uses no resource of the whole call, and does not leave the function.
    WholeCall,
    /// Functions that iterations call do not write their arguments' arrays.
    Inputs,
    /// Pointers lead to different blocks, or are the same.
    Blocks,
    /// Elements interleaved with those of other arrays are accessed at their stride.
    Fields,
    /// The elements that two iterations use in one block differ.
    Elements,
    /// All writes to an element that several iterations write are by `Contend` with the same rule.
    Contended,
    /// Paths that ordered regions are to order are ordered by them.
    Ordered,
    /// The addends of propagated prefixes are not negative.
    Propagated,
    /// The addends of a scan of offsets are not negative.
    Addends,
    /// The limits of bisections rise with the iterations.
    Limits,
    /// An iteration checks itself against the next one wherever there is one.
    Checks,
    /// Quotients and remainders are of the same numbers.
    Divisions,
    /// The quotients that rise with the iterations are quotients of the iterations' own numbers.
    Quotients,
    /// Factors of a size are not negative where the others are positive.
    Sizes,
    /// After branches, pointers lead where any of them has left them.
    Chosen,
    /// Pointers lead where the iterations of a sequential loop have left them.
    Carried,
    /// All iterations reach a barrier together.
    Barriers,
    /// A barrier separates conflicting accesses of the threads of a group to one array.
    Waits,
    /// Each array of a group has one place in memory, and an array on the stack belongs to its thread.
    Places,
}

/// All rules.
pub const RULES: [Rule; 21] = [
    Rule::Scalars,
    Rule::Handles,
    Rule::WholeCall,
    Rule::Inputs,
    Rule::Blocks,
    Rule::Fields,
    Rule::Elements,
    Rule::Contended,
    Rule::Ordered,
    Rule::Propagated,
    Rule::Addends,
    Rule::Limits,
    Rule::Checks,
    Rule::Divisions,
    Rule::Quotients,
    Rule::Sizes,
    Rule::Chosen,
    Rule::Carried,
    Rule::Barriers,
    Rule::Waits,
    Rule::Places,
];

/// The reason that a parallel loop is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The index of the loop, which identifies it.
    pub index: Variable,
    /// The rule that it breaks.
    pub rule: Rule,
    /// An explanation for the user.
    pub message: String,
}
