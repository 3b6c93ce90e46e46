//! The rules of calls, node tables and traces.

use super::Verifier;
use crate::ir::{Command, Expression, Type, Variable};
use crate::ir::{errors, jumps, memory_commands, remarks, structures, variable_commands};
use nova_core::SumId;

impl<'p> Verifier<'p> {
    /// Checks a command that calls a function or uses a node table, or a trace.
    pub(super) fn call(&mut self, command: &'p Command) {
        match command {
            Command::Call {
                function,
                arguments,
                results,
            } => {
                let Some(callee) = self.program.functions.get(function.index()) else {
                    return self.error("a call of no function");
                };
                let parameters = self.types(&callee.parameters);
                let wanted = self.types(&callee.results);
                self.expect_all(arguments, &parameters, "a call");
                if callee.takes {
                    self.move_in(arguments);
                }
                self.results(results, &wanted, true);
            }
            Command::Foreign {
                foreign,
                arguments,
                results,
                ..
            } => {
                let Some(foreign) = self.program.foreigns.get(*foreign as usize) else {
                    return self.error("a call of no foreign function");
                };
                let parameters = foreign.parameters.iter();
                let parameters: Vec<Type> =
                    parameters.flat_map(|ty| self.component_types(ty)).collect();
                let wanted = self.component_types(&foreign.result);
                self.expect_all(arguments, &parameters, "a foreign call");
                self.results(results, &wanted, true);
            }
            Command::NodeNew {
                sum,
                constructor,
                payload,
                link,
                ..
            } => {
                if let Some(wanted) = self.payload(*sum, *constructor) {
                    self.expect_all(payload, &wanted, "a node");
                }
                self.results(&[*link], &[super::INDEX], false);
            }
            Command::NodePayload {
                sum,
                constructor,
                link,
                results,
            } => {
                self.expect(link, super::INDEX);
                if let Some(wanted) = self.payload(*sum, *constructor) {
                    self.results(results, &wanted, false);
                }
            }
            Command::Table(command) => self.table_command(command),
            Command::Trace { ty, components, .. } => {
                let wanted = self.component_types(ty);
                self.expect_all(components, &wanted, "a trace");
            }
            structures!()
            | variable_commands!()
            | memory_commands!()
            | jumps!()
            | errors!()
            | remarks!() => {}
        }
    }

    /// Moves references of the handles among arguments into a function.
    fn move_in(&mut self, arguments: &'p [Expression]) {
        for argument in arguments {
            if self.type_of(argument) != Some(Type::Block) {
                continue;
            }
            match argument {
                Expression::Variable(handle) => self.take_reference(*handle, "given to a function"),
                _others => self.error("a function takes a reference of what is no variable"),
            }
        }
    }

    fn types(&mut self, variables: &[Variable]) -> Vec<Type> {
        variables
            .iter()
            .filter_map(|v| self.variable_type(*v))
            .collect()
    }

    /// Returns the types of a payload; reports a sum without a table and a constructor that does not exist.
    pub(super) fn payload(&mut self, sum: SumId, constructor: u32) -> Option<Vec<Type>> {
        let found = self.program.sums.get(sum.index());
        let found = found.filter(|s| s.is_recursive());
        match found.and_then(|s| s.constructors.get(constructor as usize)) {
            Some(constructor) => Some(self.component_types(&constructor.payload)),
            None => {
                self.error("a node that has no table or constructor");
                None
            }
        }
    }

    /// Checks variables that are assigned together. Handles get a reference if `owned`, else they borrow.
    pub(super) fn results(&mut self, results: &[Variable], wanted: &[Type], owned: bool) {
        if results.len() != wanted.len() {
            self.error(format!("{} results, not {}", results.len(), wanted.len()));
            return;
        }
        for (result, wanted) in results.iter().zip(wanted) {
            let Some(ty) = self.target(*result) else {
                continue;
            };
            if ty != *wanted {
                let name = self.name(*result);
                self.error(format!("{name} is {ty:?} and gets {wanted:?}"));
            }
            match ty {
                Type::Block if owned => self.give_reference(*result),
                Type::Block => {
                    self.give_reference(*result);
                    self.flow.set_references(*result, 0);
                }
                Type::Scalar(_) | Type::Pointer(_) => self.flow.assign(*result),
            }
        }
    }
}
