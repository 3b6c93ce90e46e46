//! A pass on Loop, for devices, that prepares loads and stores of whole vectors. Loads and stores
//! of n neighbours, as vectors of n numbers ask for them (`as_vector` of dpia.txt §6.2), are put
//! one after the other, where the emitter of a target finds them.
//!
//! The pass looks for n consecutive commands that assign n variables or store n neighbouring
//! elements, and that read neighbouring elements. Then all elements are read first, then the values
//! are computed, then they are stored.

use crate::work_groups::Origins;
use nova_diag::deep;
use nova_loop::functions::each_function;
use nova_loop::ir::{Command, Expression, Program, Type, Variable};
use nova_loop::neighbours::{Addresses, WIDTHS};
use nova_loop::walk::{reads, reads_mut};
use std::collections::BTreeSet;

/// Rewrites the kernels of a program.
pub fn run(program: &mut Program) {
    each_function(program, |program, function| {
        let origins = Origins::of(function);
        let mut vectors = Vectors {
            origins: &origins,
            addresses: Addresses::of(&function.body),
            program,
        };
        vectors.outside(&mut function.body);
    });
}

/// True if commands, of which so many neighbours each do the same, load and store whole vectors, or load one
/// element for all of them. The program gets no variables.
pub(crate) fn are_vectors(
    program: &mut Program,
    origins: &Origins,
    commands: &[Command],
    width: usize,
) -> bool {
    let before = program.variables.len();
    let mut vectors = Vectors {
        origins,
        addresses: Addresses::of(commands),
        program,
    };
    let mut left = commands;
    let mut are = true;
    while let Some(first) = left.first() {
        let width = match first {
            Command::Store { .. } | Command::Assign { .. } => {
                are &= left.get(..width).is_some_and(|run| vectors.is_vector(run));
                width
            }
            _others => 1,
        };
        left = left.get(width..).unwrap_or_default();
    }
    vectors.program.variables.truncate(before);
    are
}

struct Vectors<'a> {
    program: &'a mut Program,
    origins: &'a Origins,
    addresses: Addresses,
}

