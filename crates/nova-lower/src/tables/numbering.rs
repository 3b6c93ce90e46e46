//! The recursive sums between the nodes of a group, and the types by which their nodes are numbered.
//!
//! These sums stay recursive in node types, as the list in a tree whose node has `(List Tree)`, and in the
//! node type `(List int)`. [`nova_flat::ir::Expression::NodesReached`] numbers their nodes by types in
//! which `int` stands for them, too.

use crate::builder::Builder;
use crate::error::{LowerError, Result};
use nova_core::nodes::{Meeting, meet, payloads};
use nova_core::{Constructor, Member, SumId, SumType, Type};
use nova_diag::deep;
use std::collections::{HashMap, HashSet};

/// Returns the pairs of sums between the nodes that are recursive on both sides.
pub(super) fn pairs(sums: &[SumType], members: &[Member]) -> Result<Vec<Member>> {
    let mut found = below(sums, members, members)?;
    found.retain(|pair| both_recursive(sums, *pair));
    Ok(found)
}

/// Returns the pairs of sums that are no members in values of some pairs, at any depth, up to links to
/// members.
fn below(sums: &[SumType], members: &[Member], from: &[Member]) -> Result<Vec<Member>> {
    let mut work: Vec<(&Type, &Type)> = Vec::new();
    for pair in from {
        work.extend(payloads(sums, pair.data, pair.node));
    }
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    while let Some((data, node)) = work.pop() {
        match meet(sums, members, data, node) {
            Some(Meeting::Same | Meeting::Link(_)) => {}
            Some(Meeting::Tuples(data, node)) => work.extend(data.iter().zip(node)),
            Some(Meeting::Elements(data, node)) => work.push((data, node)),
            Some(Meeting::Sums(data, node)) => {
                let pair = Member { data, node };
                if seen.insert(pair) {
                    work.extend(payloads(sums, data, node));
                    found.push(pair);
                }
            }
            None => return Err(LowerError::new("a node that does not correspond")),
        }
    }
    Ok(found)
}

fn both_recursive(sums: &[SumType], pair: Member) -> bool {
    sums[pair.data.index()].is_recursive() && sums[pair.node.index()].is_recursive()
}

/// Types with `int` for the links to the members, and to some of the sums between them.
struct Linked<'a> {
    members: &'a [Member],
    between: &'a [Member],
    /// The sum for each pair.
    made: HashMap<Member, SumId>,
}

impl<'a> Linked<'a> {
    fn new(members: &'a [Member], between: &'a [Member]) -> Self {
        Linked {
            members,
            between,
            made: HashMap::new(),
        }
    }

    /// Returns the type with `int` for the links of a value with these types.
    fn ty(&mut self, b: &mut Builder, data: &Type, node: &Type) -> Result<Type> {
        deep(|| match meet(&b.output.sums, self.members, data, node) {
            Some(Meeting::Same) => Ok(node.clone()),
            Some(Meeting::Link(_)) => Ok(Type::INT),
            Some(Meeting::Tuples(data, node)) => {
                let parts = data.iter().zip(node);
                let parts: Result<Vec<Type>> = parts.map(|(d, n)| self.ty(b, d, n)).collect();
                Ok(Type::Tuple(parts?.into()))
            }
            Some(Meeting::Elements(inner, inner_node)) => {
                let element = self.ty(b, inner, inner_node)?;
                Ok(match node.as_array() {
                    Some((rank, _)) => Type::array(rank, element),
                    None => Type::vector(element),
                })
            }
            Some(Meeting::Sums(data, node)) => {
                let pair = Member { data, node };
                if self.between.contains(&pair) {
                    return Ok(Type::INT);
                }
                match self.is_above(b, pair)? {
                    true => Ok(Type::Sum(self.sum(b, pair)?)),
                    false => Ok(Type::Sum(pair.node)),
                }
            }
            None => Err(LowerError::new("a node that does not correspond")),
        })
    }

    /// True if values of a pair of sums contain links to the sums between.
    fn is_above(&self, b: &Builder, pair: Member) -> Result<bool> {
        let below = below(&b.output.sums, self.members, &[pair])?;
        Ok(below.iter().any(|inner| self.between.contains(inner)))
    }

