//! If-conversion: conditionals in innermost loops become expressions, so that the loop has one path
//! and C compilers can use vector instructions. This is done where the branches cost little and are
//! defined whether the condition holds or not. An element that only a branch reads may be read
//! always, if the loop reads it in some iteration anyway.

use super::Splitter;
use super::chunks::Chunks;
use super::expressions::expression_size;
use super::facts::Facts;
use crate::limits::NODES_OF_A_BRANCH;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Variable};
use nova_loop::walk;
use nova_machine::cost::is_simple;

/// An element that every iteration of a loop reads. It lies at a constant distance from `index`:
/// the loop's index, or an index of the whole range of which the loop covers a chunk.
struct Access {
    pointer: Variable,
    index: Variable,
    distance: i64,
}

/// The elements that every iteration of a loop reads.
pub(super) struct Accesses {
    /// The loop's index.
    index: Variable,
    all: Vec<Access>,
}

/// The elements that may be read where no condition holds: a pointer, an index, and the least and
/// the greatest distance from it.
pub(super) struct Readable(Vec<(Variable, Variable, i64, i64)>);

impl Accesses {
    /// Returns those of a loop over `index` with this body, or none if an iteration may end the
    /// loop.
    pub(super) fn of(
        body: &[Command],
        facts: &Facts,
        chunks: &Chunks,
        index: Variable,
    ) -> Accesses {
        let mut accesses = Accesses {
            index,
            all: Vec::new(),
        };
        if has_checks(body) {
            return accesses;
        }
        for command in body {
            walk::reads(command, &mut |e| accesses.add(e, facts, chunks));
        }
        accesses
    }

    fn add(&mut self, expression: &Expression, facts: &Facts, chunks: &Chunks) {
        match expression {
            Expression::Select { condition, .. } => deep(|| self.add(condition, facts, chunks)),
            other => {
                if let Expression::Load { pointer, index: at } = other
                    && let Expression::Variable(pointer) = **pointer
                    && let Some(at) = facts.affine(at)
                    && let Some(index) = at.root
                    && (index == self.index || chunks.whole(at.root, self.index).is_some())
                {
                    self.all.push(Access {
                        pointer,
                        index,
                        distance: at.offset,
                    });
                }
                for child in other.children() {
                    deep(|| self.add(child, facts, chunks));
                }
            }
        }
    }

    /// Returns what the iterations between the `first` first and `last` last ones may read. There,
    /// `index` starts from 0.
    pub(super) fn within(self, first: i64, last: i64, index: Variable) -> Readable {
        let own = self.index;
        let windows = self.all.into_iter().map(|access| {
            let Access {
                pointer,
                index: of,
                distance,
            } = access;
            match of == own {
                true => (pointer, index, distance, distance + first + last),
                // An index of the whole range does not change.
                false => (pointer, of, distance - first, distance + last),
            }
        });
        Readable(windows.collect())
    }
}

