//! The conversions between data and tables, as operations on nodes.
//!
//! [`open`] numbers the nodes that a link reaches, and is a map over them that reads each node and
//! replaces its links by numbers. [`close`] reserves places in the node tables, and stores a node for
//! each.

use super::convert::{Conversion, Direction, Renumbering};
use super::group::Group;
use super::nodes::{fill, nodes_reached, reserve, seal};
use super::{between, check};
use crate::build::build;
use crate::builder::Builder;
use crate::error::Result;
use crate::sums;
use crate::values::{self, Vector, take};
use nova_core::{ErrorKind, Member, Scalar, Type};
use nova_flat::ir::{Atom, Expression};

/// Returns the tables of the datum at a link, as [`Expression::TableOpen`] gives them.
pub(super) fn open(b: &mut Builder, group: &Group, root: Atom) -> Result<Vec<Atom>> {
    let reached = nodes_reached(b, group.members.clone(), root);
    let links: Vec<Renumbering> = reached
        .iter()
        .map(|own| Renumbering::Number(own.numbers))
        .collect();
    let conversion = Conversion {
        members: &group.members,
        direction: Direction::ToNodes,
        between: between::to_nodes(b, group, &links, root)?,
        links,
    };
    let mut atoms = Vec::new();
    for (member, own) in group.members.iter().zip(&reached) {
        let element = Type::Sum(member.node);
        let lifted = build(b, &[own.count], &element, |b, index| {
            let link = b.index(own.order, index)?;
            sums::cases(b, member.data, &[link], &element, |b, k, payload| {
                let payload = conversion.payload(b, *member, k, payload)?;
                sums::construct(b, member.node, k as u32, payload)
            })
        })?;
        atoms.extend(values::with_extents(vec![own.count], lifted));
    }
    Ok(atoms)
}

/// Returns the link of the datum of tables, as [`Expression::TableClose`] gives it.
pub(super) fn close(
    b: &mut Builder,
    group: &Group,
    root: Atom,
    atoms: Vec<Atom>,
    checked: bool,
) -> Result<Atom> {
    let tables = split(b, &group.members, &atoms)?;
    let inner = between::number_in_tables(b, group, atoms);
    if checked {
        check::check_tables(b, group, &tables, &inner)?;
        check::check_root(b, root, tables[0].length);
    }
    let mut first = Vec::with_capacity(tables.len());
    for (member, table) in group.members.iter().zip(&tables) {
        first.push(reserve(b, member.data, table.length));
    }
    let links: Vec<Renumbering> = first.iter().map(|f| Renumbering::After(*f)).collect();
    let conversion = Conversion {
        members: &group.members,
        direction: Direction::ToData,
        between: between::to_data(b, group, &links, &inner)?,
        links,
    };
    for ((member, table), first) in group.members.iter().zip(&tables).zip(&first) {
        let places = (*first, table.length);
        fill(b, &conversion, *member, places, |b, i| table.at(b, &[i]))?;
    }
    let link = b.add(first[0], root);
    if checked {
        let expression = Expression::NodesAcyclic {
            members: group.members.clone(),
            first,
            counts: tables.iter().map(|table| table.length).collect(),
        };
        let acyclic = b.bind_scalar("acyclic", Scalar::Bool, expression);
        b.check(acyclic, ErrorKind::Cycle, Vec::new());
    }
    Ok(seal(b, group.members[0].data, link))
}

/// Returns the table of each member.
pub(super) fn split(b: &mut Builder, members: &[Member], atoms: &[Atom]) -> Result<Vec<Vector>> {
    let mut atoms = atoms.iter();
    let mut vectors = Vec::with_capacity(members.len());
    for member in members {
        let ty = Type::vector(Type::Sum(member.node));
        let width = b.components(&ty).len();
        vectors.push(Vector::new(&ty, take(&mut atoms, width)?)?);
    }
    Ok(vectors)
}
