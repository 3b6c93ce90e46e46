//! Commands that number, reserve, fill or check nodes of whole tables. One thread of the host executes them
//! in order. Threads of a processor also mark and reclaim the nodes that they have appended themselves.

use super::{Expression, Variable};
use nova_core::Member;
use nova_core::SumId;
use nova_diag::Place;

/// The members of a group.
pub type Members = Vec<Member>;

/// Recursive sums.
pub type Sums = Vec<SumId>;

/// A command on the node tables of a group.
#[derive(Clone, Debug)]
pub enum TableCommand {
    /// The nodes that a link reaches, and their numbers, as `NodesReached` of Flat. For each
    /// member the results are `count`, `order`, `lowest`, `span` and
    /// `number`. Both arrays carry a reference.
    Reached {
        members: Members,
        link: Expression,
        results: Vec<Variable>,
        place: Place,
    },
    /// Reserves places for `count` nodes that follow each other in the table of a sum, and assigns the
    /// link of the first. Each must be stored once before it is read.
    Reserve {
        sum: SumId,
        count: Expression,
        link: Variable,
        place: Place,
    },
    /// Stores a node in a reserved place. The table takes a reference of each array.
    Store {
        sum: SumId,
        constructor: u32,
        link: Expression,
        payload: Vec<Expression>,
    },
    /// Assigns a link, through which nodes stored before may be read.
    Seal {
        sum: SumId,
        from: Expression,
        link: Variable,
    },
    /// Tells whether no node of the ranges contains itself. There is a range for each member: `counts`
    /// nodes from the link `first` on.
    Acyclic {
        members: Members,
        first: Vec<Expression>,
        counts: Vec<Expression>,
        acyclic: Variable,
        place: Place,
    },
    /// Assigns the number of nodes that the table of a sum has before a loop begins, and a number of nodes
    /// that it has before nodes of the loop are reclaimed for the first time.
    Mark {
        sum: SumId,
        first: Variable,
        limit: Variable,
    },
    /// Reclaims nodes of all these tables, if one has as many nodes as its limit. It keeps the nodes
    /// before the first of each table, and those that the links reach. They keep their order, so that
    /// nothing but the links and the nodes that are kept may link to nodes that move. The links change with
    /// them. Each is a link to a node of its target, or 0. Assigns new limits.
    Reclaim {
        sums: Sums,
        first: Vec<Expression>,
        limits: Vec<Variable>,
        links: Vec<Variable>,
        targets: Sums,
        place: Place,
    },
}
