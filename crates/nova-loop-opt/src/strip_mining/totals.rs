//! The number of structures in the memory of a result, which loops with non-temporal stores need. A
//! variable takes the size from its allocation.

use nova_core::Scalar;
use nova_loop::ir::{Command, Expression, Program, Type, Variable};
use nova_loop::walk;
use std::collections::{BTreeMap, BTreeSet};

/// The sizes of a function's results, by the pointer to the first field.
pub(crate) struct Totals(BTreeMap<Variable, Variable>);

impl Totals {
    /// Returns the sizes that the commands of a function declare already.
    pub(crate) fn declared(commands: &[Command]) -> Totals {
        let mut assigned = BTreeSet::new();
        walk::each_command(commands, |command| {
            if !matches!(command, Command::Declare { value: Some(_), .. }) {
                walk::each_assigned(command, &mut |variable| {
                    assigned.insert(variable);
                });
            }
        });
        let known = commands.windows(2).filter_map(|pair| match pair {
            [
                Command::Declare {
                    variable,
                    value: Some(_),
                },
                Command::Allocate {
                    pointer,
                    count: Expression::Variable(count),
                    ..
                },
            ] if variable == count && !assigned.contains(variable) => Some((*pointer, *count)),
            _ => None,
        });
        Totals(known.collect())
    }

    /// Returns the variable for the size of a result.
    pub(super) fn of(&mut self, program: &mut Program, first: Variable) -> Variable {
        let add = || program.add_variable("total", Type::Scalar(Scalar::I64));
        *self.0.entry(first).or_insert_with(add)
    }

    /// Returns the commands with the declarations of the variables.
    pub(crate) fn declare(&self, commands: Vec<Command>) -> Vec<Command> {
        let mut made = Vec::with_capacity(commands.len() + self.0.len());
        for mut command in commands {
            if let Command::Allocate { pointer, count, .. } = &mut command
                && let Some(total) = self.0.get(pointer)
                && !matches!(count, Expression::Variable(known) if known == total)
            {
                let value = std::mem::replace(count, Expression::Variable(*total));
                made.push(Command::declare(*total, value));
            }
            made.push(command);
        }
        made
    }
}
