//! The checks of `datum`: that the links of tables are in range.

use super::convert::payload_types;
use super::group::Group;
use super::nodes::Reached;
use crate::builder::Builder;
use crate::error::{LowerError, Result};
use crate::scalars::{in_range, index_from};
use crate::sums;
use crate::values::{self, Array, Vector, next, take};
use nova_core::nodes::{Meeting, meet};
use nova_core::{ErrorKind, Member, Scalar, Type};
use nova_diag::deep;
use nova_flat::ir::Atom;

/// Checks the links of all nodes of the tables, in order, then those of the nodes between them.
pub(super) fn check_tables(
    b: &mut Builder,
    group: &Group,
    tables: &[Vector],
    between: &[Reached],
) -> Result<()> {
    let checker = Checker {
        members: &group.members,
        counts: tables.iter().map(|table| table.length).collect(),
    };
    for (member, table) in group.members.iter().zip(tables) {
        b.for_each(table.length, |b, i| {
            let node = table.at(b, &[i])?;
            checker.sum(b, *member, &node)
        })?;
    }
    for (pair, reached) in group.between.iter().zip(between) {
        b.for_each(reached.count, |b, i| {
            let link = b.index(reached.order, &[i])?;
            checker.sum(b, *pair, &[link])
        })?;
    }
    Ok(())
}

/// Checks a link to a node of a table, an `int`, and returns it as an `i64`.
pub(super) fn check_link(b: &mut Builder, link: Atom, count: Atom) -> Atom {
    let index = index_from(b, link, Scalar::I32);
    let condition = in_range(b, index, Scalar::I32, count);
    b.check(condition, ErrorKind::Link, vec![link, count]);
    index
}

/// Checks the number of the root, an `i64`.
pub(super) fn check_root(b: &mut Builder, root: Atom, count: Atom) {
    let condition = in_range(b, root, Scalar::I64, count);
    b.check(condition, ErrorKind::Link, vec![root, count]);
}

/// The members of the tables, with the number of nodes in each.
struct Checker<'a> {
    members: &'a [Member],
    counts: Vec<Atom>,
}

impl Checker<'_> {
    /// Checks the links in a value of the nodes, of type `node`.
    fn part(&self, b: &mut Builder, data: &Type, node: &Type, value: Vec<Atom>) -> Result<()> {
        deep(|| match meet(&b.output.sums, self.members, data, node) {
            Some(Meeting::Same) => Ok(()),
            Some(Meeting::Link(member)) => {
                check_link(b, next(&mut value.iter())?, self.counts[member]);
                Ok(())
            }
            Some(Meeting::Tuples(data, node)) => {
                let mut value = value.iter();
                for (data, node) in data.iter().zip(node) {
                    let width = b.components(node).len();
                    let part = take(&mut value, width)?;
                    self.part(b, data, node, part)?;
                }
                Ok(())
            }
            Some(Meeting::Elements(inner, inner_node)) => {
                let array = Array::new(node, value)?;
                let count = b.product(&array.extents);
                let lifted = values::reshape(b, inner_node, &array.lifted, &[count])?;
                b.for_each(count, |b, i| {
                    let value = values::element(b, inner_node, &lifted, &[i])?;
                    self.part(b, inner, inner_node, value)
                })
            }
            // The nodes of recursive sums are checked on their own.
            Some(Meeting::Sums(_, node)) if b.output.sums[node.index()].is_recursive() => Ok(()),
            Some(Meeting::Sums(data, node)) => self.sum(b, Member { data, node }, &value),
            None => Err(LowerError::new("a node that does not correspond")),
        })
    }

    /// Checks the links in the payload of a value of a sum.
    fn sum(&self, b: &mut Builder, pair: Member, value: &[Atom]) -> Result<()> {
        sums::cases(b, pair.node, value, &Type::Unit, |b, k, payload| {
            let (data, node) = payload_types(b, pair, k)?;
            self.part(b, &data, &node, payload)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }
}
