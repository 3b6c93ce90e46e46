//! A pass on Loop that strip-mines innermost loops: they work in strips of some hundred iterations,
//! where what an iteration writes depends on no other iteration. There are eight cases:
//!
//! - Loops that write a large result and compute little write it with non-temporal stores
//!   ([`non_temporal`], [`lines`]).
//! - Loops with long chains of dependent operations become two loops over each strip, so that the
//!   processor has more than one chain to work on ([`fission`]; loop fission with strip-mining).
//! - Loops with carried state compute what depends on no earlier iteration in a loop of its own
//!   ([`distribution`]; loop distribution with scalar expansion).
//! - Filters compute with vector instructions which elements survive, and pack these ([`packing`]).
//! - Loops whose recurrences feed costly work compute the recurrences, the work and the rest one after the other
//!   ([`decoupling`]).
//! - Loops with sines and cosines of floats use bounded functions where a strip has no large angle
//!   ([`bounded_angles`]).
//! - Loops that are prefix scans compute their results in vector registers, a few at a time
//!   ([`prefix_scans`]).
//! - Loops that select, as the search for a least element, skip strips that have nothing better
//!   ([`selections`]).
//!
//! None of these changes a value, except that prefix scans of floats get another bracketing where
//! that is free. All of them move writes after reads of other iterations. This has no visible
//! effect, because such a loop only writes memory of its own ([`memory`]).

mod affine;
mod bounded_angles;
mod decoupling;
mod distribution;
pub(crate) mod filled;
mod fission;
mod in_place;
pub(crate) mod linear;
mod lines;
pub(crate) mod memory;
mod naming;
mod neutral;
pub(crate) mod non_temporal;
mod offsets;
mod operations;
mod packing;
mod parts;
mod prefix_scans;
mod recurrences;
mod scattered;
mod selections;
mod stages;
mod totals;

use crate::limits::COMMANDS_OF_A_BODY;
use linear::Definitions;
use memory::Memory;
use nova_core::{Scalar, ScalarOperation};
use nova_diag::{Place, deep};
use nova_loop::cost::work;
use nova_loop::first_fields::FirstFields;
use nova_loop::functions;
use nova_loop::ir::{Command, Expression, Function, Level, Program, Type, Variable};
use std::collections::{BTreeMap, BTreeSet};
use totals::Totals;

/// Rewrites all functions of a program that do not recurse. Recursive ones stay as they are, since
/// strips need room on the stack.
pub fn run(program: &mut Program) {
    each_function(program, |mut strips, function| strips.function(function));
}

/// Calls `rewrite` for each function that does not recurse.
pub(crate) fn each_function(
    program: &mut Program,
    mut rewrite: impl FnMut(Strips<'_>, &mut Function),
) {
    let structures = memory::structures(program);
    functions::each_function(program, |program, function| {
        if !function.recursive {
            let strips = Strips::of(program, function, &structures);
            rewrite(strips, function);
        }
    });
}

/// The state of the walk over a function.
pub(crate) struct Strips<'a> {
    pub(crate) program: &'a mut Program,
    pub(crate) memory: Memory,
    /// For pointers to fields of structures of the caller, the pointer to the first field.
    structures: &'a FirstFields,
    pub(crate) totals: Totals,
    /// Tables with the start of each chunk of parallel loops.
    offsets: BTreeSet<Variable>,
    /// Loops that are followed by loops which scatter to the same arrays.
    scattered: BTreeSet<Variable>,
    /// The arrays that are written at one index only, with this index.
    places: BTreeMap<Variable, Expression>,
    /// True if a loop has got non-temporal stores since this flag was last taken, so that a store
    /// fence must follow.
    pub(crate) needs_fence: bool,
}

/// A counted loop whose body is straight-line code and whose iterations are independent, but for what they
/// fold.
pub(crate) struct Map<'a> {
    pub(crate) index: Variable,
    pub(crate) count: &'a Expression,
    pub(crate) body: &'a [Command],
    pub(crate) place: &'a Place,
    /// The declarations and assignments of the body.
    pub(crate) definitions: Definitions,
    /// The commands of the body that assign variables from outside the loop, by position.
    pub(crate) folds: Vec<usize>,
    /// The number of elements an iteration writes.
    pub(crate) stores: usize,
    /// True if some of these elements are in local arrays, which stay in the cache.
    pub(crate) is_local: bool,
    /// True if iterations read an array that they write, each only the element that it writes.
    pub(crate) in_place: bool,
}

impl<'a> Strips<'a> {
    /// Returns the state before the walk over a function of this program.
    pub(crate) fn of(
        program: &'a mut Program,
        function: &Function,
        structures: &'a FirstFields,
    ) -> Strips<'a> {
        Strips {
            memory: Memory::of(program, function),
            totals: Totals::declared(&function.body),
            offsets: offsets::of(function),
            scattered: scattered::over(function),
            places: packing::places(function),
            program,
            structures,
            needs_fence: false,
        }
    }
}

