//! The rules of commands on whole node tables.

use super::{BOOL, INDEX, Verifier, component_types};
use crate::ir::{Expression, TableCommand, Type, Variable};
use nova_core::Member;
use nova_flat::links::links;
use nova_flat::values::reached::reached_components;

impl<'p> Verifier<'p> {
    /// Checks a command that numbers, reserves, fills or checks nodes of whole tables.
    pub(super) fn table_command(&mut self, command: &'p TableCommand) {
        match command {
            TableCommand::Reached {
                members,
                link,
                results,
                ..
            } => {
                self.expect(link, INDEX);
                self.members(members);
                let own = component_types(&reached_components());
                let wanted: Vec<Type> = members.iter().flat_map(|_| own.clone()).collect();
                self.results(results, &wanted, true);
            }
            TableCommand::Reserve {
                sum, count, link, ..
            } => {
                self.expect(count, INDEX);
                self.payload(*sum, 0);
                self.results(&[*link], &[INDEX], false);
            }
            TableCommand::Store {
                sum,
                constructor,
                link,
                payload,
            } => {
                self.expect(link, INDEX);
                if let Some(wanted) = self.payload(*sum, *constructor) {
                    self.expect_all(payload, &wanted, "a node");
                }
            }
            TableCommand::Seal { sum, from, link } => {
                self.expect(from, INDEX);
                self.payload(*sum, 0);
                self.results(&[*link], &[INDEX], false);
            }
            TableCommand::Acyclic {
                members,
                first,
                counts,
                acyclic,
                ..
            } => {
                self.members(members);
                self.ranges(members, first);
                self.ranges(members, counts);
                self.results(&[*acyclic], &[BOOL], false);
            }
            TableCommand::Mark { sum, first, limit } => {
                self.payload(*sum, 0);
                self.results(&[*first, *limit], &[INDEX, INDEX], false);
            }
            TableCommand::Reclaim {
                sums,
                first,
                limits,
                links,
                targets,
                ..
            } => {
                for sum in sums {
                    self.payload(*sum, 0);
                }
                self.expect_all(first, &vec![INDEX; sums.len()], "first nodes");
                self.updates(limits, sums.len());
                self.updates(links, targets.len());
                if targets.iter().any(|target| !sums.contains(target)) {
                    self.error("a link to nodes that are not reclaimed");
                }
            }
        }
    }

    /// Checks that the pairs are the members of a group.
    fn members(&mut self, members: &[Member]) {
        if let Err(message) = links(members, &self.program.sums) {
            self.error(message);
        }
    }

    /// Checks numbers that a command reads and assigns.
    fn updates(&mut self, variables: &[Variable], count: usize) {
        for variable in variables {
            self.expect(&Expression::Variable(*variable), INDEX);
        }
        self.results(variables, &vec![INDEX; count], false);
    }

    /// Checks the first links or the numbers of nodes of a range for each member.
    fn ranges(&mut self, members: &[Member], given: &'p [Expression]) {
        let wanted = vec![INDEX; members.len()];
        self.expect_all(given, &wanted, "ranges of nodes");
    }
}
