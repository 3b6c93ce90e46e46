//! Where the host reads and writes arrays that may be on a device: a command before it says so
//! (`OnHost`), and the runtime copies what has to be copied.
//!
//! Every kernel may leave the current elements of an array on the device. So before the first access
//! through a pointer behind a kernel, or behind a call that may run one, stands a command for that
//! pointer; before loops that run no kernels it stands once, where the loop reads and writes through
//! pointers from around it. A command that reads few elements, at indices that are known before it, asks
//! for these alone. Arrays on the stack of a function never leave the host. What copies whole
//! arrays (`Copy`, `Reserve`, `Unique`) is left to the runtime, which copies where the elements are. Where
//! the host stores a few elements, it says so behind each, and the runtime brings these to the device if the
//! array is there.

mod elements;

use crate::ir::{Command, Expression, FunctionId, HostAccess, Program, Variable};
use crate::parallel_regions::functions_with;
use crate::uses::{Use, uses};
use crate::walk::{each_command, writes};
use elements::{Elements, elements};
use nova_diag::deep;
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

/// True if commands run a kernel, calls left out.
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
    types: &'a crate::kernels::Types,
    /// Pointers to arrays on the stack.
    locals: BTreeSet<Variable>,
    /// Pointers to arrays whose elements the host has, and whether it may write them.
    seen: BTreeMap<Variable, bool>,
    /// Pointers through which the list at hand stores few elements, of arrays that it has not made.
    few: BTreeSet<Variable>,
    /// True if a loop that runs no kernels is around, whose rounds may be many.
    in_loop: bool,
}

/// Through how many stores of a list the elements of an array are brought to the device one by one.
const FEW_STORES: u32 = 4;

/// Which pointers are gone through, and whether to write.
type Accesses = BTreeMap<Variable, bool>;

impl Placing<'_> {
    fn list(&mut self, commands: &mut Vec<Command>) {
        let mut out = Vec::with_capacity(commands.len());
        let around = std::mem::replace(&mut self.few, stored_seldom(commands));
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
                    let around = self.seen.clone();
                    let in_loop = std::mem::replace(&mut self.in_loop, !launches);
                    deep(|| self.list(body));
                    self.in_loop = in_loop;
                    self.seen = if launches { BTreeMap::new() } else { around };
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
        self.few = around;
        *commands = out;
    }

    /// What is said behind a store of a single element of an array that may be on the device.
    fn wrote(&self, command: &Command) -> Option<Command> {
        let (pointer, index) = self.single_store(command)?;
        let access = HostAccess::WroteElement(index.clone());
        Some(Command::OnHost { pointer, access })
    }

    /// The pointer and the index of such a store.
    fn single_store<'c>(&self, command: &'c Command) -> Option<(Variable, &'c Expression)> {
        let Command::Store { pointer, index, .. } = command else {
            return None;
        };
        let is_on_host = self.seen.get(pointer) == Some(&true) || self.locals.contains(pointer);
        let is_single = self.few.contains(pointer) && self.types.is_pointer(*pointer);
        (is_single && !self.in_loop && !is_on_host && !loads(index)).then_some((*pointer, index))
    }

    /// Branches that start alike; what all of them leave is known behind them.
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

    /// Writes what must stand before a command.
    fn before(&mut self, command: &Command, out: &mut Vec<Command>) {
        let mut needed = Accesses::new();
        let mut single = Elements::new();
        match command {
            // It goes to the device.
            command if is_kernel(command) => {}
            Command::For { body, .. } | Command::Loop { body, .. } => match self.launches(body) {
                true => single = elements(command),
                false => needed = from_around(body),
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

    /// What the expressions of a command itself read.
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

    /// What a command changes about what is known.
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
            Command::Store { .. }
            | Command::Contend { .. }
            | Command::OnHost { .. }
            | Command::Prefetch { .. } => {}
            others => writes(others, &mut |variable| {
                self.seen.remove(&variable);
            }),
        }
    }

    /// Forgets what a loop assigns, which its next round sees.
    fn forget_assigned(&mut self, body: &[Command]) {
        for variable in assigned(body) {
            self.seen.remove(&variable);
        }
    }
}

/// The pointers through which commands store few elements, of arrays that they have not made: of a new
/// one the device has no elements.
fn stored_seldom(commands: &[Command]) -> BTreeSet<Variable> {
    let mut stores: BTreeMap<Variable, u32> = BTreeMap::new();
    for command in commands {
        match command {
            Command::Store { pointer, .. } => *stores.entry(*pointer).or_default() += 1,
            Command::Allocate { pointer, .. } => {
                stores.insert(*pointer, FEW_STORES + 1);
            }
            _others => {}
        }
    }
    stores.retain(|_, count| *count <= FEW_STORES);
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

/// The pointer that an address lies behind.
fn root(address: &Expression) -> Option<Variable> {
    match address {
        Expression::Variable(variable) => Some(*variable),
        Expression::Offset { pointer, .. } => deep(|| root(pointer)),
        Expression::Constant(_)
        | Expression::Bytes(_)
        | Expression::Data(..)
        | Expression::Scalar { .. }
        | Expression::Select { .. }
        | Expression::Load { .. }
        | Expression::NullPointer(_)
        | Expression::NullBlock
        | Expression::NodeTag { .. } => None,
    }
}

/// The variables that commands declare or assign.
fn assigned(commands: &[Command]) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    each_command(commands, |command| match command {
        Command::Store { .. }
        | Command::Contend { .. }
        | Command::TreeReduce { .. }
        | Command::Prefetch { .. } => {}
        others => writes(others, &mut |variable| {
            found.insert(variable);
        }),
    });
    found
}

/// The arrays that a loop goes through by pointers from around it, or by pointers that it declares
/// behind such ones.
fn from_around(body: &[Command]) -> Accesses {
    let mut inner = Accesses::new();
    let mut behind: BTreeMap<Variable, Option<Variable>> = BTreeMap::new();
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
            behind.insert(*variable, root(value));
        }
    });
    let mut changed = BTreeMap::new();
    each_command(body, |command| match command {
        Command::Store { .. }
        | Command::Contend { .. }
        | Command::TreeReduce { .. }
        | Command::Prefetch { .. } => {}
        others => writes(others, &mut |variable| {
            *changed.entry(variable).or_insert(0u32) += 1;
        }),
    });
    let mut found = Accesses::new();
    for (pointer, writes) in inner {
        let mut at = Some(pointer);
        let mut steps = behind.len() + 1;
        while let Some(variable) = at {
            match (changed.get(&variable), behind.get(&variable)) {
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

/// The pointers that a command itself goes through, other than in its expressions.
fn accesses(command: &Command, needed: &mut Accesses) {
    match command {
        Command::Store { pointer, .. }
        | Command::Contend { pointer, .. }
        | Command::TreeReduce { pointer, .. } => {
            needed.insert(*pointer, true);
        }
        // The runtime copies where elements are.
        Command::Copy { .. } => {}
        Command::Foreign { arguments, .. } => handed(arguments, needed),
        Command::Trace { components, .. } => handed(components, needed),
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

/// Arrays that others read.
fn handed(values: &[Expression], needed: &mut Accesses) {
    for value in values {
        if let Some(pointer) = root(value) {
            needed.entry(pointer).or_default();
        }
    }
}
