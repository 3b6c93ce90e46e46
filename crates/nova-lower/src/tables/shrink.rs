//! Tables without the nodes to which no node links.
//!
//! Marks tell which nodes stay. Where more than a quarter of all nodes would go, the others move
//! together, and the links become their new numbers. Node 0 of the first table always stays.
//!
//! Numbers mostly rise along links, since opened tables are numbered breadth first. So one pass in the
//! order of the numbers marks the nodes that node 0 reaches: a marked node marks those that it links to.
//! Nodes that a falling link names stay in any case. In tables of several members, and where nodes hold
//! vectors of links, all nodes stay that a link names.

use super::convert::{Conversion, Direction, Renumbering};
use super::group::Group;
use super::operations::split;
use crate::build::build;
use crate::builder::{Builder, operation};
use crate::error::{LowerError, Result};
use crate::rows;
use crate::scalars::index_from;
use crate::sums;
use crate::values::{self, Vector};
use nova_core::{Member, Scalar, ScalarOperation, ScalarValue, Type};
use nova_flat::ir::{ArrayOperation, Atom, Expression, Level, Output, Positions, Type as FlatType};
use nova_flat::links::{link_components, tables_type};

/// Returns tables of the same datum, as [`Expression::TableShrink`] gives them. Tables of a group with
/// recursive sums between the nodes stay as they are.
pub(super) fn shrink(b: &mut Builder, group: &Group, atoms: Vec<Atom>) -> Result<Vec<Atom>> {
    if !group.between.is_empty() {
        return Ok(atoms);
    }
    let tables = split(b, &group.members, &atoms)?;
    let places = link_components(&group.members, &b.output.sums).map_err(LowerError::new)?;
    if places.len() != atoms.len() {
        return Err(LowerError::new("tables with other components"));
    }
    let mut named = Vec::with_capacity(tables.len());
    let mut counts = Vec::with_capacity(tables.len());
    let (mut before, mut after) = (Atom::index(0), Atom::index(0));
    for (member, table) in tables.iter().enumerate() {
        let to_member = places.iter().zip(&atoms);
        let to_member = to_member.filter(|(place, _)| **place == Some(member));
        let links: Vec<Atom> = to_member.map(|(_, atom)| *atom).collect();
        let length = table.length;
        let marks = match tables.len() == 1 && links.iter().all(|l| has_length(b, *l, length)) {
            true => mark_in_order(b, length, &links)?,
            false => mark(b, member, length, &links)?,
        };
        let count = rows::add_up(b, "named", table.length, |b, i| {
            let mark = b.index(marks, &[i])?;
            Ok(index_from(b, mark, Scalar::I32))
        })?;
        before = b.add(before, table.length);
        after = b.add(after, count);
        named.push(marks);
        counts.push(count);
    }
    // Moving the nodes costs about as much as an iteration does, which then saves at least a quarter.
    let stay = b.multiply(after, Atom::index(4));
    let most = b.multiply(before, Atom::index(3));
    let condition = b.compare(ScalarOperation::Less, stay, most);
    let then = b.body(|b| move_together(b, &group.members, &tables, &named, &counts))?;
    let otherwise = b.body(|_| Ok(atoms))?;
    let expression = Expression::If {
        condition,
        then,
        otherwise,
    };
    Ok(b.bind_value(&tables_type(&group.members), expression))
}

/// Returns an array with 1 for each of `count` nodes of a member that one of the links names, and for the
/// first node of the first member. It has 0 for the others.
fn mark(b: &mut Builder, member: usize, count: Atom, links: &[Atom]) -> Result<Atom> {
    let zero = Expression::Replicate {
        shape: vec![count],
        value: Atom::Constant(ScalarValue::I32(0)),
    };
    let mut marks = b.bind_array("marks", Scalar::I32, vec![count], zero);
    if member == 0 {
        marks = name(b, marks, Atom::index(1), |_, i| Ok(i))?;
    }
    for links in links {
        let (links, extents) = flat(b, *links)?;
        marks = name(b, marks, extents, |b, i| {
            let link = b.index(links, &[i])?;
            Ok(index_from(b, link, Scalar::I32))
        })?;
    }
    Ok(marks)
}