    /// Returns the sum with `int` for the links in its payloads. It has no values.
    fn sum(&mut self, b: &mut Builder, pair: Member) -> Result<SumId> {
        if let Some(made) = self.made.get(&pair) {
            return Ok(*made);
        }
        let node = b.output.sums[pair.node.index()].clone();
        let both = payloads(&b.output.sums, pair.data, pair.node);
        let both: Vec<(Type, Type)> = both.map(|(d, n)| (d.clone(), n.clone())).collect();
        let id = add_sum(b, &node.name, Vec::new());
        self.made.insert(pair, id);
        let contains_itself = both_recursive(&b.output.sums, pair) && !self.between.contains(&pair);
        if contains_itself {
            b.output.sums[id.index()].group = vec![id];
        }
        let mut constructors = Vec::with_capacity(both.len());
        for ((data, inner), constructor) in both.into_iter().zip(&node.constructors) {
            constructors.push(Constructor {
                name: constructor.name.clone(),
                payload: self.ty(b, &data, &inner)?,
            });
        }
        b.output.sums[id.index()].constructors = constructors;
        Ok(id)
    }
}

/// Adds a sum, whose name is unique.
fn add_sum(b: &mut Builder, name: &str, constructors: Vec<Constructor>) -> SumId {
    let id = SumId(b.output.sums.len() as u32);
    b.output.sums.push(SumType {
        name: format!("{name}_{}", id.0).into(),
        arguments: Vec::new(),
        constructors,
        group: Vec::new(),
        node_of: None,
    });
    id
}

/// The sums by which the nodes of some pairs between the nodes of a group are numbered.
pub(super) struct Numbering {
    /// The pairs, by their numbers.
    pub pairs: Vec<usize>,
    /// Pairs of sums, of which the last ones are those of the pairs.
    pub sums: Vec<Member>,
}

/// Returns how the pairs between the nodes of data are numbered.
pub(super) fn of_data(
    b: &mut Builder,
    members: &[Member],
    between: &[Member],
) -> Result<Vec<Numbering>> {
    let mut numberings = Vec::new();
    for pairs in distinct(between, |pair| pair.data) {
        let own: Vec<Member> = pairs.iter().map(|k| between[*k]).collect();
        let mut linked = Linked::new(members, &own);
        let mut sums = Vec::new();
        for pair in members.iter().chain(&own) {
            let (data, node) = (pair.data, linked.sum(b, *pair)?);
            sums.push(Member { data, node });
        }
        numberings.push(Numbering { pairs, sums });
    }
    Ok(numberings)
}

/// Returns how the pairs between the nodes of tables are numbered. The first sum of each has the tables
/// as its payload, so that one link reaches all.
pub(super) fn of_tables(
    b: &mut Builder,
    members: &[Member],
    between: &[Member],
) -> Result<Vec<Numbering>> {
    if between.is_empty() {
        return Ok(Vec::new());
    }
    let nodes = members.iter().map(|m| Type::Sum(m.node));
    let whole = tables_sum(b, nodes.collect());
    b.output.sums[whole.index()].group = vec![whole];
    let mut numberings = Vec::new();
    for pairs in distinct(between, |pair| pair.node) {
        let own: Vec<Member> = pairs.iter().map(|k| between[*k]).collect();
        let mut linked = Linked::new(members, &own);
        let mut nodes = Vec::new();
        for member in members {
            nodes.push(Type::Sum(linked.sum(b, *member)?));
        }
        let mut sums = vec![Member {
            data: whole,
            node: tables_sum(b, nodes),
        }];
        for pair in &own {
            let (data, node) = (pair.node, linked.sum(b, *pair)?);
            sums.push(Member { data, node });
        }
        numberings.push(Numbering { pairs, sums });
    }
    Ok(numberings)
}

/// Adds a sum whose values are tables of these nodes.
fn tables_sum(b: &mut Builder, nodes: Vec<Type>) -> SumId {
    let tables = nodes.into_iter().map(Type::vector);
    let constructor = Constructor {
        name: "Tables".into(),
        payload: Type::tuple(tables.collect()),
    };
    add_sum(b, "Tables", vec![constructor])
}

/// Returns the numbers of pairs, in lists in which the sums of one side are distinct, so that the nodes
/// of each list can be numbered at once.
fn distinct(pairs: &[Member], side: impl Fn(&Member) -> SumId) -> Vec<Vec<usize>> {
    let mut lists: Vec<Vec<usize>> = Vec::new();
    let mut met: HashMap<SumId, usize> = HashMap::new();
    for (k, pair) in pairs.iter().enumerate() {
        let before = met.entry(side(pair)).or_insert(0);
        if *before == lists.len() {
            lists.push(Vec::new());
        }
        lists[*before].push(k);
        *before += 1;
    }
    lists
}
