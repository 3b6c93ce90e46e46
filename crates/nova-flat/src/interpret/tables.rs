//! Expressions on whole node tables: those that number, reserve and fill nodes, and the conversions
//! between a datum and its tables.

use super::{Arrays, Held, Machine, Slots, adopt_all, integer, integers, pack_all, read_all};
use crate::ir::Expression;
use crate::links::{Links, links, tables_type};
use crate::values::reached::{self, components_of};
use crate::values::{Fault, FlatValue, Node, from_components, internal, to_components};
use nova_core::error::Failure;
use nova_core::interpret::nodes::{self, Group};
use nova_core::{ErrorKind, Member, ScalarValue, Type};

impl<A: Arrays> Machine<'_, A> {
    /// Evaluates an expression that numbers, reserves, fills or checks nodes.
    pub(super) fn on_tables(
        &mut self,
        slots: &mut Slots<A>,
        expression: &Expression,
    ) -> Result<Vec<Held<A>>, Fault> {
        let sums = &self.program.sums;
        let one = |value| Ok(vec![Held::Scalar(value)]);
        match expression {
            Expression::NodesReached { members, link } => {
                let links = group(members, sums)?;
                let root = integer(slots, *link)?;
                let read = |sum, link| self.tables.read(sum, link);
                let found = reached::reached(&links, &self.layouts, &read, root)?;
                let components = found.into_iter().flat_map(components_of).collect();
                adopt_all(components)
            }
            Expression::NodesReserve { sum, count } => {
                let first = self.tables.reserve(*sum, integer(slots, *count)?)?;
                one(ScalarValue::I64(first))
            }
            Expression::NodeStore {
                sum,
                constructor,
                link,
                payload,
            } => {
                let link = integer(slots, *link)?;
                let node = Node {
                    constructor: *constructor,
                    payload: pack_all(&read_all(slots, payload)?)?,
                };
                self.tables.store(*sum, link, node)?;
                Ok(Vec::new())
            }
            Expression::NodesSeal { link, .. } => one(ScalarValue::I64(integer(slots, *link)?)),
            Expression::NodesAcyclic {
                members,
                first,
                counts,
            } => {
                let links = group(members, sums)?;
                let (first, counts) = (integers(slots, first)?, integers(slots, counts)?);
                let ranges: Vec<(i64, i64)> = first.into_iter().zip(counts).collect();
                let read = |sum, link| self.tables.read(sum, link);
                let acyclic = reached::acyclic(&links, &self.layouts, &read, &ranges)?;
                one(ScalarValue::Bool(acyclic))
            }
            _other => internal("an expression on no table"),
        }
    }

    /// Evaluates the conversions between a datum and its tables, by the values that both represent.
    pub(super) fn table_of_datum(
        &mut self,
        slots: &mut Slots<A>,
        expression: &Expression,
    ) -> Result<Vec<Held<A>>, Fault> {
        let sums = &self.program.sums;
        match expression {
            Expression::TableOpen { members, link, .. } => {
                let link = FlatValue::Scalar(ScalarValue::I64(integer(slots, *link)?));
                let (ty, tables) = (data_type(members)?, tables_type(members));
                let value = from_components(&[link], &ty, &self.layouts, &|sum, link| {
                    self.tables.read(sum, link)
                })?;
                let value = nodes::table(value, Group { sums, members }).or_else(fault)?;
                adopt_all(to_components(
                    &value,
                    &tables,
                    &self.layouts,
                    &mut self.tables,
                )?)
            }
            Expression::TableClose {
                checked,
                members,
                root,
                tables,
            } => {
                let components = pack_all(&read_all(slots, tables)?)?;
                let root = integer(slots, *root)?;
                let (ty, tables) = (data_type(members)?, tables_type(members));
                let value = from_components(&components, &tables, &self.layouts, &|sum, link| {
                    self.tables.read(sum, link)
                })?;
                let value = nodes::datum(root.into(), value, Group { sums, members });
                let value = value.or_else(|failure| match failure {
                    Failure::Runtime(error) if *checked => Err(Fault::Error(error)),
                    failure => fault(failure),
                })?;
                adopt_all(to_components(&value, &ty, &self.layouts, &mut self.tables)?)
            }
            Expression::TableShrink { members, tables } => {
                let components = pack_all(&read_all(slots, tables)?)?;
                let ty = tables_type(members);
                let group = Group { sums, members };
                let value = from_components(&components, &ty, &self.layouts, &|sum, link| {
                    self.tables.read(sum, link)
                })?;
                let value = nodes::datum(0, value, group).or_else(fault)?;
                let value = nodes::table(value, group).or_else(fault)?;
                adopt_all(to_components(&value, &ty, &self.layouts, &mut self.tables)?)
            }
            _other => internal("an expression on no table"),
        }
    }
}

/// Returns the type of the datum of tables: that of the first member.
fn data_type(members: &[Member]) -> Result<Type, Fault> {
    match members.first() {
        Some(member) => Ok(Type::Sum(member.data)),
        None => internal("tables of nothing"),
    }
}

fn fault<T>(failure: Failure) -> Result<T, Fault> {
    match failure {
        Failure::Runtime(error) if error.kind == ErrorKind::Memory => Err(Fault::Memory),
        other => internal(format!("a table that is none: {other}")),
    }
}

fn group(members: &[Member], sums: &[nova_core::SumType]) -> Result<Links, Fault> {
    links(members, sums).or_else(internal)
}
