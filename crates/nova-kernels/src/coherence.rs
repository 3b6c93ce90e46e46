//! Host-device coherence: marks where the host reads and writes arrays that may be on a device. A
//! command (`OnHost`) before the access says so, and the runtime copies what has to be copied.
//!
//! Every kernel may leave the current elements of an array on the device. So a command stands
//! before the first access through a pointer after a kernel, or after a call that may run one. For
//! a loop that runs no kernels it stands once, before the loop, for each pointer from outside
//! through which the loop reads or writes. A command that reads few elements, at indices that are
//! known before it, asks for these alone. Arrays on the stack of a function never leave the host.
//! Copies of whole arrays (`Copy`, `Reserve`, `Unique`) are left to the runtime, which copies where
//! the elements are. Where the host stores a few elements, a command after each store says so, and
//! the runtime copies the element to the device if the array is there.

mod elements;

use crate::addresses::root;
use elements::{Elements, elements};
use nova_diag::deep;
use nova_loop::call_graph::functions_with;
use nova_loop::ir::Use;
use nova_loop::ir::{Command, Expression, FunctionId, HostAccess, Program, Variable};
use nova_loop::uses::uses;
use nova_loop::walk::{each_assigned, each_command};
use nova_machine::DEVICE;
use std::collections::{BTreeMap, BTreeSet};

/// Adds the commands to all functions of a program whose kernels are known.
pub fn run(program: &mut Program) {
    let launching = functions_with(program, &|function| launches_itself(&function.body));
    let types = program.clone_types();
    for function in &mut program.functions {
        let mut locals = BTreeSet::new();
        each_command(&function.body, |command| {
            if let Command::Local { pointer, .. } = command {
                locals.insert(*pointer);
            }
        });
        let mut placing = Placing {
            launching: &launching,
            types: &types,
            locals,
            seen: BTreeMap::new(),
            few: BTreeSet::new(),
            in_loop: false,
        };
        placing.list(&mut function.body);
    }
}

/// True if commands run a kernel. Calls are ignored.
fn launches_itself(commands: &[Command]) -> bool {
    let mut found = false;
    each_command(commands, |command| found |= is_kernel(command));
    found
}

fn is_kernel(command: &Command) -> bool {
    matches!(command, Command::For { level, .. } if level.starts_kernel())
}

struct Placing<'a> {
    /// Functions that may run kernels.
    launching: &'a BTreeSet<FunctionId>,
    types: &'a nova_loop::kernels::Types,
    /// Pointers to arrays on the stack.
    locals: BTreeSet<Variable>,
    /// Pointers to arrays whose elements the host has, each with whether it may write them.
    seen: BTreeMap<Variable, bool>,
    /// Pointers through which the current list stores few elements, of arrays that the list has not
    /// allocated.
    few: BTreeSet<Variable>,
    /// True inside a loop that runs no kernels and may have many iterations.
    in_loop: bool,
}

/// The pointers through which memory is accessed, each with whether it is written.
type Accesses = BTreeMap<Variable, bool>;