impl Splitter<'_> {
    /// Returns the body of an innermost loop without conditionals if possible, or as it is.
    pub(super) fn straighten(&self, body: Vec<Command>, readable: &Readable) -> Vec<Command> {
        if has_checks(&body) {
            return body;
        }
        let mut left = NODES_OF_A_BRANCH;
        match self.flat(&body, readable, &mut left) {
            Some(mut flat) => {
                self.join_conditions(&mut flat, readable);
                flat
            }
            None => body,
        }
    }

    fn flat(
        &self,
        commands: &[Command],
        readable: &Readable,
        left: &mut usize,
    ) -> Option<Vec<Command>> {
        let mut made = Vec::with_capacity(commands.len());
        for command in commands {
            match command {
                Command::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let mut branches = Vec::with_capacity(2);
                    for branch in [then, otherwise] {
                        let branch = deep(|| self.flat(branch, readable, left))?;
                        branches.push(self.branch(branch, readable, left)?);
                    }
                    let [then, otherwise] = <[Branch; 2]>::try_from(branches).ok()?;
                    choose(condition, then, otherwise, &mut made)?;
                }
                Command::Assign { variable, value } => {
                    give(*variable, value.clone(), &mut made);
                }
                other => made.push(other.clone()),
            }
        }
        Some(made)
    }

    /// Returns a branch whose commands may run whether its condition holds or not.
    fn branch(
        &self,
        mut commands: Vec<Command>,
        readable: &Readable,
        left: &mut usize,
    ) -> Option<Branch> {
        let result = match commands.pop() {
            Some(Command::Assign { variable, value }) => Some((variable, value)),
            Some(_) => return None,
            None => None,
        };
        let values = commands.iter().map(|command| match command {
            Command::Declare {
                value: Some(value), ..
            } => Some(value),
            _ => None,
        });
        let results = result.iter().map(|(_, value)| Some(value));
        for value in values.chain(results) {
            let value = value?;
            *left = left.checked_sub(expression_size(value))?;
            if !self.is_defined(value, readable) {
                return None;
            }
        }
        Some(Branch { commands, result })
    }

    /// True if an expression is cheap, and defined in every iteration.
    pub(super) fn is_defined(&self, expression: &Expression, readable: &Readable) -> bool {
        let itself = match expression {
            Expression::Constant(_) | Expression::Variable(_) | Expression::Select { .. } => true,
            Expression::Scalar {
                operation, operand, ..
            } => is_simple(*operation, *operand) && is_defined_for_all(*operation, *operand),
            Expression::Load { pointer, index } => {
                let at = self.facts.affine(index);
                match (&**pointer, at) {
                    (Expression::Variable(pointer), Some(at)) => {
                        readable.0.iter().any(|(readable, index, low, high)| {
                            readable == pointer
                                && at.root == Some(*index)
                                && (low..=high).contains(&&at.offset)
                        })
                    }
                    _ => false,
                }
            }
            _others => false,
        };
        let inside = || {
            let mut children = expression.children().into_iter();
            children.all(|child| deep(|| self.is_defined(child, readable)))
        };
        itself && inside()
    }
}

/// A branch that declares variables, then assigns one.
struct Branch {
    commands: Vec<Command>,
    result: Option<(Variable, Expression)>,
}

/// Adds both branches, and the assignment of the chosen value.
fn choose(
    condition: &Expression,
    then: Branch,
    otherwise: Branch,
    made: &mut Vec<Command>,
) -> Option<()> {
    let variable = match (&then.result, &otherwise.result) {
        (Some((a, _)), Some((b, _))) if a == b => *a,
        (Some((variable, _)), None) | (None, Some((variable, _))) => *variable,
        (Some(_), Some(_)) | (None, None) => return None,
    };
    let declared = declaration(variable, made).is_some();
    if declared && (then.result.is_none() || otherwise.result.is_none()) {
        return None;
    }
    let old = |result: Option<(Variable, Expression)>| match result {
        Some((_, value)) => value,
        None => Expression::Variable(variable),
    };
    made.extend(then.commands);
    made.extend(otherwise.commands);
    let value = Expression::Select {
        condition: Box::new(condition.clone()),
        then: Box::new(old(then.result)),
        otherwise: Box::new(old(otherwise.result)),
    };
    give(variable, value, made);
    Some(())
}

/// Returns the position where a variable is declared without a value.
fn declaration(variable: Variable, commands: &[Command]) -> Option<usize> {
    commands.iter().rposition(
        |command| matches!(command, Command::Declare { variable: v, value: None } if *v == variable),
    )
}

/// Assigns a variable, or declares it here if it has no value yet.
fn give(variable: Variable, value: Expression, made: &mut Vec<Command>) {
    match declaration(variable, made) {
        Some(position) => {
            made.remove(position);
            let value = Some(value);
            made.push(Command::Declare { variable, value });
        }
        None => made.push(Command::Assign { variable, value }),
    }
}

fn has_checks(commands: &[Command]) -> bool {
    commands.iter().any(|command| {
        matches!(command, Command::Check { .. })
            || command.lists().into_iter().any(|l| deep(|| has_checks(l)))
    })
}

/// True if an operation gives some value for all operands of a type; a conversion between integers
/// wraps in C too.
fn is_defined_for_all(operation: ScalarOperation, operand: Scalar) -> bool {
    let converts = matches!(operation, ScalarOperation::Convert(_)) && !operand.is_float();
    converts || operation.is_total(operand)
}
