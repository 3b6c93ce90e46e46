//! The places in the nodes of a group at which links to nodes of the group stand.
//!
//! They follow from the types of the payloads, in the recursive sum and in its node type
//! ([`nova_core::nodes`]). A recursive sum that is no member has its nodes in a table of its own, as
//! `(Maybe Tree)`, which meets `(Maybe int)`. Links to the group are found in these nodes. Such a pair of
//! sums follows the members. A sum may be in several pairs: where `(Either int T)` and `(Either Tree T)` stand,
//! the node type has `(Either int int)` for both, and only the second one has a link on its left. Its nodes are in
//! one table, but a walk goes through a node once for each pair.

use crate::representation::{payload_places, width};
use nova_core::nodes::{Meeting, meet, payloads};
use nova_core::{Member, SumId, SumType, Type};
use nova_diag::deep;
use std::collections::{HashMap, HashSet};

/// Returns the type of the tables of a group: a vector of nodes, or a tuple of a vector for each member.
pub fn tables_type(members: &[Member]) -> Type {
    let table = |member: &Member| Type::vector(Type::Sum(member.node));
    Type::tuple(members.iter().map(table).collect())
}

/// Returns for each component of the tables of a group whether it is an array of links, and to the nodes
/// of which member. A message says that the types do not correspond.
pub fn link_components(members: &[Member], sums: &[SumType]) -> Result<Vec<Option<usize>>, String> {
    let mut walk = ComponentWalk {
        members,
        sums,
        found: Vec::new(),
    };
    for pair in members {
        // The length of the table.
        walk.others(1);
        walk.sum(pair.data, pair.node)?;
    }
    Ok(walk.found)
}

/// The walk over the lifted components of nodes.
struct ComponentWalk<'a> {
    members: &'a [Member],
    sums: &'a [SumType],
    found: Vec<Option<usize>>,
}

impl ComponentWalk<'_> {
    /// Adds components that are no links.
    fn others(&mut self, count: usize) {
        self.found.resize(self.found.len() + count, None);
    }

    /// Adds the tags and the slots of a sum that is not recursive.
    fn sum(&mut self, data: SumId, node: SumId) -> Result<(), String> {
        let first = self.found.len();
        self.others(width(&Type::Sum(node), self.sums, true));
        for (k, (data, inner)) in payloads(self.sums, data, node).enumerate() {
            let mut payload = ComponentWalk {
                members: self.members,
                sums: self.sums,
                found: Vec::new(),
            };
            deep(|| payload.part(data, inner))?;
            let places = payload_places(node, k, self.sums, true);
            if places.len() != payload.found.len() {
                return Err("a payload with other components".to_string());
            }
            for (place, link) in places.into_iter().zip(payload.found) {
                if link.is_some()
                    && let Some(component) = self.found.get_mut(first + place)
                {
                    *component = link;
                }
            }
        }
        Ok(())
    }

    fn part(&mut self, data: &Type, node: &Type) -> Result<(), String> {
        match meet(self.sums, self.members, data, node) {
            Some(Meeting::Link(member)) => self.found.push(Some(member)),
            Some(Meeting::Tuples(data, node)) => {
                for (data, node) in data.iter().zip(node) {
                    deep(|| self.part(data, node))?;
                }
            }
            Some(Meeting::Elements(data, inner)) => {
                // The starts, the ends or the extents, and the total of the rows.
                let bounds = node.as_array().map_or(3, |(rank, _)| rank as usize + 2);
                self.others(bounds);
                deep(|| self.part(data, inner))?;
            }
            Some(Meeting::Sums(data, node)) => {
                match self
                    .sums
                    .get(node.index())
                    .is_some_and(SumType::is_recursive)
                {
                    true => self.others(1),
                    false => deep(|| self.sum(data, node))?,
                }
            }
            Some(Meeting::Same) => {
                self.others(width(node, self.sums, true));
            }
            None => return Err("a node that does not correspond".to_string()),
        }
        Ok(())
    }
}

/// The places of links in the nodes of a group, and of the tables between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// The members, then the other pairs of sums.
    pub pairs: Vec<Pair>,
    /// The number of members.
    pub members: usize,
}

/// A recursive sum with its links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The sum, whose values are links into its node table.
    pub sum: SumId,
    /// The places in the payload of each constructor.
    pub constructors: Vec<Part>,
}

/// The places of links in a part of a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// No link.
    Data,
    /// The part itself is a link to a node of this pair.
    Link(usize),
    /// The places in the elements of a tuple.
    Tuple(Vec<Part>),
    /// The places in each element of a vector, or of an array of any rank.
    Elements(Box<Part>),
    /// The places in the payload of the active constructor of a sum that is not recursive.
    Sum(Vec<Part>),
}

impl Links {
    /// True if there is one table, whose nodes have one link at most.
    pub fn is_list(&self) -> bool {
        match &self.pairs[..] {
            [only] => only.constructors.iter().all(|part| part.most() <= 1),
            [..] => false,
        }
    }

