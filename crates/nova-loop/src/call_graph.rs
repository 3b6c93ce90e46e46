//! The calls between the functions of a program.

use crate::ir::{Command, Function, FunctionId, Level, Program};
use crate::walk::each_command;
use nova_core::SumId;
use nova_diag::deep;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the functions that commands call, directly or indirectly, callees before their callers.
pub fn called(program: &Program, commands: &[Command]) -> Vec<FunctionId> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    calls_of(program, commands, &mut seen, &mut found);
    found
}

fn calls_of(
    program: &Program,
    commands: &[Command],
    seen: &mut BTreeSet<FunctionId>,
    found: &mut Vec<FunctionId>,
) {
    each_command(commands, |command| {
        if let Command::Call { function, .. } = command
            && seen.insert(*function)
        {
            if let Some(callee) = program.functions.get(function.index()) {
                deep(|| calls_of(program, &callee.body, seen, found));
            }
            found.push(*function);
        }
    });
}

/// Returns the functions that satisfy a condition, and all functions that call one of them,
/// directly or indirectly.
pub fn functions_with(
    program: &Program,
    holds: &dyn Fn(&Function) -> bool,
) -> BTreeSet<FunctionId> {
    let mut callers = vec![Vec::new(); program.functions.len()];
    let mut left = Vec::new();
    for (k, function) in program.functions.iter().enumerate() {
        let caller = FunctionId(k as u32);
        each_command(&function.body, |command| {
            if let Command::Call { function, .. } = command
                && let Some(callers) = callers.get_mut(function.index())
            {
                callers.push(caller);
            }
        });
        if holds(function) {
            left.push(caller);
        }
    }
    let mut found = BTreeSet::new();
    while let Some(function) = left.pop() {
        if found.insert(function)
            && let Some(callers) = callers.get(function.index())
        {
            left.extend(callers);
        }
    }
    found
}

/// Returns the sums of which loops of a grid make nodes, themselves or in the functions that they call. Tells
/// for each whether some of these nodes hold anything: there is one node for all that do not.
pub fn made_in_grids(program: &Program) -> BTreeMap<SumId, bool> {
    let mut found = BTreeMap::new();
    let mut see = |command: &Command| {
        if let Command::NodeNew { sum, payload, .. } = command {
            *found.entry(*sum).or_insert(false) |= !payload.is_empty();
        }
    };
    let mut functions = BTreeSet::new();
    for function in &program.functions {
        each_command(&function.body, |command| {
            if let Command::For {
                level: Level::Grid,
                body,
                ..
            } = command
            {
                each_command(body, &mut see);
                functions.extend(called(program, body));
            }
        });
    }
    for id in functions {
        if let Some(function) = program.functions.get(id.index()) {
            each_command(&function.body, &mut see);
        }
    }
    found
}
