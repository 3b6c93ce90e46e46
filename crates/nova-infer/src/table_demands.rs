//! The solution of the demands of `dn`, `table` and `datum`.

use crate::links::Instance;
use crate::obligations::{Obligation, Outcome};
use crate::recursive_demands::{Found, is_datum};
use crate::solver::Recursive;
use crate::types::{Shallow, Ty, TyNode};
use nova_core::Scalar;
use nova_syntax::ast::ExpressionKind;

impl Recursive<'_, '_> {
    /// Solves the demand between a datum and its root as a node of data.
    pub fn solve_down(
        &mut self,
        obligation: &Obligation,
        datum: Ty,
        node: Ty,
        force: bool,
    ) -> Outcome {
        let instance = match (self.recursive_sum(datum), self.sum_of_nodes(node)) {
            (Found::Error, _) => return self.as_error(&[node]),
            (Found::Sum(instance), _) | (Found::Open, Found::Sum(instance)) => instance,
            (Found::Other, _) => {
                let at = match self.solver.source.program.expression(obligation.at).kind {
                    ExpressionKind::Down(operand) => operand,
                    _ => obligation.at,
                };
                self.no_node_type(at, datum, "dn");
                return self.as_error(&[node]);
            }
            (Found::Open, _) if !force => return Outcome::Wait(vec![datum, node]),
            (Found::Open, _) => {
                self.unknown_datum(obligation.at, "dn");
                return self.as_error(&[datum, node]);
            }
        };
        let group = self.solver.source.declarations.group(instance.sum);
        let data: Vec<Ty> = group
            .iter()
            .map(|member| self.solver.types.sum(*member, instance.arguments.clone()))
            .collect();
        let wanted = self
            .solver
            .types
            .sum(instance.sum, instance.arguments.clone());
        self.must_be(obligation, obligation.at, wanted, datum);
        let wanted = self.nodes_of(instance.sum, &instance.arguments, &data);
        self.must_be(obligation, obligation.at, wanted, node);
        Outcome::Done
    }

    /// Solves the demand between a datum and its table, or the tuple of the tables of its group.
    pub fn solve_table(
        &mut self,
        obligation: &Obligation,
        datum: Ty,
        tables: Ty,
        force: bool,
    ) -> Outcome {
        let first = match self.solver.types.shallow(tables) {
            Shallow::Node(TyNode::Tuple(tables)) => tables.first().copied(),
            Shallow::Node(_) => Some(tables),
            Shallow::Unbound(..) => None,
        };
        let element = match first.map(|table| self.solver.types.shallow(table)) {
            Some(Shallow::Node(TyNode::Vector(element))) => Some(element),
            Some(_) | None => None,
        };
        let told = match (element, first.map(|table| self.solver.types.shallow(table))) {
            (Some(element), _) => self.sum_of_nodes(element),
            (None, Some(Shallow::Node(TyNode::Error))) => Found::Error,
            (None, Some(Shallow::Node(_))) => Found::Other,
            (None, Some(Shallow::Unbound(..)) | None) => Found::Open,
        };
        let instance = match (self.recursive_sum(datum), told) {
            (Found::Error, _) => return self.as_error(&[tables]),
            (Found::Open, Found::Error) => return self.as_error(&[datum]),
            (Found::Sum(instance), _) | (Found::Open, Found::Sum(instance)) => instance,
            (Found::Other, _) => {
                let word = if is_datum(obligation) {
                    "datum"
                } else {
                    "table"
                };
                self.no_node_type(obligation.at, datum, word);
                return self.as_error(&[tables]);
            }
            (Found::Open, Found::Other) => {
                self.no_table(obligation.at, tables);
                return self.as_error(&[datum]);
            }
            (Found::Open, _) if !force => {
                let waits = [Some(datum), Some(tables), first, element];
                return Outcome::Wait(waits.into_iter().flatten().collect());
            }
            (Found::Open, _) => {
                match is_datum(obligation) {
                    true => self.unknown_table(obligation.at),
                    false => self.unknown_datum(obligation.at, "table"),
                }
                return self.as_error(&[datum, tables]);
            }
        };
        let wanted = self
            .solver
            .types
            .sum(instance.sum, instance.arguments.clone());
        self.must_be(obligation, obligation.at, wanted, datum);
        let wanted = self.tables_of(&instance);
        self.must_be(obligation, obligation.at, wanted, tables);
        Outcome::Done
    }

    /// Returns the type of the table of a datum; for a group the tuple of tables, that of the datum
    /// first.
    fn tables_of(&mut self, instance: &Instance) -> Ty {
        let group = self.solver.source.declarations.group(instance.sum);
        let int = self.solver.types.scalar(Scalar::I32);
        let links = vec![int; group.len()];
        let others = group.iter().filter(|member| **member != instance.sum);
        let tables = [&instance.sum]
            .into_iter()
            .chain(others)
            .map(|member| {
                let nodes = self.nodes_of(*member, &instance.arguments, &links);
                self.solver.types.vector(nodes)
            })
            .collect();
        self.solver.types.tuple(tables)
    }
}