impl Vectors<'_> {
    /// Walks over code of the host.
    fn outside(&mut self, commands: &mut [Command]) {
        for command in commands {
            match command {
                Command::For { level, body, .. } if level.starts_kernel() => self.list(body),
                others => {
                    for list in others.lists_mut() {
                        deep(|| self.outside(list));
                    }
                }
            }
        }
    }

    fn list(&mut self, commands: &mut Vec<Command>) {
        for command in commands.iter_mut() {
            for list in command.lists_mut() {
                deep(|| self.list(list));
            }
        }
        let mut left = &commands[..];
        let mut out = Vec::with_capacity(commands.len());
        while let Some(first) = left.first() {
            let found = WIDTHS.iter().find_map(|width| {
                let run = left.get(..*width)?;
                Some((*width, self.rewrite(run)?))
            });
            let width = match found {
                Some((width, made)) => {
                    out.extend(made);
                    width
                }
                None => {
                    out.push(first.clone());
                    1
                }
            };
            left = left.get(width..).unwrap_or_default();
        }
        *commands = out;
    }

    /// Returns consecutive commands that do the same for neighbours, with their loads and stores
    /// put together.
    fn rewrite(&mut self, run: &[Command]) -> Option<Vec<Command>> {
        let purpose = self.purpose(run)?;
        let loads: Vec<Loads> = run.iter().map(loads_of).collect::<Option<_>>()?;
        let first = loads.first()?;
        if loads.iter().any(|others| others.len() != first.len()) {
            return None;
        }
        if let Purpose::Stores { pointer } = purpose
            && !self.may_load_first(run, &loads, pointer)
        {
            return None;
        }
        let mut made = run.to_vec();
        let mut out = self.put_loads_first(&mut made, &loads);
        match purpose {
            Purpose::Stores { pointer } => out.extend(self.put_values_first(&mut made, pointer)),
            Purpose::Assigns if out.is_empty() => return None,
            Purpose::Assigns => {}
        }
        out.extend(made);
        Some(out)
    }

    /// True if consecutive commands become a vector, and so do their loads.
    fn is_vector(&mut self, run: &[Command]) -> bool {
        let loads: Option<Vec<Loads>> = run.iter().map(loads_of).collect();
        let Some((first, others)) = loads.as_deref().and_then(<[_]>::split_first) else {
            return false;
        };
        // An element that all commands read stays as it is.
        let suits = |at: usize, (pointer, from): &(Variable, Expression)| {
            others.iter().enumerate().all(|(k, loads)| {
                let Some((other, index)) = loads.get(at) else {
                    return false;
                };
                let distance = self.addresses.distance(from, index);
                pointer == other && distance.is_some_and(|d| d == 0 || d == k as i64 + 1)
            })
        };
        let suit = first.iter().enumerate().all(|(at, load)| suits(at, load));
        suit && (self.rewrite(run).is_some() || matches!(run.first(), Some(Command::Assign { .. })))
    }

    /// True if all loads of commands that store through a pointer may come before all of their
    /// stores.
    fn may_load_first(&self, run: &[Command], loads: &[Loads], target: Variable) -> bool {
        run.iter().zip(loads).all(|(command, loads)| {
            let own = index_of(command);
            loads.iter().all(|(pointer, index)| {
                let is_own =
                    || own.is_some_and(|own| self.addresses.distance(own, index) == Some(0));
                !self.origins.may_meet(*pointer, target) || *pointer == target && is_own()
            })
        })
    }

    /// Returns loads of neighbours as declarations of variables, which `made` then reads instead.
    fn put_loads_first(&mut self, made: &mut [Command], loads: &[Loads]) -> Vec<Command> {
        let mut out = Vec::new();
        let Some(first) = loads.first() else {
            return out;
        };
        for (at, (pointer, from)) in first.iter().enumerate().rev() {
            let of_each: Option<Vec<&Expression>> = loads
                .iter()
                .enumerate()
                .map(|(k, loads)| {
                    let (other, index) = loads.get(at)?;
                    let distance = self.addresses.distance(from, index);
                    (other == pointer && distance == Some(k as i64)).then_some(index)
                })
                .collect();
            let (Some(of_each), Type::Pointer(element)) =
                (of_each, self.program.variable(*pointer).ty)
            else {
                continue;
            };
            let mut declared = Vec::with_capacity(made.len());
            for (command, index) in made.iter_mut().zip(of_each) {
                let lane = self.program.add_variable("lane", Type::Scalar(element));
                declared.push(Command::declare(
                    lane,
                    Expression::load(*pointer, index.clone()),
                ));
                replace_load(command, at, lane);
            }
            out.splice(0..0, declared);
        }
        out
    }

    /// Returns the values that commands store as declarations of variables, which `made` then
    /// stores.
    fn put_values_first(&mut self, made: &mut [Command], target: Variable) -> Vec<Command> {
        let mut out = Vec::new();
        let Type::Pointer(element) = self.program.variable(target).ty else {
            return out;
        };
        for command in made {
            if let Command::Store { value, .. } = command
                && !value.is_simple()
            {
                let lane = self.program.add_variable("chunk", Type::Scalar(element));
                let value = std::mem::replace(value, Expression::Variable(lane));
                out.push(Command::declare(lane, value));
            }
        }
        out
    }

    /// Returns what commands do with neighbours, if all do the same.
    fn purpose(&self, run: &[Command]) -> Option<Purpose> {
        let first = run.first()?;
        match first {
            Command::Store { pointer, index, .. } => {
                let follows = |(k, command): (usize, &Command)| match command {
                    Command::Store {
                        pointer: other,
                        index: to,
                        ..
                    } => other == pointer && self.addresses.distance(index, to) == Some(k as i64),
                    _others => false,
                };
                let all = run.iter().enumerate().all(follows);
                all.then_some(Purpose::Stores { pointer: *pointer })
            }
            Command::Assign { .. } => {
                let mut assigned = BTreeSet::new();
                for command in run {
                    let Command::Assign { variable, .. } = command else {
                        return None;
                    };
                    assigned.insert(*variable);
                }
                let mut apart = assigned.len() == run.len();
                for (_, index) in run.iter().filter_map(loads_of).flatten() {
                    index.each_variable(&mut |v| apart &= !assigned.contains(&v));
                }
                apart.then_some(Purpose::Assigns)
            }
            _others => None,
        }
    }
}

/// The kind of consecutive commands.
#[derive(Clone, Copy)]
enum Purpose {
    /// They store neighbouring elements.
    Stores {
        /// The pointer through which they store.
        pointer: Variable,
    },
    /// They assign variables, none of which is in an index of what the others load.
    Assigns,
}

/// The loads of a command: pointers and indices.
type Loads = Vec<(Variable, Expression)>;

fn index_of(command: &Command) -> Option<&Expression> {
    match command {
        Command::Store { index, .. } => Some(index),
        _others => None,
    }
}

/// Returns the loads of a command, if it always executes all of them, through variables, and if no
/// index contains another load.
fn loads_of(command: &Command) -> Option<Loads> {
    let mut found = Some(Vec::new());
    reads(command, &mut |e| collect(e, &mut found));
    found
}

fn collect(expression: &Expression, into: &mut Option<Loads>) {
    let Some(found) = into else {
        return;
    };
    match expression {
        Expression::Load { pointer, index } => match &**pointer {
            Expression::Variable(pointer) if !index.reads_memory() => {
                found.push((*pointer, (**index).clone()));
            }
            _others => *into = None,
        },
        Expression::Select { .. } if expression.reads_memory() => *into = None,
        others => {
            for child in others.children() {
                deep(|| collect(child, into));
            }
        }
    }
}

/// Replaces a load of a command by a variable. Loads are counted as [`loads_of`] does.
fn replace_load(command: &mut Command, at: usize, lane: Variable) {
    let mut left = Some(at);
    reads_mut(command, &mut |e| replace(e, &mut left, lane));
}

fn replace(expression: &mut Expression, left: &mut Option<usize>, lane: Variable) {
    match expression {
        Expression::Load { .. } => match left {
            Some(0) => {
                *expression = Expression::Variable(lane);
                *left = None;
            }
            Some(others) => *others -= 1,
            None => {}
        },
        others => {
            for child in others.children_mut() {
                deep(|| replace(child, left, lane));
            }
        }
    }
}
