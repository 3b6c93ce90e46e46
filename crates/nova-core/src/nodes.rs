//! Tables of nodes: how the payloads of a node type correspond to those of its recursive sum.
//!
//! A table holds the nodes of one member of a group: values of a node type, in which numbers of nodes
//! stand where the recursive sum has values of a member. What stands at a position follows from both
//! types ([`meet`]). Typing, lowering and every interpreter use this one comparison.

use crate::forms::write::print_type;
use crate::{Member, SumId, SumType, Type};
use std::collections::HashSet;

/// The correspondence of a part of the data and of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting<'a> {
    /// Both types are equal: the parts are the same, and hold no links of the table.
    Same,
    /// A value of this member in the data, and its number in the node.
    Link(usize),
    /// The components of tuples of one length, in the data and in the node.
    Tuples(&'a [Type], &'a [Type]),
    /// The elements of vectors, or of arrays of one rank.
    Elements(&'a Type, &'a Type),
    /// Sums with equally many constructors, whose payloads meet.
    Sums(SumId, SumId),
}

/// Returns what stands where `data` is the type of a part of the data, and `node` that of a part of the
/// node. It is `None` where the types do not correspond.
pub fn meet<'a>(
    sums: &[SumType],
    members: &[Member],
    data: &'a Type,
    node: &'a Type,
) -> Option<Meeting<'a>> {
    if data == node {
        return Some(Meeting::Same);
    }
    match (data, node) {
        (Type::Sum(sum), node) if *node == Type::INT => {
            let member = members.iter().position(|m| m.data == *sum);
            member.map(Meeting::Link)
        }
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => Some(Meeting::Tuples(a, b)),
        (Type::Vector(a), Type::Vector(b)) => Some(Meeting::Elements(a, b)),
        (Type::Array(m, a), Type::Array(n, b)) if m == n => Some(Meeting::Elements(a, b)),
        (Type::Sum(a), Type::Sum(b)) => {
            let constructors = |id: &SumId| sums.get(id.index()).map(|sum| sum.constructors.len());
            let alike = constructors(a).is_some() && constructors(a) == constructors(b);
            alike.then_some(Meeting::Sums(*a, *b))
        }
        (_, _) => None,
    }
}

/// Returns the members of tables of a type: a vector of nodes, or a tuple of such vectors.
pub fn members(sums: &[SumType], tables: &Type) -> Option<Vec<Member>> {
    let member = |table: &Type| match table {
        Type::Vector(element) => match **element {
            Type::Sum(node) => {
                let data = sums.get(node.index())?.node_of?;
                Some(Member { data, node })
            }
            Type::Scalar(_) | Type::Unit | Type::Tuple(_) | Type::Vector(_) => None,
            Type::Array(..) | Type::Function(..) => None,
        },
        Type::Scalar(_) | Type::Unit | Type::Tuple(_) => None,
        Type::Array(..) | Type::Function(..) | Type::Sum(_) => None,
    };
    match tables {
        Type::Tuple(tables) => tables.iter().map(member).collect(),
        table => Some(vec![member(table)?]),
    }
}

/// Returns the pairs of payloads of two sums with equally many constructors.
pub fn payloads(
    sums: &[SumType],
    data: SumId,
    node: SumId,
) -> impl Iterator<Item = (&Type, &Type)> {
    let constructors = |id: SumId| {
        let sum = sums.get(id.index());
        sum.into_iter().flat_map(|sum| &sum.constructors)
    };
    let pairs = constructors(data).zip(constructors(node));
    pairs.map(|(a, b)| (&a.payload, &b.payload))
}

/// Checks that tables of these members can be made: the recursive sums are distinct and of one group, and
/// the payloads of each node type correspond to those of its sum.
pub fn check(sums: &[SumType], members: &[Member]) -> Result<(), String> {
    let mut work = Vec::new();
    let mut seen = HashSet::new();
    for (k, member) in members.iter().enumerate() {
        let (data, node) = (sums.get(member.data.index()), sums.get(member.node.index()));
        let (Some(data), Some(node)) = (data, node) else {
            return Err("a table of an unknown sum".into());
        };
        if members[..k].iter().any(|m| m.data == member.data) {
            return Err(format!("two tables of {}", data.name));
        }
        if !data.is_recursive() || !data.group.contains(&members[0].data) {
            return Err(format!("{} is not recursive with the first", data.name));
        }
        if node.is_recursive() || node.node_of != Some(member.data) {
            return Err(format!("{} is no node type of {}", node.name, data.name));
        }
        if node.constructors.len() != data.constructors.len() {
            return Err(format!("{} has other constructors", node.name));
        }
        work.extend(payloads(sums, member.data, member.node));
    }
    while let Some((data, node)) = work.pop() {
        match meet(sums, members, data, node) {
            Some(Meeting::Same | Meeting::Link(_)) => {}
            Some(Meeting::Tuples(a, b)) => work.extend(a.iter().zip(b)),
            Some(Meeting::Elements(a, b)) => work.push((a, b)),
            Some(Meeting::Sums(a, b)) => {
                if seen.insert((a, b)) {
                    work.extend(payloads(sums, a, b));
                }
            }
            None => {
                let (data, node) = (print_type(data), print_type(node));
                return Err(format!("{node} of a node does not correspond to {data}"));
            }
        }
    }
    Ok(())
}