impl Placing<'_> {
    fn list(&mut self, commands: &mut Vec<Command>) {
        let mut out = Vec::with_capacity(commands.len());
        let outer = std::mem::replace(&mut self.few, stored_seldom(commands));
        for mut command in std::mem::take(commands) {
            self.before(&command, &mut out);
            let wrote = self.wrote(&command);
            match &mut command {
                command if is_kernel(command) => self.seen.clear(),
                Command::For { body, .. } | Command::Loop { body, .. } => {
                    let launches = self.launches(body);
                    if launches {
                        self.seen.clear();
                    } else {
                        self.forget_assigned(body);
                    }
                    let outer = self.seen.clone();
                    let in_loop = std::mem::replace(&mut self.in_loop, !launches);
                    deep(|| self.list(body));
                    self.in_loop = in_loop;
                    self.seen = if launches { BTreeMap::new() } else { outer };
                }
                Command::If {
                    then, otherwise, ..
                } => self.branches(vec![then, otherwise]),
                Command::Switch { cases, .. } => self.branches(cases.iter_mut().collect()),
                Command::Call { function, .. } if self.launching.contains(function) => {
                    self.seen.clear();
                }
                _others => {}
            }
            self.after(&command);
            out.push(command);
            out.extend(wrote);
        }
        self.few = outer;
        *commands = out;
    }

    /// Returns the command after a store of a single element of an array that may be on the device.
    fn wrote(&self, command: &Command) -> Option<Command> {
        let (pointer, index) = self.single_store(command)?;
        let access = HostAccess::WroteElement(index.clone());
        Some(Command::OnHost { pointer, access })
    }

    /// Returns the pointer and the index of such a store.
    fn single_store<'c>(&self, command: &'c Command) -> Option<(Variable, &'c Expression)> {
        let Command::Store { pointer, index, .. } = command else {
            return None;
        };
        let is_on_host = self.seen.get(pointer) == Some(&true) || self.locals.contains(pointer);
        let is_single = self.few.contains(pointer) && self.types.is_pointer(*pointer);
        (is_single && !self.in_loop && !is_on_host && !loads(index)).then_some((*pointer, index))
    }

    /// Adds commands to branches that start alike. Afterwards, what is known at the end of all of
    /// them is known.
    fn branches(&mut self, lists: Vec<&mut Vec<Command>>) {
        let before = self.seen.clone();
        let mut common: Option<Accesses> = None;
        for list in lists {
            self.seen = before.clone();
            deep(|| self.list(list));
            let left = std::mem::take(&mut self.seen);
            common = Some(match common {
                None => left,
                Some(mut known) => {
                    known.retain(|pointer, writes| match left.get(pointer) {
                        Some(other) => {
                            *writes &= *other;
                            true
                        }
                        None => false,
                    });
                    known
                }
            });
        }
        self.seen = common.unwrap_or(before);
    }

    fn launches(&self, commands: &[Command]) -> bool {
        let mut found = launches_itself(commands);
        each_command(commands, |command| {
            if let Command::Call { function, .. } = command {
                found |= self.launching.contains(function);
            }
        });
        found
    }

    /// Adds the commands that must stand before a command.
    fn before(&mut self, command: &Command, out: &mut Vec<Command>) {
        let mut needed = Accesses::new();
        let mut single = Elements::new();
        match command {
            // It goes to the device.
            command if is_kernel(command) => {}
            Command::For { body, .. } | Command::Loop { body, .. } => match self.launches(body) {
                true => single = elements(command),
                false => needed = from_outside(body),
            },
            others => {
                match self.single_store(others) {
                    Some(_) => {}
                    None => accesses(others, &mut needed),
                }
                single = elements(others);
            }
        }
        self.conditions(command, &mut needed);
        for (pointer, writes) in needed {
            let known = self.seen.get(&pointer).copied();
            let is_own = self.locals.contains(&pointer) || !self.types.is_pointer(pointer);
            if is_own || known.is_some_and(|known| known || !writes) {
                continue;
            }
            let ask = |access| Command::OnHost { pointer, access };
            match (writes, single.remove(&pointer).flatten()) {
                (false, Some(indices)) => {
                    out.extend(indices.into_iter().map(HostAccess::ReadsElement).map(ask));
                }
                (false, None) => {
                    out.push(ask(HostAccess::Reads));
                    self.seen.insert(pointer, false);
                }
                (true, _) => {
                    out.push(ask(HostAccess::Writes));
                    self.seen.insert(pointer, true);
                }
            }
        }
    }

    /// Adds what the expressions of a command itself read.
    fn conditions(&self, command: &Command, needed: &mut Accesses) {
        if matches!(command, Command::Copy { .. }) {
            return;
        }
        uses(command, &mut |variable, used| {
            if used == Use::Read {
                needed.entry(variable).or_default();
            }
        });
    }

    /// Updates what is known after a command.
    fn after(&mut self, command: &Command) {
        match command {
            Command::Declare {
                variable,
                value: Some(value),
            }
            | Command::Assign { variable, value } => {
                let of_root = root(value).and_then(|root| self.seen.get(&root).copied());
                let local = root(value).is_some_and(|root| self.locals.contains(&root));
                match of_root {
                    Some(writes) => self.seen.insert(*variable, writes),
                    None => self.seen.remove(variable),
                };
                if local {
                    self.locals.insert(*variable);
                }
            }
            others => each_assigned(others, &mut |variable| {
                self.seen.remove(&variable);
            }),
        }
    }

    /// Forgets what a loop assigns, since the next iteration sees that.
    fn forget_assigned(&mut self, body: &[Command]) {
        for variable in assigned(body).into_keys() {
            self.seen.remove(&variable);
        }
    }
}