/// True if an array is a vector of this length.
fn has_length(b: &Builder, array: Atom, length: Atom) -> bool {
    let variable = array.as_variable();
    variable.is_some_and(|v| b.output.ty(v).shape() == [length])
}

/// As [`mark`], for the only member. A link counts only if it falls, or if its node is marked. There is a
/// link of each node in each array.
fn mark_in_order(b: &mut Builder, count: Atom, links: &[Atom]) -> Result<Atom> {
    let mut marks = mark(b, 0, count, &[])?;
    // Falling links come first.
    marks = mark_along(b, count, marks, links, |b, own, link, i| {
        let falls = b.compare(ScalarOperation::Less, link, i);
        let one = Atom::Constant(ScalarValue::I32(1));
        let value = b.select(Scalar::I32, falls, |_| Ok(one), |_| Ok(own))?;
        Ok((b.minimum(link, i), value))
    })?;
    mark_along(b, count, marks, links, |b, own, link, i| {
        Ok((b.maximum(link, i), own))
    })
}

/// Goes over the links in order. `step` gives, for the mark of a node, a link of it, and its number,
/// the node to mark and its mark, unless it has one.
fn mark_along(
    b: &mut Builder,
    count: Atom,
    marks: Atom,
    links: &[Atom],
    step: impl Fn(&mut Builder, Atom, Atom, Atom) -> Result<(Atom, Atom)>,
) -> Result<Atom> {
    let (_, scalar) = b.array(marks)?;
    let state = b.array_variable("marks", scalar, vec![count]);
    let index = b.index_variable(0);
    let i = Atom::Variable(index);
    let body = b.body(|b| {
        let mut now = Atom::Variable(state);
        for links in links {
            let link = b.index(*links, &[i])?;
            let link = index_from(b, link, Scalar::I32);
            let own = b.index(now, &[i])?;
            let (to, value) = step(b, own, link, i)?;
            let old = b.index(now, &[to])?;
            let value = b.scalar(ScalarOperation::Maximum, Scalar::I32, vec![old, value]);
            let (array, _) = b.array(now)?;
            let update = Expression::Update {
                array,
                indices: vec![to],
                value,
            };
            now = b.bind_array("marks", scalar, vec![count], update);
        }
        Ok(vec![now])
    })?;
    let in_order = Expression::Operation(ArrayOperation {
        shape: vec![count],
        indices: vec![index],
        level: Level::Sequential,
        strategy: None,
        carries: vec![(state, marks)],
        body,
        outputs: Vec::new(),
    });
    Ok(b.bind_array("marks", scalar, vec![count], in_order))
}

/// Returns the elements of an array as a vector, and their number.
fn flat(b: &mut Builder, array: Atom) -> Result<(Atom, Atom)> {
    let (variable, _) = b.array(array)?;
    let shape = b.output.ty(variable).shape().to_vec();
    if let [length] = shape[..] {
        return Ok((array, length));
    }
    let count = b.product(&shape);
    Ok((
        values::reshape(b, &Type::INT, &[array], &[count])?[0],
        count,
    ))
}

/// Stores 1 in an array at the index that `index` gives for each of `count` numbers.
fn name(
    b: &mut Builder,
    marks: Atom,
    count: Atom,
    index: impl FnOnce(&mut Builder, Atom) -> Result<Atom>,
) -> Result<Atom> {
    let (destination, scalar) = b.array(marks)?;
    let shape = b.output.ty(destination).shape().to_vec();
    let variable = b.index_variable(0);
    let body = b.body(|b| {
        let position = index(b, Atom::Variable(variable))?;
        Ok(vec![position, Atom::Constant(ScalarValue::I32(1))])
    })?;
    let scatter = Output::Scatter {
        destinations: vec![destination],
        positions: Positions::Unordered,
    };
    let stored = operation(vec![count], vec![variable], body, vec![scatter]);
    let ty = FlatType::Array(scalar, shape);
    Ok(Atom::Variable(b.bind("marks", ty, stored)))
}

