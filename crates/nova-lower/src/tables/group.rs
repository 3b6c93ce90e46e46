//! The groups of sums whose nodes stand in tables.

use super::convert::Direction;
use super::numbering::{self, Numbering};
use crate::builder::Builder;
use crate::error::Result;
use nova_core::SumId;
use nova_core::nodes::Member;

/// The sums of tables that are converted in one direction.
pub(super) struct Group {
    pub members: Vec<Member>,
    /// The sums between the nodes that are recursive on both sides.
    pub between: Vec<Member>,
    /// How the nodes of these are numbered.
    pub numberings: Vec<Numbering>,
}

impl Group {
    pub fn new(b: &mut Builder, pairs: &[(SumId, SumId)], direction: Direction) -> Result<Group> {
        let member = |(data, node): &(SumId, SumId)| Member {
            data: *data,
            node: *node,
        };
        let members: Vec<Member> = pairs.iter().map(member).collect();
        let between = numbering::pairs(&b.output.sums, &members)?;
        let numberings = match direction {
            Direction::ToNodes => numbering::of_data(b, &members, &between)?,
            Direction::ToData => numbering::of_tables(b, &members, &between)?,
        };
        Ok(Group {
            members,
            between,
            numberings,
        })
    }

    /// Returns the pairs of sums that Flat names a group by.
    pub fn sums(&self) -> Vec<(SumId, SumId)> {
        self.members.iter().map(|m| (m.data, m.node)).collect()
    }
}
