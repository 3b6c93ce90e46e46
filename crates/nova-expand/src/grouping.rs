//! Maps whose elements are reductions over rows of varying length.

use crate::nest::Nest;
use crate::space::LaneSchedule;
use nova_core::ScalarOperation;
use nova_flat::ir as flat;

/// A map of reductions over rows.
pub(crate) struct Grouping<'a> {
    pub(crate) map: &'a flat::ArrayOperation,
    pub(crate) nest: Nest<'a>,
    pub(crate) method: GroupMethod<'a>,
    /// The operation of all reductions.
    pub(crate) operation: ScalarOperation,
    /// The index of the map.
    pub(crate) index: flat::Variable,
    /// The index of the reduction.
    pub(crate) inner: flat::Variable,
    /// The number of elements of a row.
    pub(crate) length: flat::Atom,
}

/// The way in which the elements of the rows of a group are computed.
pub(crate) enum GroupMethod<'a> {
    /// Row by row, in fixed-size blocks.
    Rows(LaneSchedule),
    /// In strips of adjacent rows ([`crate::row_strips`]).
    Strips(StripFacts<'a>),
}

/// Facts about reductions over rows that may be adjacent.
pub(crate) struct StripFacts<'a> {
    /// The index of a row's first element, which is added to the index of the reduction.
    pub(crate) from: flat::Variable,
    /// The statements that compute the conditions of the checks.
    pub(crate) needed: Vec<&'a flat::Statement>,
    /// The conditions.
    pub(crate) conditions: Vec<flat::Atom>,
}
