//! Tests whether the loops of a compiled program run as its strategies demand: as one work-group or
//! one thread for each iteration. [`crate::strategies`] checks earlier how strategies are nested.
//! This module finds the failures that only the compiled program shows, so that no strategy is
//! dropped silently.

use nova_core::strategy::Level as Asked;
use nova_diag::{Place, deep};
use nova_flat::ir as flat;
use nova_flat::visit::each_statement;
use nova_kernels::obstacles::{self, Obstacle};
use nova_loop::ir::{Command, FunctionId, Level, Program};
use nova_loop::kernels::Types;
use nova_machine::Machine;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A loop that does not run as the program demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The threads that should run its iterations.
    pub level: Asked,
    /// The operation in the source.
    pub place: Place,
    /// The reason why they do not, as a sentence without its end.
    pub why: &'static str,
}

/// Returns the operations that carry a strategy of the program, by their first index. These are the
/// ones that have strategies before the compiler gives its own to other operations.
pub(crate) fn asked(program: &flat::Program) -> BTreeSet<flat::Variable> {
    let mut found = BTreeSet::new();
    for function in &program.functions {
        each_statement(&function.body, &mut |statement| {
            if let flat::Expression::Operation(operation) = &statement.expression
                && operation.is_marked()
            {
                found.extend(operation.indices.first());
            }
        });
    }
    found
}

/// Returns the loops of these operations that do not run as they should, the outermost of each
/// nest. Each place occurs once.
pub(crate) fn dropped(
    program: &Program,
    asked: &BTreeSet<flat::Variable>,
    machine: Machine,
) -> Vec<Dropped> {
    if asked.is_empty() {
        return Vec::new();
    }
    let with_call_stack = BTreeSet::new();
    let mut search = Search {
        program,
        asked,
        machine,
        types: program.clone_types(),
        host: obstacles::functions_for_the_host(program, &with_call_stack),
        found: Vec::new(),
    };
    for function in &program.functions {
        search.list(&function.body);
    }
    search.found
}

/// A call of a device function in code of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stranded {
    /// The function.
    pub name: Arc<str>,
    /// The call in the source.
    pub place: Place,
}

/// Returns the calls of device functions that the host would have to make, since the code around
/// them cannot be a kernel.
pub(crate) fn stranded(program: &Program, machine: Machine) -> Vec<Stranded> {
    let mut found = Vec::new();
    if machine == Machine::Processor || program.foreigns.is_empty() {
        return found;
    }
    let mut seen: BTreeSet<FunctionId> = BTreeSet::new();
    let mut work: Vec<FunctionId> = program.entries.iter().map(|e| e.function).collect();
    while let Some(id) = work.pop() {
        if let (true, Some(function)) = (seen.insert(id), program.functions.get(id.index())) {
            of_host(program, &function.body, &mut found, &mut work);
        }
    }
    found
}

fn of_host(
    program: &Program,
    commands: &[Command],
    found: &mut Vec<Stranded>,
    called: &mut Vec<FunctionId>,
) {
    for command in commands {
        match command {
            Command::For { level, .. } if level.starts_kernel() => continue,
            Command::Call { function, .. } => called.push(*function),
            Command::Foreign { foreign, place, .. } if program.is_of_device(*foreign) => {
                let known = program.foreigns.get(*foreign as usize);
                found.extend(known.map(|known| Stranded {
                    name: known.name.clone(),
                    place: place.clone(),
                }));
            }
            _ => {}
        }
        for list in command.lists() {
            deep(|| of_host(program, list, found, called));
        }
    }
}

struct Search<'a> {
    program: &'a Program,
    asked: &'a BTreeSet<flat::Variable>,
    machine: Machine,
    types: Types,
    /// The functions that no kernel can call.
    host: BTreeSet<FunctionId>,
    found: Vec<Dropped>,
}

impl Search<'_> {
    fn list(&mut self, commands: &[Command]) {
        for command in commands {
            if let Some(dropped) = self.dropped(command) {
                if !self.found.contains(&dropped) {
                    self.found.push(dropped);
                }
                continue;
            }
            for list in command.lists() {
                deep(|| self.list(list));
            }
        }
    }

    /// Returns the loop of this command if it does not run as the program demands.
    fn dropped(&self, command: &Command) -> Option<Dropped> {
        let Command::For {
            variable,
            level,
            body,
            place,
            ..
        } = command
        else {
            return None;
        };
        let strategy = self.program.strategies.get(variable)?;
        let wanted = match (strategy.level, self.machine) {
            (Asked::Global, _) | (Asked::Workgroup, Machine::Processor) => Level::Grid,
            (Asked::Workgroup, Machine::Device) => Level::Block,
            (Asked::Local, Machine::Device) => Level::Thread,
            (Asked::Local, Machine::Processor) | (Asked::Sequential, _) => return None,
        };
        if *level == wanted || !self.asked.contains(&strategy.index) {
            return None;
        }
        Some(Dropped {
            level: strategy.level,
            place: place.clone(),
            why: self.reason(body, strategy.has_rows),
        })
    }

    /// Returns the reason why a loop with this body does not run as it should.
    fn reason(&self, body: &[Command], has_rows: bool) -> &'static str {
        match self.machine {
            Machine::Processor => {
                "it writes traces, calls foreign functions with effects or recursive data, makes \
                 nodes that hold vectors or takes these from nodes, which only one thread does"
            }
            Machine::Device => match obstacles::obstacle(&self.types, &self.host, body) {
                Some(Obstacle::Nodes) => "it makes nodes of recursive data that hold vectors",
                Some(Obstacle::Tables) => {
                    "it numbers or makes nodes of whole tables, which only the host does"
                }
                Some(Obstacle::Foreign) => {
                    "it calls a foreign function of the host; one of the device is declared as \
                     `(device name : Type)`"
                }
                Some(Obstacle::Trace) => "it writes traces, and devices have none",
                Some(Obstacle::Call) => {
                    "it calls a function that recurses, or does what only the host can"
                }
                Some(Obstacle::Text) => "it reads constant text, which only the host has",
                Some(Obstacle::Result | Obstacle::ResultBuffers | Obstacle::Processor) => {
                    "it does what only the host can"
                }
                None if has_rows => "it makes rows whose lengths are known only inside",
                None if obstacles::appends_nodes(body) => {
                    "it makes nodes of recursive data, and work-groups cannot"
                }
                None => {
                    "a group has no memory for what is made inside: the size of a vector differs \
                     from round to round, or is known only inside"
                }
            },
        }
    }
}
