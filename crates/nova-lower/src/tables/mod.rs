//! Tables of the nodes of recursive data: their conversion from and to the data.
//!
//! [`open`] numbers the nodes that a link reaches, and is a map over them that reads each node and
//! replaces its links by numbers. [`close`] reserves places in the node tables, and stores a node for
//! each. [`convert`] converts payloads, [`check`] checks the links, and [`between`] treats recursive
//! sums that stand between the nodes. [`expand`] replaces the conversions of a program by these.

mod between;
mod check;
mod convert;
mod expand;

pub use expand::expand;

use crate::build::build;
use crate::builder::Builder;
use crate::error::Result;
use crate::sums;
use crate::values::{self, Vector, take};
use between::Numbering;
use convert::{Conversion, Direction, Numbers, Renumbering};
use nova_core::nodes::Member;
use nova_core::{ErrorKind, Scalar, ScalarOperation, SumId, Type};
use nova_flat::ir::{Atom, Expression, Type as FlatType, Variable};
use std::collections::HashMap;
use std::rc::Rc;

/// The sums of tables that are converted in one direction.
struct Group {
    members: Vec<Member>,
    /// The sums between the nodes that are recursive on both sides.
    between: Vec<Member>,
    /// How the nodes of these are numbered.
    numberings: Vec<Numbering>,
}

impl Group {
    fn new(b: &mut Builder, pairs: &[(SumId, SumId)], direction: Direction) -> Result<Group> {
        let member = |(data, node): &(SumId, SumId)| Member {
            data: *data,
            node: *node,
        };
        let members: Vec<Member> = pairs.iter().map(member).collect();
        let between = between::pairs(&b.output.sums, &members)?;
        let numberings = match direction {
            Direction::ToNodes => between::of_data(b, &members, &between)?,
            Direction::ToData => between::of_tables(b, &members, &between)?,
        };
        Ok(Group {
            members,
            between,
            numberings,
        })
    }

    /// Returns the pairs of sums that Flat names a group by.
    fn sums(&self) -> Vec<(SumId, SumId)> {
        self.members.iter().map(|m| (m.data, m.node)).collect()
    }
}

/// The groups of a program, each made once.
#[derive(Default)]
struct Groups {
    made: HashMap<(Vec<(SumId, SumId)>, Direction), Rc<Group>>,
}

impl Groups {
    fn get(
        &mut self,
        b: &mut Builder,
        members: &[(SumId, SumId)],
        direction: Direction,
    ) -> Result<Rc<Group>> {
        let key = (members.to_vec(), direction);
        if let Some(group) = self.made.get(&key) {
            return Ok(group.clone());
        }
        let group = Rc::new(Group::new(b, members, direction)?);
        self.made.insert(key, group.clone());
        Ok(group)
    }
}

/// The nodes of one sum that a link reaches.
#[derive(Clone, Copy)]
struct Reached {
    count: Atom,
    /// The link of each number.
    order: Atom,
    numbers: Numbers,
}

/// Returns the tables of the datum at a link, as [`Expression::TableOpen`] gives them.
fn open(b: &mut Builder, group: &Group, root: Atom) -> Result<Vec<Atom>> {
    let reached = nodes_reached(b, group.sums(), root);
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
fn close(
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
            members: group.sums(),
            first,
            counts: tables.iter().map(|table| table.length).collect(),
        };
        let acyclic = b.bind_scalar("acyclic", Scalar::Bool, expression);
        b.check(acyclic, ErrorKind::Cycle, Vec::new());
    }
    Ok(seal(b, group.members[0].data, link))
}

/// Returns the table of each member.
fn split(b: &mut Builder, members: &[Member], atoms: &[Atom]) -> Result<Vec<Vector>> {
    let mut atoms = atoms.iter();
    let mut vectors = Vec::with_capacity(members.len());
    for member in members {
        let ty = Type::vector(Type::Sum(member.node));
        let width = b.components(&ty).len();
        vectors.push(Vector::new(&ty, take(&mut atoms, width)?)?);
    }
    Ok(vectors)
}

/// Numbers the nodes that a link to a node of the first sum reaches. Fails if a number is no `int`.
fn nodes_reached(b: &mut Builder, members: Vec<(SumId, SumId)>, link: Atom) -> Vec<Reached> {
    let mut pattern: Vec<Variable> = Vec::new();
    let mut reached = Vec::new();
    let index = FlatType::Scalar(Scalar::I64);
    for _ in &members {
        let count = b.output.add_variable("count", index.clone());
        let order = b.array_variable("order", Scalar::I64, vec![Atom::Variable(count)]);
        let lowest = b.output.add_variable("lowest", index.clone());
        let span = b.output.add_variable("span", index.clone());
        let number = b.array_variable("number", Scalar::I32, vec![Atom::Variable(span)]);
        pattern.extend([count, order, lowest, span, number]);
        reached.push(Reached {
            count: Atom::Variable(count),
            order: Atom::Variable(order),
            numbers: Numbers {
                lowest: Atom::Variable(lowest),
                number: Atom::Variable(number),
            },
        });
    }
    b.emit(pattern, Expression::NodesReached { members, link });
    let longest = Atom::index(i64::from(i32::MAX));
    for Reached { count, .. } in &reached {
        let fits = b.compare(ScalarOperation::LessEqual, *count, longest);
        b.check(fits, ErrorKind::LengthOverflow, vec![*count]);
    }
    reached
}

/// Reserves places for nodes. Returns the first.
fn reserve(b: &mut Builder, sum: SumId, count: Atom) -> Atom {
    let expression = Expression::NodesReserve { sum, count };
    b.bind_scalar("first", Scalar::I64, expression)
}

/// Returns a link through which the nodes stored before may be read.
fn seal(b: &mut Builder, sum: SumId, link: Atom) -> Atom {
    let expression = Expression::NodesSeal { sum, link };
    b.bind_scalar("link", Scalar::I64, expression)
}

/// Stores the nodes that a conversion makes of the values of a pair of sums, in `count` places from
/// `first` on.
fn fill(
    b: &mut Builder,
    conversion: &Conversion,
    pair: Member,
    (first, count): (Atom, Atom),
    value: impl FnOnce(&mut Builder, Atom) -> Result<Vec<Atom>>,
) -> Result<()> {
    let (from, to) = conversion.ends(pair);
    b.for_each(count, |b, i| {
        let value = value(b, i)?;
        let link = b.add(first, i);
        sums::cases(b, from, &value, &Type::Unit, |b, k, payload| {
            let payload = conversion.payload(b, pair, k, payload)?;
            let expression = Expression::NodeStore {
                sum: to,
                constructor: k as u32,
                link,
                payload,
            };
            b.emit(Vec::new(), expression);
            Ok(Vec::new())
        })?;
        Ok(())
    })
}
