//! Reachability along calls. Functions that no entry reaches are removed. Functions that lead to
//! functions of a given kind are found.

use nova_flat::ir::{Expression, Function, FunctionId, Program};
use nova_flat::visit::{each_body_mut, each_statement};
use std::collections::BTreeSet;

/// Returns the functions for which a predicate holds, and all that call one of them, directly or
/// not.
pub fn functions_with(
    program: &Program,
    holds: &dyn Fn(&Function) -> bool,
) -> BTreeSet<FunctionId> {
    let mut callers = vec![Vec::new(); program.functions.len()];
    let mut left = Vec::new();
    for (k, function) in program.functions.iter().enumerate() {
        let caller = FunctionId(k as u32);
        each_statement(&function.body, &mut |statement| {
            if let Expression::Call { function, .. } = &statement.expression
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

/// Returns some functions, and all that these call, directly or not.
pub(crate) fn functions_called_by(
    program: &Program,
    callers: BTreeSet<FunctionId>,
) -> BTreeSet<FunctionId> {
    let mut left: Vec<FunctionId> = callers.iter().copied().collect();
    let mut found = callers;
    while let Some(caller) = left.pop() {
        each_statement(&program.function(caller).body, &mut |statement| {
            if let Expression::Call { function, .. } = &statement.expression
                && found.insert(*function)
            {
                left.push(*function);
            }
        });
    }
    found
}

/// Removes the functions that no entry calls, directly or not; the others keep their order.
pub(crate) fn drop_unreachable(program: &mut Program) {
    let count = program.functions.len();
    let mut reached = vec![false; count];
    let mut work: Vec<usize> = program
        .entries
        .iter()
        .map(|entry| entry.function.0 as usize)
        .collect();
    while let Some(k) = work.pop() {
        if std::mem::replace(&mut reached[k], true) {
            continue;
        }
        each_statement(&program.functions[k].body, &mut |statement| {
            if let Expression::Call { function, .. } = &statement.expression {
                work.push(function.0 as usize);
            }
        });
    }
    if reached.iter().all(|r| *r) {
        return;
    }
    let mut new = Vec::with_capacity(count);
    let mut next = 0;
    for kept in &reached {
        new.push(FunctionId(next));
        next += u32::from(*kept);
    }
    let mut kept = reached.iter();
    program
        .functions
        .retain(|_| kept.next().copied().unwrap_or(true));
    for entry in &mut program.entries {
        entry.function = new[entry.function.0 as usize];
    }
    for function in &mut program.functions {
        each_body_mut(&mut function.body, &mut |body| {
            for statement in &mut body.statements {
                if let Expression::Call { function, .. } = &mut statement.expression {
                    *function = new[function.0 as usize];
                }
            }
        });
    }
}
