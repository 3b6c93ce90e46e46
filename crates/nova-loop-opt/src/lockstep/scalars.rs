//! Arrays of lanes that a single loop over lanes uses: they become scalars of that loop.

use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Program, Type, Variable};
use nova_loop::walk;
use std::collections::{BTreeMap, BTreeSet};

/// Replaces arrays by scalars where the same loop over lanes first writes and then reads them, and no other
/// command uses them. Returns the arrays that are left and used.
pub(super) fn settle(
    program: &mut Program,
    commands: &mut [Command],
    lanes: &BTreeSet<Variable>,
    arrays: Vec<Variable>,
) -> Vec<Variable> {
    let candidates: BTreeSet<Variable> = arrays.iter().copied().collect();
    let mut users: BTreeMap<Variable, BTreeSet<Variable>> = BTreeMap::new();
    walk::each_command(commands, |command| {
        if let Command::For { variable, body, .. } = command
            && lanes.contains(variable)
        {
            walk::each_command(body, |inner| {
                walk::each_mentioned(inner, &mut |v| {
                    if candidates.contains(&v) {
                        users.entry(v).or_default().insert(*variable);
                    }
                });
            });
        }
    });
    let mut outside = BTreeSet::new();
    outside_of_lanes(commands, lanes, &mut |v| {
        outside.insert(v);
    });
    let alone: BTreeSet<Variable> = users
        .iter()
        .filter(|(array, loops)| loops.len() == 1 && !outside.contains(*array))
        .map(|(array, _)| *array)
        .collect();
    let mut scalars = BTreeMap::new();
    each_lane_loop(commands, lanes, &mut |body| {
        settle_loop(program, body, &alone, &mut scalars);
    });
    let mut left = arrays;
    left.retain(|array| users.contains_key(array) && !scalars.contains_key(array));
    left
}

/// Visits the variables that commands mention outside of the loops over lanes.
fn outside_of_lanes(
    commands: &[Command],
    lanes: &BTreeSet<Variable>,
    visit: &mut impl FnMut(Variable),
) {
    for command in commands {
        if matches!(command, Command::For { variable, .. } if lanes.contains(variable)) {
            continue;
        }
        walk::each_mentioned(command, visit);
        for list in command.lists() {
            deep(|| outside_of_lanes(list, lanes, visit));
        }
    }
}

fn each_lane_loop(
    commands: &mut [Command],
    lanes: &BTreeSet<Variable>,
    visit: &mut impl FnMut(&mut Vec<Command>),
) {
    for command in commands {
        if let Command::For { variable, body, .. } = command
            && lanes.contains(variable)
        {
            visit(body);
            continue;
        }
        for list in command.lists_mut() {
            deep(|| each_lane_loop(list, lanes, visit));
        }
    }
}

/// Replaces the arrays of a loop over lanes whose first use is a store.
fn settle_loop(
    program: &mut Program,
    body: &mut [Command],
    alone: &BTreeSet<Variable>,
    scalars: &mut BTreeMap<Variable, Variable>,
) {
    let mut seen = BTreeSet::new();
    let mut own: BTreeMap<Variable, Variable> = BTreeMap::new();
    for command in body {
        replace_loads(command, &own);
        if let Command::Store { pointer, value, .. } = command
            && alone.contains(pointer)
        {
            let pointer = *pointer;
            let reads_itself = mentions(value, pointer);
            let value = std::mem::replace(value, Expression::NullBlock);
            if let Some(scalar) = own.get(&pointer) {
                *command = Command::Assign {
                    variable: *scalar,
                    value,
                };
                continue;
            }
            if !seen.contains(&pointer) && !reads_itself {
                let info = program.variable(pointer).clone();
                if let Type::Pointer(scalar) = info.ty {
                    let scalar = program.add_variable(info.name, Type::Scalar(scalar));
                    own.insert(pointer, scalar);
                    scalars.insert(pointer, scalar);
                    *command = Command::declare(scalar, value);
                    continue;
                }
            }
            if let Command::Store { value: slot, .. } = command {
                *slot = value;
            }
        }
        walk::each_command(std::slice::from_ref(command), |inner| {
            walk::each_mentioned(inner, &mut |v| {
                seen.insert(v);
            });
        });
    }
}

fn mentions(expression: &Expression, pointer: Variable) -> bool {
    let mut found = false;
    expression.each_variable(&mut |v| found |= v == pointer);
    found
}

/// Replaces the elements of arrays that have become scalars, at any nesting depth.
fn replace_loads(command: &mut Command, scalars: &BTreeMap<Variable, Variable>) {
    walk::reads_mut(command, &mut |e| replace(e, scalars));
    for list in command.lists_mut() {
        for command in list {
            deep(|| replace_loads(command, scalars));
        }
    }
}

fn replace(expression: &mut Expression, scalars: &BTreeMap<Variable, Variable>) {
    if let Expression::Load { pointer, .. } = expression
        && let Expression::Variable(pointer) = &**pointer
        && let Some(scalar) = scalars.get(pointer)
    {
        *expression = Expression::Variable(*scalar);
        return;
    }
    for child in expression.children_mut() {
        deep(|| replace(child, scalars));
    }
}
