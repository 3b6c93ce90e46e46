//! The bodies of the three loops that become one: the renaming of their variables, and the effects
//! that they may have.

use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Level, Variable};
use nova_loop::uses::written;
use nova_loop::walk;
use nova_loop::{calls, errors, jumps, ordered_commands, result_buffer_commands};
use std::collections::{BTreeMap, BTreeSet};

/// The sequential loop between two parallel ones, which becomes the ordered region of one loop.
pub(super) struct Middle<'a> {
    pub(super) index: Variable,
    /// The index of the parallel loop.
    pub(super) renamed: Variable,
    /// The arrays that it reads, with the variables that hold an iteration's element.
    pub(super) sums: &'a BTreeMap<Variable, Variable>,
    /// The variables that it propagates from one iteration to the next, with pointers to the memory
    /// that holds them now.
    pub(super) states: BTreeMap<Variable, Variable>,
}

/// The ordered region of an iteration.
pub(super) struct OrderedRegion {
    pub(super) body: Vec<Command>,
    /// The arrays that the second loop reads, with the variables that hold an iteration's element.
    pub(super) begins: BTreeMap<Variable, Variable>,
    /// The commands before the loop.
    pub(super) states: Vec<Command>,
}

impl Middle<'_> {
    /// Returns a command as it stands in the ordered region, or none if a scan does not need such a
    /// command.
    pub(super) fn command(&self, command: &Command) -> Option<Command> {
        match command {
            Command::Declare {
                variable,
                value: Some(value),
            } => Some(Command::Declare {
                variable: *variable,
                value: Some(self.expression(value)?),
            }),
            Command::Assign { variable, value } => Some(Command::Store {
                pointer: *self.states.get(variable)?,
                index: Expression::index(0),
                value: self.expression(value)?,
            }),
            Command::Comment(_) => Some(command.clone()),
            _ => None,
        }
    }

    /// Returns an expression as it stands in the ordered region, or none if it reads other memory.
    pub(super) fn expression(&self, expression: &Expression) -> Option<Expression> {
        match expression {
            Expression::Variable(variable) if *variable == self.index => {
                Some(Expression::Variable(self.renamed))
            }
            Expression::Variable(variable) => match self.states.get(variable) {
                Some(state) => Some(Expression::load(*state, Expression::index(0))),
                None => Some(expression.clone()),
            },
            Expression::Load { .. } => {
                let (pointer, index) = element(expression)?;
                let sum = self.sums.get(&pointer).filter(|_| index == self.index)?;
                Some(Expression::Variable(*sum))
            }
            other => {
                let mut made = other.clone();
                for child in made.children_mut() {
                    *child = deep(|| self.expression(child))?;
                }
                Some(made)
            }
        }
    }

    /// Returns the declarations of the memory for the propagated variables, with their first
    /// values.
    pub(super) fn declarations(&self) -> Vec<Command> {
        let mut made = Vec::new();
        for (variable, state) in &self.states {
            made.push(Command::Local {
                pointer: *state,
                count: 1,
            });
            made.push(Command::Store {
                pointer: *state,
                index: Expression::index(0),
                value: Expression::Variable(*variable),
            });
        }
        made
    }
}

/// The second parallel loop.
pub(super) struct Second<'c> {
    pub(super) index: Variable,
    pub(super) body: &'c [Command],
}

impl Second<'_> {
    /// Returns its body for a loop with another index, with variables in the place of the array
    /// elements that it reads at its index.
    pub(super) fn renamed(
        &self,
        index: Variable,
        begins: &BTreeMap<Variable, Variable>,
    ) -> Vec<Command> {
        let mut body = self.body.to_vec();
        let renamed = BTreeMap::from([(self.index, index)]);
        self.rename_list(&mut body, begins, &renamed);
        body
    }

    fn rename_list(
        &self,
        commands: &mut [Command],
        begins: &BTreeMap<Variable, Variable>,
        renamed: &BTreeMap<Variable, Variable>,
    ) {
        for command in commands {
            walk::reads_mut(command, &mut |expression| {
                self.take(expression, begins);
                expression.rename(renamed);
            });
            for list in command.lists_mut() {
                deep(|| self.rename_list(list, begins, renamed));
            }
        }
    }

    fn take(&self, expression: &mut Expression, begins: &BTreeMap<Variable, Variable>) {
        let begin = element(expression)
            .filter(|(_, index)| *index == self.index)
            .and_then(|(pointer, _)| begins.get(&pointer));
        if let Some(begin) = begin {
            *expression = Expression::Variable(*begin);
            return;
        }
        for child in expression.children_mut() {
            deep(|| self.take(child, begins));
        }
    }
}

/// Returns the pointer and the index of an element, where both are variables.
fn element(expression: &Expression) -> Option<(Variable, Variable)> {
    let Expression::Load { pointer, index } = expression else {
        return None;
    };
    match (&**pointer, &**index) {
        (Expression::Variable(pointer), Expression::Variable(index)) => Some((*pointer, *index)),
        _ => None,
    }
}

/// True if commands name the arrays only to read the element at an index.
pub(super) fn reads_at(
    body: &[Command],
    arrays: &BTreeMap<Variable, Variable>,
    index: Variable,
) -> bool {
    let (mut named, mut read) = (0, 0);
    walk::each_command(body, |command| {
        walk::each_mentioned(command, &mut |v| {
            named += usize::from(arrays.contains_key(&v))
        });
        walk::reads(command, &mut |expression| {
            read += elements_read(expression, arrays, index);
        });
    });
    named == read
}

fn elements_read(
    expression: &Expression,
    arrays: &BTreeMap<Variable, Variable>,
    index: Variable,
) -> usize {
    let itself = element(expression).is_some_and(|(p, i)| i == index && arrays.contains_key(&p));
    let inside = expression.children().into_iter();
    let inside: usize = inside
        .map(|child| deep(|| elements_read(child, arrays, index)))
        .sum();
    usize::from(itself) + inside
}

/// True if commands always run to their end, and write memory only where `free` allows it or in
/// local arrays of their own.
pub(super) fn writes_only(body: &[Command], free: impl Fn(Variable) -> bool) -> bool {
    let mut own = BTreeSet::new();
    walk::each_command(body, |command| {
        if let Command::Local { pointer, .. } = command {
            own.insert(*pointer);
        }
    });
    let may_write = |pointer: Variable| own.contains(&pointer) || free(pointer);
    let mut fine = true;
    walk::each_command(body, |command| {
        fine &= match command {
            Command::For { level, .. } => *level != Level::Grid,
            Command::Allocate { .. }
            | Command::Reserve { .. }
            | Command::Unique { .. }
            | Command::Retain(_)
            | Command::Release(_)
            | Command::Loop { .. }
            | Command::Barrier(_)
            | ordered_commands!()
            | result_buffer_commands!()
            | jumps!()
            | errors!()
            | calls!() => false,
            others => {
                let written = written(others);
                written.iter().all(|to| start(to).is_some_and(&may_write))
            }
        };
    });
    fine
}

/// Returns the pointer to which an address is relative.
fn start(address: &Expression) -> Option<Variable> {
    match address {
        Expression::Variable(pointer) => Some(*pointer),
        Expression::Offset { pointer, .. } => deep(|| start(pointer)),
        _ => None,
    }
}