/// Returns the pointers through which commands store few elements, of arrays that they have not
/// allocated: the device has no elements of a new array.
fn stored_seldom(commands: &[Command]) -> BTreeSet<Variable> {
    let mut stores: BTreeMap<Variable, u32> = BTreeMap::new();
    for command in commands {
        match command {
            Command::Store { pointer, .. } => *stores.entry(*pointer).or_default() += 1,
            Command::Allocate { pointer, .. } => {
                stores.insert(*pointer, DEVICE.single_transfers + 1);
            }
            _others => {}
        }
    }
    stores.retain(|_, count| *count <= DEVICE.single_transfers);
    stores.into_keys().collect()
}

/// True if an expression reads memory.
fn loads(expression: &Expression) -> bool {
    let is_load = matches!(expression, Expression::Load { .. });
    is_load
        || expression
            .children()
            .into_iter()
            .any(|child| deep(|| loads(child)))
}

/// Returns the variables that commands declare or assign, with the number of times.
fn assigned(commands: &[Command]) -> BTreeMap<Variable, u32> {
    let mut found = BTreeMap::new();
    each_command(commands, |command| {
        each_assigned(command, &mut |variable| {
            *found.entry(variable).or_insert(0) += 1
        });
    });
    found
}

/// Returns the arrays that a loop accesses through pointers from outside it, or through pointers
/// that it computes from them.
fn from_outside(body: &[Command]) -> Accesses {
    let mut inner = Accesses::new();
    let mut bases: BTreeMap<Variable, Option<Variable>> = BTreeMap::new();
    each_command(body, |command| {
        accesses(command, &mut inner);
        uses(command, &mut |variable, used| {
            if used == Use::Read {
                inner.entry(variable).or_default();
            }
        });
        if let Command::Declare {
            variable,
            value: Some(value),
        } = command
        {
            bases.insert(*variable, root(value));
        }
    });
    let changed = assigned(body);
    let mut found = Accesses::new();
    for (pointer, writes) in inner {
        let mut at = Some(pointer);
        let mut steps = bases.len() + 1;
        while let Some(variable) = at {
            match (changed.get(&variable), bases.get(&variable)) {
                (None, _) => {
                    *found.entry(variable).or_default() |= writes;
                    at = None;
                }
                (Some(1), Some(further)) if steps > 0 => at = *further,
                _ => at = None,
            }
            steps = steps.saturating_sub(1);
        }
    }
    found
}

/// Adds the pointers through which a command itself accesses memory, other than in its expressions.
fn accesses(command: &Command, needed: &mut Accesses) {
    match command {
        Command::Store { pointer, .. }
        | Command::Contend { pointer, .. }
        | Command::TreeReduce { pointer, .. } => {
            needed.insert(*pointer, true);
        }
        // The runtime copies where the elements are.
        Command::Copy { .. } => {}
        Command::Foreign { arguments, .. } => passed(arguments, needed),
        Command::Trace { components, .. } => passed(components, needed),
        others => uses(others, &mut |variable, used| match used {
            Use::Read => {
                needed.entry(variable).or_default();
            }
            Use::Written => {
                needed.insert(variable, true);
            }
            Use::Value => {}
        }),
    }
}

/// Adds arrays that are passed to other code, which reads them.
fn passed(values: &[Expression], needed: &mut Accesses) {
    for value in values {
        if let Some(pointer) = root(value) {
            needed.entry(pointer).or_default();
        }
    }
}
