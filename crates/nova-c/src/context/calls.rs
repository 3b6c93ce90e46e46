//! The graph of calls of a program of Loop.

use nova_c_ast::ast::Name;
use nova_loop::ir::{
    Command, FunctionId, Program, bulk_commands, errors, jumps, remarks, structures,
    variable_commands,
};
use nova_loop::result_buffer_commands;
use nova_loop::walk::each_command;
use std::collections::BTreeSet;

/// The C name of a function of Loop, and facts for its calls.
#[derive(Clone, Debug)]
pub struct FunctionInfo {
    /// Its name.
    pub name: Name,
    /// True if its first parameter is the context.
    pub context: bool,
}

/// For each function, whether it needs the context: functions that may fail, manage memory or use
/// nodes, and their callers.
pub(crate) fn need_context(program: &Program) -> Vec<bool> {
    let nodes = program.sums.iter().any(|sum| sum.is_recursive());
    let mut needed = vec![nodes; program.functions.len()];
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); program.functions.len()];
    let mut left = Vec::new();
    for (k, function) in program.functions.iter().enumerate() {
        let mut own = function.recursive;
        each_command(&function.body, |command| match command {
            Command::Call { function, .. } => callers[function.0 as usize].push(k),
            Command::Allocate { .. }
            | Command::Reserve { .. }
            | Command::Unique { .. }
            | result_buffer_commands!()
            | Command::Release(_)
            | Command::Foreign { .. }
            | Command::NodeNew { .. }
            | Command::NodePayload { .. }
            | Command::Table(_)
            | Command::Trace { .. }
            | errors!() => own = true,
            Command::For { level, .. } if level.starts_kernel() => own = true,
            Command::OnHost { .. } => own = true,
            Command::Store { .. }
            | Command::Contend { .. }
            | bulk_commands!()
            | Command::Retain(_)
            | variable_commands!()
            | structures!()
            | jumps!()
            | remarks!() => {}
        });
        if own && !needed[k] {
            needed[k] = true;
            left.push(k);
        }
    }
    while let Some(callee) = left.pop() {
        for caller in std::mem::take(&mut callers[callee]) {
            if !needed[caller] {
                needed[caller] = true;
                left.push(caller);
            }
        }
    }
    needed
}

/// Returns the functions that the entries reach, callees before their callers where there is no cycle.
/// With `kernels`, only those that the host calls.
pub fn reachable(program: &Program, kernels: bool) -> Vec<FunctionId> {
    let mut search = Search {
        kernels,
        ..Search::default()
    };
    for entry in &program.entries {
        search.visit(program, entry.function);
    }
    search.order
}

/// Returns the functions that one function reaches.
pub fn reachable_from(program: &Program, function: FunctionId) -> Vec<FunctionId> {
    let mut search = Search::default();
    search.visit(program, function);
    search.order
}

/// A search of the graph of calls.
#[derive(Default)]
struct Search {
    /// True if calls inside of kernels are left out.
    kernels: bool,
    seen: BTreeSet<FunctionId>,
    order: Vec<FunctionId>,
}

impl Search {
    fn visit(&mut self, program: &Program, start: FunctionId) {
        // Functions, each with its callees that are still to be visited; the next callee is the last
        // one.
        let mut stack: Vec<(FunctionId, Vec<FunctionId>)> = Vec::new();
        if self.seen.insert(start) {
            stack.push((start, callees(program, start, self.kernels)));
        }
        while let Some((id, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(callee) if self.seen.insert(callee) => {
                    stack.push((callee, callees(program, callee, self.kernels)));
                }
                Some(_) => {}
                None => {
                    self.order.push(*id);
                    stack.pop();
                }
            }
        }
    }
}

fn callees(program: &Program, id: FunctionId, kernels: bool) -> Vec<FunctionId> {
    let mut list = Vec::new();
    let function = program.functions.get(id.0 as usize);
    let mut left: Vec<&[Command]> = function.iter().map(|f| &*f.body).collect();
    while let Some(commands) = left.pop() {
        for command in commands {
            match command {
                Command::Call { function, .. } => list.push(*function),
                Command::For { level, .. } if kernels && level.starts_kernel() => {}
                others => left.extend(others.lists().into_iter().map(Vec::as_slice)),
            }
        }
    }
    list.sort();
    list.dedup();
    list.reverse();
    list
}
