//! Reads and writes of single commands, without those of the lists inside them.

use crate::ir::{
    Command, Expression, Level, Operand, OperandMut, Role, Variable, operands, operands_mut,
};
use crate::ordered_commands;
use nova_diag::deep;
use std::collections::BTreeSet;

/// Calls `see` for every command of a list, at any nesting depth.
pub fn each_command<'p>(commands: &'p [Command], mut see: impl FnMut(&'p Command)) {
    let mut left: Vec<&'p [Command]> = vec![commands];
    while let Some(commands) = left.pop() {
        for command in commands {
            see(command);
            left.extend(command.lists().into_iter().map(Vec::as_slice));
        }
    }
}

/// Sets the levels of all loops in a list of commands, outer loops first. `decide` receives its own result
/// for the enclosing loop (`enclosing` where there is none), and the index, level and body of a loop. It
/// returns the new level of the loop and the knowledge for the loops inside it.
pub fn set_levels<Known: Copy>(
    commands: &mut [Command],
    enclosing: Known,
    decide: &impl Fn(Known, Variable, Level, &[Command]) -> (Level, Known),
) {
    for command in commands {
        let mut within = enclosing;
        if let Command::For {
            variable,
            level,
            body,
            ..
        } = command
        {
            let decided;
            (decided, within) = decide(enclosing, *variable, *level, body);
            set_level(level, decided, body);
        }
        for list in command.lists_mut() {
            deep(|| set_levels(list, within, decide));
        }
    }
}

/// Sets the level of the loop with this body. The iterations of a loop of one thread run in order anyway,
/// so the bounds of its ordered region are removed.
pub fn set_level(level: &mut Level, decided: Level, body: &mut Vec<Command>) {
    *level = decided;
    if !decided.starts_kernel() {
        body.retain(|command| !matches!(command, ordered_commands!()));
    }
}

/// True if a loop with this body has an ordered region.
pub fn has_ordered_region(body: &[Command]) -> bool {
    body.iter()
        .any(|command| matches!(command, ordered_commands!()))
}

/// Calls `visit` on every expression that a command evaluates.
pub fn reads<'a>(command: &'a Command, visit: &mut dyn FnMut(&'a Expression)) {
    operands(command, &mut |operand| match operand {
        Operand::Expression(expression, _) | Operand::Address(expression, ..) => visit(expression),
        Operand::Optional(expression) => expression.iter().for_each(&mut *visit),
        Operand::Expressions(expressions) => expressions.iter().for_each(&mut *visit),
        _others => {}
    });
}

/// Calls `visit` on every expression that a command evaluates, to change it.
pub fn reads_mut<'a>(command: &'a mut Command, visit: &mut dyn FnMut(&'a mut Expression)) {
    operands_mut(command, &mut |operand| match operand {
        OperandMut::Expression(expression) => visit(expression),
        OperandMut::Variable(_) => {}
    });
}

/// Calls `visit` on every variable that a command names outside its expressions, with its role, or
/// without one if the command declares it.
pub fn names(command: &Command, visit: &mut dyn FnMut(Variable, Option<Role>)) {
    operands(command, &mut |operand| match operand {
        Operand::Declared(variable) | Operand::Counter(variable) => visit(*variable, None),
        Operand::Variable(variable, role) => visit(*variable, Some(role)),
        Operand::Variables(variables, role) => {
            variables.iter().for_each(|v| visit(*v, Some(role)));
        }
        _others => {}
    });
}

/// Calls `visit` on every variable that a command names outside its expressions: a variable that it
/// assigns, stores through, prefetches, copies to the host, retains or releases.
pub fn writes(command: &Command, visit: &mut dyn FnMut(Variable)) {
    names(command, &mut |variable, _| visit(variable));
}

/// Calls `visit` on every variable that a command names outside its expressions, to change it.
pub fn names_mut(command: &mut Command, visit: &mut dyn FnMut(&mut Variable)) {
    operands_mut(command, &mut |operand| match operand {
        OperandMut::Variable(variable) => visit(variable),
        OperandMut::Expression(_) => {}
    });
}

/// Calls `visit` on every variable that a command mentions, in its expressions or outside of them.
pub fn each_mentioned(command: &Command, visit: &mut dyn FnMut(Variable)) {
    names(command, &mut |variable, _| visit(variable));
    reads(command, &mut |expression| expression.each_variable(visit));
}

/// Returns the variables that the expressions of commands read, without those of inner lists.
pub fn read_variables(commands: &[Command]) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    for command in commands {
        reads(command, &mut |expression| {
            expression.each_variable(&mut |variable| {
                found.insert(variable);
            });
        });
    }
    found
}

/// Calls `visit` on the variables to which a command gives another value.
pub fn each_assigned(command: &Command, visit: &mut dyn FnMut(Variable)) {
    names(command, &mut |variable, role| match role {
        None | Some(Role::Assigned(_) | Role::Updated(_)) => visit(variable),
        Some(Role::Stored(..) | Role::Named(_)) => {}
    });
}

/// Returns the variables to which commands give a value, those that they declare included, at any nesting
/// depth.
pub fn assigned(commands: &[Command]) -> BTreeSet<Variable> {
    let mut found = BTreeSet::new();
    each_command(commands, |command| {
        each_assigned(command, &mut |variable| {
            found.insert(variable);
        });
    });
    found
}

/// True if a command itself may stop the program with an error: its text has the place that the error
/// reports. Calls fail where their functions do.
pub fn may_fail(command: &Command) -> bool {
    let mut fails = false;
    operands(command, &mut |operand| {
        fails |= matches!(operand, Operand::Place(_));
    });
    fails && command.lists().is_empty()
}