impl Strips<'_> {
    fn function(&mut self, function: &mut Function) {
        let body = std::mem::take(&mut function.body);
        let mut made = Vec::with_capacity(body.len());
        let mut left = body.into_iter().peekable();
        while let Some(command) = left.next() {
            deep(|| self.command(command, &mut made));
            let is_ended = matches!(left.peek(), Some(Command::StoreFence));
            if std::mem::take(&mut self.needs_fence) && !is_ended {
                made.push(Command::StoreFence);
            }
        }
        function.body = self.totals.declare(made);
    }

    fn list(&mut self, commands: Vec<Command>) -> Vec<Command> {
        let mut made = Vec::with_capacity(commands.len());
        for command in commands {
            deep(|| self.command(command, &mut made));
        }
        made
    }

    fn command(&mut self, mut command: Command, made: &mut Vec<Command>) {
        self.memory.note(&command);
        for list in command.lists_mut() {
            *list = self.list(std::mem::take(list));
        }
        let replaced = self.selection(&command);
        if let Some(commands) = replaced.or_else(|| self.bounded_angles(&command)) {
            made.extend(commands);
            return;
        }
        let rewritten = self.map(&command).and_then(|map| {
            if map.folds.is_empty() && map.in_place {
                return None;
            }
            if !map.folds.is_empty() {
                return match offsets::are_written(&map, &self.offsets) {
                    true => None,
                    false => {
                        let scans = self.prefix_scans(&map);
                        let packed = scans.or_else(|| self.pack_filters(&map));
                        packed.or_else(|| self.distribute(&map))
                    }
                };
            }
            if map.is_local {
                return None;
            }
            let non_temporal = self.non_temporal(&map);
            non_temporal.or_else(|| self.fission(&map))
        });
        match rewritten {
            Some(commands) => made.extend(commands),
            None => match self.decouple(&command) {
                Some(commands) => made.extend(commands),
                None => made.push(command),
            },
        }
    }

    /// Returns the loop that a command is, if this pass may rewrite it. Such a loop declares
    /// scalars, assigns some from outside the loop once each, and writes memory of its own, which
    /// it does not read, or changes the elements of a single array in place.
    pub(crate) fn map<'c>(&self, command: &'c Command) -> Option<Map<'c>> {
        let Command::For {
            variable,
            count,
            level: Level::Sequential,
            body,
            place,
        } = command
        else {
            return None;
        };
        let mut definitions = Definitions::new(*variable);
        let mut stores = 0;
        let mut folds = Vec::new();
        let (mut is_local, mut is_own) = (false, true);
        for (at, command) in body.iter().enumerate() {
            match command {
                Command::Declare {
                    variable,
                    value: Some(value),
                } if matches!(self.program.variable(*variable).ty, Type::Scalar(_)) => {
                    definitions.add(*variable, value);
                }
                Command::Assign { variable, value }
                    if matches!(self.program.variable(*variable).ty, Type::Scalar(_))
                        && definitions.value(*variable).is_none() =>
                {
                    definitions.add(*variable, value);
                    folds.push(at);
                }
                Command::Store { pointer, .. } if self.memory.is_own(*pointer) => stores += 1,
                Command::Store { pointer, .. } if self.memory.is_local(*pointer) => {
                    stores += 1;
                    is_local = true;
                }
                Command::Store { .. } => {
                    stores += 1;
                    is_own = false;
                }
                Command::Comment(_) => {}
                _ => return None,
            }
        }
        let in_place = !is_own || !self.memory.is_apart(body);
        if in_place && !in_place::changes_one_array(body, *variable) {
            return None;
        }
        let map = Map {
            index: *variable,
            count,
            body,
            place,
            definitions,
            folds,
            stores,
            is_local,
            in_place,
        };
        (map.stores + map.folds.len() > 0 && body.len() <= COMMANDS_OF_A_BODY).then_some(map)
    }

    pub(crate) fn add_index(&mut self, name: &str) -> Variable {
        self.program.add_variable(name, Type::Scalar(Scalar::I64))
    }
}

impl Map<'_> {
    /// Returns the number of instructions of the body, without those that compute addresses.
    pub(crate) fn work(&self) -> u32 {
        let of = |command: &Command| match command {
            Command::Declare {
                value: Some(value), ..
            } if self.definitions.linear(value).is_none() => work(value),
            Command::Store { value, .. } => 1 + work(value),
            _ => 0,
        };
        self.body.iter().map(of).sum()
    }

    /// Returns a loop over a strip of `length` iterations from `first` on. `index` is the number of
    /// the iteration in the original loop, and `offset` its position in the strip.
    fn over_strip(
        &self,
        (index, first): (Variable, Variable),
        offset: Variable,
        length: Expression,
        body: Vec<Command>,
    ) -> Command {
        let iteration = Expression::Variable(first).plus(Expression::Variable(offset));
        let mut commands = vec![Command::declare(index, iteration)];
        commands.extend(body);
        self.counted(offset, length, commands)
    }

    /// Returns the same loop as [`Self::over_strip`], where each iteration writes structures of its
    /// own, in memory that the loop does not read.
    pub(crate) fn independent(
        &self,
        first: (Variable, Variable),
        offset: Variable,
        length: Expression,
        body: Vec<Command>,
    ) -> Command {
        let mut strip = self.over_strip(first, offset, length, body);
        if let Command::For { level, .. } = &mut strip {
            *level = Level::Independent;
        }
        strip
    }

    /// Returns a loop that takes the place of this one.
    pub(crate) fn counted(
        &self,
        variable: Variable,
        count: Expression,
        body: Vec<Command>,
    ) -> Command {
        Command::sequential(variable, count, body, self.place)
    }
}

/// The maximum of an expression and `low`.
fn at_least(expression: Expression, low: i64) -> Expression {
    Expression::on_index(ScalarOperation::Maximum, expression, Expression::index(low))
}

fn at_most(expression: Expression, high: Expression) -> Expression {
    Expression::on_index(ScalarOperation::Minimum, expression, high)
}
