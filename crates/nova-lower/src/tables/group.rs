//! The groups of sums whose nodes stand in tables.

use super::convert::Direction;
use super::numbering::{self, Numbering};
use crate::builder::Builder;
use crate::error::Result;
use nova_core::Member;

/// The sums of tables that are converted in one direction.
pub(super) struct Group {
    pub members: Vec<Member>,
    /// The sums between the nodes that are recursive on both sides.
    pub between: Vec<Member>,
    /// The sums by which the nodes of these are numbered.
    pub numberings: Vec<Numbering>,
}

impl Group {
    pub fn new(b: &mut Builder, members: &[Member], direction: Direction) -> Result<Group> {
        let between = numbering::pairs(&b.output.sums, members)?;
        let numberings = match direction {
            Direction::ToNodes => numbering::of_data(b, members, &between)?,
            Direction::ToData => numbering::of_tables(b, members, &between)?,
            Direction::WithinNodes => Vec::new(),
        };
        Ok(Group {
            members: members.to_vec(),
            between,
            numberings,
        })
    }
}
