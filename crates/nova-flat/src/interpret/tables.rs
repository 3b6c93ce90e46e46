//! Expressions that number, reserve and fill the nodes of a group.

use super::{Arrays, Held, Machine, Slots, adopt_all, integer, integers, pack_all, read_all};
use crate::ir::Expression;
use crate::links::{Links, links};
use crate::values::reached::{self, Reached};
use crate::values::{Fault, FlatValue, Node, internal};
use nova_core::{Elements, ScalarValue, SumId};
use std::sync::Arc;

impl<A: Arrays> Machine<'_, A> {
    /// Evaluates such an expression.
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
                let read = |sum, link| self.tables.node(sum, link).cloned();
                let found = reached::reached(&links, sums, &read, root)?;
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
                let read = |sum, link| self.tables.node(sum, link).cloned();
                let acyclic = reached::acyclic(&links, sums, &read, &ranges)?;
                one(ScalarValue::Bool(acyclic))
            }
            _other => internal("an expression on no table"),
        }
    }
}

fn group(members: &[(SumId, SumId)], sums: &[nova_core::SumType]) -> Result<Links, Fault> {
    links(members, sums).or_else(internal)
}

/// Returns the results of [`Expression::NodesReached`] for a member.
fn components_of(reached: Reached) -> [FlatValue; 5] {
    let (count, span) = (reached.order.len(), reached.number.len());
    [
        FlatValue::index(count),
        FlatValue::array(Elements::I64(Arc::new(reached.order)), vec![count]),
        FlatValue::Scalar(ScalarValue::I64(reached.lowest)),
        FlatValue::index(span),
        FlatValue::array(Elements::I32(Arc::new(reached.number)), vec![span]),
    ]
}
