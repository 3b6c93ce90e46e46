//! Execution of commands that number, reserve, fill or check nodes of whole tables.

use super::ffi::stop_of;
use super::machine::Machine;
use super::{Cell, Step, runtime, wrong};
use crate::ir::{Expression, TableCommand};
use nova_core::{ErrorKind, Member, ScalarValue, SumId};
use nova_diag::Place;
use nova_flat::links::{Links, links};
use nova_flat::values::reached::{self, components_of, reached_components};
use nova_flat::values::{self, Fault, internal};

impl<'p> Machine<'p> {
    pub(super) fn table_command(&mut self, command: &'p TableCommand) -> Step<()> {
        match command {
            TableCommand::Reached {
                members,
                link,
                results,
                place,
            } => {
                let root = self.evaluate(link)?.index()?;
                let read = |sum, link| self.flat_node(sum, link);
                let found = reached::reached(&self.links(members)?, &self.layouts, &read, root);
                let found = found.map_err(|fault| stop_of(fault, Some(place)))?;
                let mut cells = Vec::with_capacity(results.len());
                let shapes = reached_components();
                for member in found {
                    cells.extend(self.cells(&components_of(member), &shapes, false)?);
                }
                self.set_all(results, cells)
            }
            TableCommand::Reserve {
                sum,
                count,
                link,
                place,
            } => {
                let count = self.evaluate(count)?.index()?;
                let first = self.reserve_nodes(*sum, count, place)?;
                self.set(*link, Cell::Scalar(ScalarValue::I64(first)))
            }
            TableCommand::Store {
                sum,
                constructor,
                link,
                payload,
            } => {
                let link = self.evaluate(link)?.index()?;
                let node = self.new_node(*constructor, payload)?;
                let index = usize::try_from(link).ok();
                let table = self.tables.get_mut(sum.index());
                match index.and_then(|index| table?.get_mut(index)) {
                    Some(place @ None) => {
                        *place = Some(node);
                        Ok(())
                    }
                    Some(Some(_)) | None => wrong(format!("{link} is no reserved place")),
                }
            }
            TableCommand::Seal { from, link, .. } => {
                let from = self.evaluate(from)?;
                self.set(*link, from)
            }
            TableCommand::Acyclic {
                members,
                first,
                counts,
                acyclic,
                place,
            } => {
                let found = self.is_acyclic(members, (first, counts), place)?;
                self.set(*acyclic, Cell::Scalar(ScalarValue::Bool(found)))
            }
            TableCommand::Mark { sum, first, limit } => self.mark_nodes(*sum, *first, *limit),
            TableCommand::Reclaim {
                sums,
                first,
                limits,
                links,
                targets,
                ..
            } => self.reclaim_nodes(sums, first, limits, (links, targets)),
        }
    }

    /// Tells whether no node of ranges contains itself.
    fn is_acyclic(
        &mut self,
        members: &[Member],
        (first, counts): (&'p [Expression], &'p [Expression]),
        place: &Place,
    ) -> Step<bool> {
        let ranges: Step<Vec<(i64, i64)>> = first
            .iter()
            .zip(counts)
            .map(|(first, count)| self.range(first, count))
            .collect();
        let read = |sum, link| self.flat_node(sum, link);
        let found = reached::acyclic(&self.links(members)?, &self.layouts, &read, &ranges?);
        found.map_err(|fault| stop_of(fault, Some(place)))
    }

    fn range(&mut self, first: &'p Expression, count: &'p Expression) -> Step<(i64, i64)> {
        let first = self.evaluate(first)?.index()?;
        Ok((first, self.evaluate(count)?.index()?))
    }

    fn links(&self, members: &[Member]) -> Step<Links> {
        let links = links(members, &self.program.sums).or_else(internal);
        links.map_err(|fault| stop_of(fault, None))
    }

    /// Returns a node with components as Flat has them.
    pub(super) fn flat_node(&self, sum: SumId, link: i64) -> Result<values::Node, Fault> {
        let node = self.node(sum, link).ok();
        let found = node.and_then(|node| {
            let ty = self.payload_type(sum, node.constructor).ok()?;
            Some(values::Node {
                constructor: node.constructor,
                payload: self.flat_values(&node.payload, ty).ok()?,
            })
        });
        match found {
            Some(node) => Ok(node),
            None => internal(format!("sum {} has no node {link}", sum.0)),
        }
    }

    fn reserve_nodes(&mut self, sum: SumId, count: i64, place: &Place) -> Step<i64> {
        let Some(table) = self.tables.get_mut(sum.index()) else {
            return wrong("there is no such sum");
        };
        let first = table.len();
        match usize::try_from(count).map(|count| (count, table.try_reserve(count))) {
            Ok((count, Ok(()))) => {
                table.resize_with(first + count, || None);
                Ok(first as i64)
            }
            Ok((_, Err(_))) | Err(_) => Err(runtime(ErrorKind::Memory, Vec::new(), Some(place))),
        }
    }
}
