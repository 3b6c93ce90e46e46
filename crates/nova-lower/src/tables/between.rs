//! The conversion of the recursive sums between the nodes of a group.
//!
//! Their nodes are numbered as those of the group are, and each becomes one node of the other sum. So
//! data of any depth are converted without recursion, and what is shared stays shared.

use super::convert::{Conversion, Direction, Numbers, Renumbering};
use super::group::Group;
use super::nodes::{Reached, fill, nodes_reached, reserve, seal};
use super::numbering::Numbering;
use crate::builder::Builder;
use crate::error::Result;
use nova_core::Member;
use nova_core::Scalar;
use nova_flat::ir::{Atom, Expression};

/// Numbers the nodes of all pairs between that a link reaches.
fn number(b: &mut Builder, group: &Group, root: Atom) -> Vec<Reached> {
    let mut reached = Vec::new();
    for Numbering { pairs, sums } in &group.numberings {
        let all = nodes_reached(b, sums.clone(), root);
        let own = all.into_iter().skip(sums.len() - pairs.len());
        reached.extend(pairs.iter().copied().zip(own));
    }
    reached.sort_unstable_by_key(|(k, _)| *k);
    reached.into_iter().map(|(_, reached)| reached).collect()
}

/// Numbers the nodes of the sums between the nodes that `root` reaches, a link to the first member, and
/// makes the nodes that stand for them in tables.
pub(super) fn to_nodes(
    b: &mut Builder,
    group: &Group,
    links: &[Renumbering],
    root: Atom,
) -> Result<Vec<(Member, Renumbering)>> {
    let reached = number(b, group, root);
    let made = make(b, group, Direction::ToNodes, links, &reached)?;
    let mut sealed = Vec::with_capacity(made.len());
    for (pair, numbers, first) in made {
        let first = seal(b, pair.node, first);
        sealed.push((pair, Renumbering::Moved(numbers, first)));
    }
    Ok(sealed)
}

/// Numbers the nodes of the sums between the nodes of these tables.
pub(super) fn number_in_tables(b: &mut Builder, group: &Group, tables: Vec<Atom>) -> Vec<Reached> {
    let Some(whole) = group.numberings.first().and_then(|n| n.sums.first()) else {
        return Vec::new();
    };
    let new = Expression::NodeNew {
        sum: whole.data,
        constructor: 0,
        payload: tables,
    };
    let root = b.bind_scalar("tables", Scalar::I64, new);
    number(b, group, root)
}

/// Makes the nodes of the data that stand for the sums between the nodes of tables.
pub(super) fn to_data(
    b: &mut Builder,
    group: &Group,
    links: &[Renumbering],
    reached: &[Reached],
) -> Result<Vec<(Member, Renumbering)>> {
    let made = make(b, group, Direction::ToData, links, reached)?;
    let moved = made.into_iter();
    Ok(moved
        .map(|(pair, numbers, first)| (pair, Renumbering::Moved(numbers, first)))
        .collect())
}

/// Makes a node for each node that is reached. Returns for each pair the first, through which no node may
/// be read yet.
fn make(
    b: &mut Builder,
    group: &Group,
    direction: Direction,
    links: &[Renumbering],
    reached: &[Reached],
) -> Result<Vec<(Member, Numbers, Atom)>> {
    let mut conversion = Conversion {
        members: &group.members,
        direction,
        links: links.to_vec(),
        between: Vec::new(),
    };
    let mut made = Vec::new();
    for (pair, reached) in group.between.iter().zip(reached) {
        let (_, to) = conversion.ends(*pair);
        let first = reserve(b, to, reached.count);
        made.push((*pair, reached.numbers, first));
    }
    let moved = made.iter();
    conversion.between = moved
        .map(|(pair, numbers, first)| (*pair, Renumbering::Moved(*numbers, *first)))
        .collect();
    for ((pair, _, first), reached) in made.iter().zip(reached) {
        fill(b, &conversion, *pair, (*first, reached.count), |b, i| {
            Ok(vec![b.index(reached.order, &[i])?])
        })?;
    }
    Ok(made)
}