/// Returns tables of the marked nodes alone, in their order.
fn move_together(
    b: &mut Builder,
    members: &[Member],
    tables: &[Vector],
    marks: &[Atom],
    counts: &[Atom],
) -> Result<Vec<Atom>> {
    let mut numbers = Vec::with_capacity(tables.len());
    let mut orders = Vec::with_capacity(tables.len());
    for ((table, marks), count) in tables.iter().zip(marks).zip(counts) {
        let number = numbers_of(b, table.length, *marks)?;
        orders.push(order_of(b, table.length, *count, *marks, number)?);
        numbers.push(number);
    }
    let conversion = Conversion {
        members,
        direction: Direction::WithinNodes,
        between: Vec::new(),
        links: numbers.iter().copied().map(Renumbering::Element).collect(),
    };
    let mut atoms = Vec::new();
    for (((member, table), order), count) in members.iter().zip(tables).zip(orders).zip(counts) {
        let element = Type::Sum(member.node);
        let lifted = build(b, &[*count], &element, |b, i| {
            let old = b.index(order, i)?;
            let old = index_from(b, old, Scalar::I32);
            let node = table.at(b, &[old])?;
            sums::cases(b, member.node, &node, &element, |b, k, payload| {
                let payload = conversion.payload(b, *member, k, payload)?;
                sums::construct(b, member.node, k as u32, payload)
            })
        })?;
        atoms.extend(values::with_extents(vec![*count], lifted));
    }
    Ok(atoms)
}

/// Returns the new number of each marked node: the number of marked nodes before it.
fn numbers_of(b: &mut Builder, length: Atom, marks: Atom) -> Result<Atom> {
    let index = b.index_variable(0);
    let body = b.body(|b| Ok(vec![b.index(marks, &[Atom::Variable(index)])?]))?;
    let lambda = b.lambda(&[Scalar::I32, Scalar::I32], |b, p| {
        Ok(vec![b.scalar(
            ScalarOperation::Add,
            Scalar::I32,
            p.to_vec(),
        )])
    })?;
    let scan = Output::Scan {
        lambda,
        start: vec![Atom::Constant(ScalarValue::I32(0))],
        exclusive: true,
    };
    let scanned = operation(vec![length], vec![index], body, vec![scan]);
    Ok(b.bind_array("numbers", Scalar::I32, vec![length], scanned))
}

/// Returns the old number of each new one.
fn order_of(
    b: &mut Builder,
    length: Atom,
    count: Atom,
    marks: Atom,
    numbers: Atom,
) -> Result<Atom> {
    let zero = Expression::Replicate {
        shape: vec![count],
        value: Atom::Constant(ScalarValue::I32(0)),
    };
    let destination = b.array_variable("order", Scalar::I32, vec![count]);
    b.emit(vec![destination], zero);
    let index = b.index_variable(0);
    let body = b.body(|b| {
        let i = Atom::Variable(index);
        let mark = b.index(marks, &[i])?;
        let mark = index_from(b, mark, Scalar::I32);
        let is_marked = b.compare(ScalarOperation::NotEqual, mark, Atom::index(0));
        let number = b.index(numbers, &[i])?;
        let number = index_from(b, number, Scalar::I32);
        let position = b.select(
            Scalar::I64,
            is_marked,
            |_| Ok(number),
            |_| Ok(Atom::index(-1)),
        )?;
        let old = b.scalar(ScalarOperation::Wrap(Scalar::I32), Scalar::I64, vec![i]);
        Ok(vec![position, old])
    })?;
    let scatter = Output::Scatter {
        destinations: vec![destination],
        positions: Positions::Unordered,
    };
    let ordered = operation(vec![length], vec![index], body, vec![scatter]);
    Ok(b.bind_array("order", Scalar::I32, vec![count], ordered))
}
