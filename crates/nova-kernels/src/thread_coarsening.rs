//! Thread coarsening, for devices: a thread of a short kernel computes four neighbouring elements in place of
//! one, so that it loads and stores whole vectors ([`crate::vectors`]) and has more loads in flight.
//!
//! A loop over `n` indices at the level of a grid becomes a loop over a quarter of them. An iteration with all
//! of its four indices runs each command of the body four times before the next command, so that commands
//! stand together that read and write neighbours. The last iteration may have fewer indices, and runs the body
//! for one after the other. Iterations of a grid may run in any order and side by side, so this changes
//! nothing.
//!
//! A loop with a strategy of the program stays as it is stated. Other loops change if the elements that are
//! stored, and those that are read at neighbouring indices, become vectors. Without that, the threads of a warp
//! would touch four times as many lines of memory at a time.

use crate::vectors;
use crate::work_groups::Origins;
use nova_core::ScalarOperation;
use nova_diag::{Place, deep};
use nova_loop::copies::{copy, copy_of};
use nova_loop::cost::work;
use nova_loop::functions::each_function;
use nova_loop::ir::{Command, Expression, Level, Program, Type, Variable};
use nova_loop::walk::reads;
use nova_machine::DEVICE;
use std::collections::BTreeMap;

/// Rewrites the kernels of a program that only compute and store a few values.
pub fn run(program: &mut Program) {
    each_function(program, |program, function| {
        let origins = Origins::of(function);
        outside(program, &origins, &mut function.body);
    });
}

/// Walks over code of the host.
fn outside(program: &mut Program, origins: &Origins, commands: &mut [Command]) {
    for command in commands {
        if let Some(coarsened) =
            Kernel::of(program, command).and_then(|kernel| kernel.coarsened(program, origins))
        {
            *command = coarsened;
        } else if !matches!(command, Command::For { level, .. } if level.starts_kernel()) {
            for list in command.lists_mut() {
                deep(|| outside(program, origins, list));
            }
        }
    }
}

/// A kernel that declares scalars and stores.
struct Kernel<'c> {
    index: Variable,
    count: &'c Expression,
    body: &'c [Command],
    place: &'c Place,
}

impl<'c> Kernel<'c> {
    /// Returns the parts of a loop, if it is such a kernel, loads something, and does little else.
    fn of(program: &Program, command: &'c Command) -> Option<Kernel<'c>> {
        let Command::For {
            variable,
            count,
            level: Level::Grid,
            body,
            place,
        } = command
        else {
            return None;
        };
        let is_plain = |command: &Command| match command {
            Command::Declare { variable, value } => {
                value.is_some() && matches!(program.variable(*variable).ty, Type::Scalar(_))
            }
            Command::Store { .. } | Command::Comment(_) => true,
            _others => false,
        };
        let (mut sum, mut loads) = (0, false);
        for command in body {
            reads(command, &mut |expression| {
                sum += work(expression);
                loads |= expression.reads_memory();
            });
        }
        let is_short = count
            .as_index()
            .is_some_and(|count| count < 2 * DEVICE.thread_elements as i64);
        // The program may say that each index has a thread.
        let is_stated = program.strategies.contains_key(variable);
        let suits = body.iter().all(is_plain) && loads && sum <= DEVICE.memory_bound_work;
        (suits && !is_short && !is_stated).then_some(Kernel {
            index: *variable,
            count,
            body,
            place,
        })
    }

    /// Returns the loop over a quarter of the indices, if it stores and loads vectors.
    fn coarsened(&self, program: &mut Program, origins: &Origins) -> Option<Command> {
        let before = program.variables.len();
        let index = program.variable(self.index).clone();
        let thread = program.add_variable("thread", index.ty);
        let first = program.add_variable("first", index.ty);
        let all = self.all(program, first);
        if !vectors::are_vectors(program, origins, &all, DEVICE.thread_elements) {
            program.variables.truncate(before);
            return None;
        }
        let size = Expression::index(DEVICE.thread_elements as i64);
        let start = Expression::Variable(thread).times(size.clone());
        let left = self.count.clone().minus(Expression::Variable(first));
        let has_all = left
            .clone()
            .compare(ScalarOperation::GreaterEqual, size.clone());
        let rest = self.one_by_one(program, first, left);
        let threads = self
            .count
            .clone()
            .plus(Expression::index(DEVICE.thread_elements as i64 - 1));
        Some(Command::For {
            variable: thread,
            count: threads.compare(ScalarOperation::Divide, size),
            level: Level::Grid,
            body: vec![
                Command::declare(first, start),
                Command::If {
                    condition: has_all,
                    then: all,
                    otherwise: vec![rest],
                },
            ],
            place: self.place.clone(),
        })
    }

    /// Returns the body for all indices of a thread from `first` on, each command for all of them before the
    /// next command.
    fn all(&self, program: &mut Program, first: Variable) -> Vec<Command> {
        let mut out = Vec::new();
        let mut renamed = Vec::with_capacity(DEVICE.thread_elements);
        for k in 0..DEVICE.thread_elements {
            let index = copy_of(program, self.index);
            let value = Expression::Variable(first).plus(Expression::index(k as i64));
            out.push(Command::declare(index, value));
            renamed.push(BTreeMap::from([(self.index, index)]));
        }
        for command in self.body {
            let mut copies = Vec::with_capacity(DEVICE.thread_elements);
            for variables in &mut renamed {
                copies.extend(copy(program, std::slice::from_ref(command), variables));
            }
            match command {
                Command::Comment(_) => out.extend(copies.into_iter().next()),
                Command::Declare {
                    value: Some(value), ..
                } if value.reads_memory() => out.extend(declared_then_assigned(copies)),
                _others => out.extend(copies),
            }
        }
        out
    }

    /// Returns the loop over the indices of a thread that has not all of them.
    fn one_by_one(&self, program: &mut Program, first: Variable, left: Expression) -> Command {
        let k = copy_of(program, self.index);
        let index = copy_of(program, self.index);
        let value = Expression::Variable(first).plus(Expression::Variable(k));
        let mut body = vec![Command::declare(index, value)];
        let mut variables = BTreeMap::from([(self.index, index)]);
        body.extend(copy(program, self.body, &mut variables));
        Command::sequential(k, left, body, self.place)
    }
}

/// Returns declarations with values as declarations without them, and assignments.
fn declared_then_assigned(declarations: Vec<Command>) -> Vec<Command> {
    let (mut declared, mut assigned) = (Vec::new(), Vec::new());
    for command in declarations {
        if let Command::Declare {
            variable,
            value: Some(value),
        } = command
        {
            declared.push(Command::Declare {
                variable,
                value: None,
            });
            assigned.push(Command::Assign { variable, value });
        }
    }
    declared.append(&mut assigned);
    declared
}
