//! A pass on Loop that decides a condition once before a loop instead of in each iteration (loop unswitching).
//!
//! ```text
//! for j in m { let t = x[i]; if t >= 0 { a[t * m + j] += y[j] } }
//! ```
//!
//! becomes
//!
//! ```text
//! if m > 0 { let t = x[i]; if t >= 0 { for j in m { a[t * m + j] += y[j] } } }
//! ```
//!
//! so that C compilers make vectors of the loop. The body of such a loop is declarations and one conditional without
//! another branch, so no code is copied. What the condition needs is declared before the loop, where that has an
//! iteration: the first one would compute it too.

use crate::strip_mining::memory::{Memory, reads_through_variables};
use nova_core::ScalarOperation;
use nova_diag::deep;
use nova_loop::calls;
use nova_loop::ir::{Command, Expression, Level, Program, Variable};
use nova_loop::uses::written;
use nova_loop::walk::{each_command, writes};
use nova_plan::{Choice, Plan};
use std::collections::BTreeSet;

/// Takes conditions out of the loops of a program.
pub fn run(program: &mut Program) {
    for number in 0..program.functions.len() {
        let memory = Memory::of(program, &program.functions[number]);
        let function = &mut program.functions[number];
        in_list(&memory, &program.plan, &mut function.body);
    }
}

/// Rewrites commands, inner loops first.
fn in_list(memory: &Memory, plan: &Plan, commands: &mut Vec<Command>) {
    for mut command in std::mem::take(commands) {
        for list in command.lists_mut() {
            deep(|| in_list(memory, plan, list));
        }
        let is_wanted = |command: &Command| match command {
            Command::For { place, .. } => plan.allows(place, Choice::Unswitch),
            _others => true,
        };
        match invariant_condition(memory, &command) {
            Some(before) if is_wanted(&command) => unswitch(command, &before, commands),
            Some(_) | None => commands.push(command),
        }
    }
}

/// Returns which variables of a loop's body are to be declared before it, so that its condition can stand there.
/// Returns nothing for other loops.
fn invariant_condition(memory: &Memory, command: &Command) -> Option<BTreeSet<Variable>> {
    let Command::For {
        variable,
        level: Level::Sequential | Level::Independent,
        body,
        ..
    } = command
    else {
        return None;
    };
    let Some((
        Command::If {
            condition,
            otherwise,
            ..
        },
        declarations,
    )) = body.split_last()
    else {
        return None;
    };
    if !otherwise.is_empty() {
        return None;
    }
    let mut changing = BTreeSet::from([*variable]);
    let (mut stored, mut is_known) = (BTreeSet::new(), true);
    each_command(body, |command| {
        writes(command, &mut |variable| {
            changing.insert(variable);
        });
        // A function may write what it is given.
        is_known &= !matches!(command, calls!());
        for pointer in written(command) {
            match pointer {
                Expression::Variable(pointer) => {
                    stored.insert(pointer);
                }
                _computed => is_known = false,
            }
        }
    });
    let is_apart = is_known && stored.iter().all(|pointer| memory.is_own(*pointer));
    let invariant = |changing: &BTreeSet<Variable>, expression: &Expression| {
        let mut found = true;
        expression.each_variable(&mut |variable| found &= !changing.contains(&variable));
        found && (!expression.reads_memory() || is_apart && reads_through_variables(expression))
    };
    let mut assigned = BTreeSet::new();
    if let Some(Command::If { then, .. }) = body.last() {
        each_command(then, |command| {
            writes(command, &mut |variable| {
                assigned.insert(variable);
            });
        });
    }
    let mut before = BTreeSet::new();
    for declaration in declarations {
        let Command::Declare { variable, value } = declaration else {
            return None;
        };
        if let Some(value) = value
            && !assigned.contains(variable)
            && invariant(&changing, value)
        {
            changing.remove(variable);
            before.insert(*variable);
        }
    }
    invariant(&changing, condition).then(|| needed(declarations, condition, &before))
}

/// Returns those of some declared variables that a condition needs.
fn needed(
    declarations: &[Command],
    condition: &Expression,
    among: &BTreeSet<Variable>,
) -> BTreeSet<Variable> {
    let mut needed = BTreeSet::new();
    let add = |expression: &Expression, needed: &mut BTreeSet<Variable>| {
        expression.each_variable(&mut |variable| {
            if among.contains(&variable) {
                needed.insert(variable);
            }
        });
    };
    add(condition, &mut needed);
    for declaration in declarations.iter().rev() {
        if let Command::Declare {
            variable,
            value: Some(value),
        } = declaration
            && needed.contains(variable)
        {
            add(value, &mut needed);
        }
    }
    needed
}

/// Writes a loop inside of its condition, with the declarations of some variables before it.
fn unswitch(command: Command, before: &BTreeSet<Variable>, made: &mut Vec<Command>) {
    let Command::For {
        variable,
        count,
        level,
        mut body,
        place,
    } = command
    else {
        return made.push(command);
    };
    let Some(Command::If {
        condition, then, ..
    }) = body.pop()
    else {
        return;
    };
    let is_before = |command: &Command| match command {
        Command::Declare { variable, .. } => before.contains(variable),
        _others => false,
    };
    let (mut commands, mut inside): (Vec<_>, Vec<_>) = body.into_iter().partition(is_before);
    inside.extend(then);
    let has_iterations = count
        .clone()
        .compare(ScalarOperation::Greater, Expression::index(0));
    commands.push(Command::If {
        condition,
        then: vec![Command::For {
            variable,
            count,
            level,
            body: inside,
            place,
        }],
        otherwise: Vec::new(),
    });
    match before.is_empty() {
        true => made.append(&mut commands),
        false => made.push(Command::If {
            condition: has_iterations,
            then: commands,
            otherwise: Vec::new(),
        }),
    }
}