    /// Returns the pairs whose sum an earlier pair has. A walk numbers the nodes of their table once more.
    pub fn repeated(&self) -> Vec<usize> {
        let mut seen = HashSet::new();
        let pairs = self.pairs.iter().enumerate();
        let repeated = pairs.filter(|(_, pair)| !seen.insert(pair.sum));
        repeated.map(|(k, _)| k).collect()
    }
}

impl Part {
    /// Returns the largest number of links in it.
    fn most(&self) -> usize {
        deep(|| match self {
            Part::Data => 0,
            Part::Link(_) => 1,
            Part::Elements(_) => usize::MAX,
            Part::Tuple(parts) => parts.iter().map(Part::most).fold(0, usize::saturating_add),
            Part::Sum(parts) => parts.iter().map(Part::most).max().unwrap_or(0),
        })
    }

    /// True if it has no links.
    pub fn is_data(&self) -> bool {
        match self {
            Part::Data => true,
            Part::Link(_) | Part::Tuple(_) | Part::Elements(_) | Part::Sum(_) => false,
        }
    }
}

/// Returns the links of a group, given by its members, or a message if the types do not correspond.
pub fn links(members: &[Member], sums: &[SumType]) -> Result<Links, String> {
    let mut comparison = Comparison {
        sums,
        members,
        pairs: members.to_vec(),
        known: members.iter().enumerate().map(|(k, m)| (*m, k)).collect(),
    };
    let distinct: HashSet<SumId> = members.iter().map(|member| member.data).collect();
    if distinct.len() < members.len() || members.is_empty() {
        return Err("a group without members, or with a member twice".to_string());
    }
    let mut pairs = Vec::new();
    while let Some(&pair) = comparison.pairs.get(pairs.len()) {
        let sum = pair.data;
        if !comparison.sum(sum)?.is_recursive() {
            return Err(format!("sum {} has no nodes", sum.0));
        }
        let constructors = comparison.constructors(pair)?;
        pairs.push(Pair { sum, constructors });
    }
    Ok(Links {
        pairs,
        members: members.len(),
    })
}

/// A comparison of payloads.
struct Comparison<'a> {
    sums: &'a [SumType],
    members: &'a [Member],
    /// All pairs found so far.
    pairs: Vec<Member>,
    /// The numbers of the pairs.
    known: HashMap<Member, usize>,
}

impl<'a> Comparison<'a> {
    fn sum(&self, id: SumId) -> Result<&'a SumType, String> {
        let sum = self.sums.get(id.index());
        sum.ok_or_else(|| format!("there is no sum {}", id.0))
    }

    /// Compares the payloads of two sums.
    fn constructors(&mut self, pair: Member) -> Result<Vec<Part>, String> {
        let (own, other) = (self.sum(pair.data)?, self.sum(pair.node)?);
        if own.constructors.len() != other.constructors.len() {
            return Err(format!(
                "sums {} and {} with other numbers of constructors",
                pair.data.0, pair.node.0
            ));
        }
        let both = own.constructors.iter().zip(&other.constructors);
        both.map(|(own, other)| self.part(&own.payload, &other.payload))
            .collect()
    }

    fn part(&mut self, own: &Type, node: &Type) -> Result<Part, String> {
        deep(|| match meet(self.sums, self.members, own, node) {
            Some(Meeting::Same) => Ok(Part::Data),
            Some(Meeting::Link(member)) => Ok(Part::Link(member)),
            Some(Meeting::Tuples(own, node)) => {
                let both = own.iter().zip(node.iter());
                let parts: Result<Vec<Part>, String> =
                    both.map(|(own, node)| self.part(own, node)).collect();
                Ok(with_links(parts?, Part::Tuple))
            }
            Some(Meeting::Elements(own, node)) => self.elements(own, node),
            Some(Meeting::Sums(data, node)) if self.sum(data)?.is_recursive() => {
                Ok(Part::Link(self.pair(Member { data, node })))
            }
            // Sums between the nodes of tables need not be recursive.
            Some(Meeting::Sums(data, node)) => {
                let parts = self.constructors(Member { data, node })?;
                Ok(with_links(parts, Part::Sum))
            }
            None => Err("payloads that do not correspond".to_string()),
        })
    }

    fn elements(&mut self, own: &Type, node: &Type) -> Result<Part, String> {
        let part = self.part(own, node)?;
        Ok(match part.is_data() {
            true => Part::Data,
            false => Part::Elements(part.into()),
        })
    }

    /// Returns the number of a pair of sums.
    fn pair(&mut self, pair: Member) -> usize {
        let pairs = &mut self.pairs;
        *self.known.entry(pair).or_insert_with(|| {
            pairs.push(pair);
            pairs.len() - 1
        })
    }
}

/// Returns the parts as one part, or data if none has links.
fn with_links(parts: Vec<Part>, whole: fn(Vec<Part>) -> Part) -> Part {
    match parts.iter().all(Part::is_data) {
        true => Part::Data,
        false => whole(parts),
    }
}
