//! Nests of loops whose inner loops have no iterations are left out as a whole.
//!
//! An array may have rows and no columns, and then no elements, however many rows there are. A loop
//! over the rows whose only work is that of loops over the columns would run for each row. Where the
//! numbers of the inner iterations do not depend on the row, they are asked before the loop:
//!
//! ```text
//! if m > 0 {
//!   for i in n { for j in m { … } }
//! }
//! ```
//!
//! A loop that never does anything is left out.

use crate::ir::{Command, Expression, Level, Program, Variable};
use crate::ir::{calls, errors, jumps, memory_commands};
use crate::ordered_commands;
use crate::walk::{each_command, writes};
use nova_core::ScalarOperation;
use nova_diag::deep;
use std::collections::BTreeSet;

/// A loop whose condition would compare more than this runs: the condition costs more than it saves.
const MOST: usize = 4;

/// Any of these, where each is a list of what must hold together.
type Any = Vec<Vec<Expression>>;

/// Puts nests that may be empty under conditions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        in_list(&mut function.body, &[]);
    }
}

/// Works on commands that run only where all of `known` holds.
fn in_list(commands: &mut Vec<Command>, known: &[Expression]) {
    commands.retain(|command| condition(command).is_none_or(|any| !any.is_empty()));
    for command in commands {
        let condition = condition(command).and_then(|any| without(any, known));
        let mut inside = known.to_vec();
        if let Some([all]) = condition.as_deref() {
            inside.extend(all.iter().cloned());
        }
        for list in command.lists_mut() {
            deep(|| in_list(list, &inside));
        }
        let all = condition.into_iter().flatten();
        let each = all.filter_map(|all| all.into_iter().reduce(Expression::and));
        if let Some(condition) = each.reduce(Expression::or) {
            let nest = std::mem::replace(command, Command::Comment("".into()));
            *command = Command::If {
                condition,
                then: vec![nest],
                otherwise: Vec::new(),
            };
        }
    }
}

/// A condition without what is known; `None` if nothing is left to ask.
fn without(mut any: Any, known: &[Expression]) -> Option<Any> {
    for all in &mut any {
        all.retain(|each| !known.contains(each));
    }
    any.iter().all(|all| !all.is_empty()).then_some(any)
}

/// What must hold for a loop to do anything, if that is known before it and not certain; empty where it
/// never does. The threads of a group do their loops together, so theirs are left alone.
fn condition(command: &Command) -> Option<Any> {
    let Command::For {
        variable,
        level,
        body,
        ..
    } = command
    else {
        return None;
    };
    if matches!(level, Level::Thread | Level::WrittenOut) {
        return None;
    }
    let mut changing = BTreeSet::from([*variable]);
    each_command(body, |command| {
        writes(command, &mut |v| {
            changing.insert(v);
        });
    });
    let any = of_list(body, &changing)?;
    (any.iter().map(Vec::len).sum::<usize>() <= MOST).then_some(any)
}

/// What decides whether commands do anything. `None` where they always may.
fn of_list(body: &[Command], changing: &BTreeSet<Variable>) -> Option<Any> {
    let fixed = |expression: &Expression| {
        let mut fixed = !expression.reads_memory();
        expression.each_variable(&mut |v| fixed &= !changing.contains(&v));
        fixed
    };
    let mut declared = BTreeSet::new();
    let mut any = Any::new();
    for command in body {
        let (own, inner) = match command {
            Command::Declare { variable, .. } => {
                declared.insert(*variable);
                continue;
            }
            Command::Assign { variable, .. } if declared.contains(variable) => continue,
            Command::Comment(_) | Command::Local { .. } => continue,
            Command::For {
                count, level, body, ..
            } if *level != Level::Thread => match count.as_index() {
                Some(1..) => (None, body),
                Some(_) => continue,
                None => {
                    let zero = Expression::index(0);
                    let some = || count.clone().compare(ScalarOperation::Greater, zero);
                    (fixed(count).then(some), body)
                }
            },
            Command::If {
                condition,
                then,
                otherwise,
            } if otherwise.is_empty() => (fixed(condition).then(|| condition.clone()), then),
            Command::For { .. }
            | Command::If { .. }
            | Command::Assign { .. }
            | Command::Shared { .. }
            | Command::Spare { .. }
            | Command::Switch { .. }
            | Command::Loop { .. }
            | memory_commands!()
            | jumps!()
            | errors!()
            | calls!()
            | ordered_commands!()
            | Command::Barrier(_)
            | Command::StoreFence
            | Command::Prefetch { .. }
            | Command::OnHost { .. } => return None,
        };
        let inner = deep(|| of_list(inner, changing)).unwrap_or_else(|| vec![Vec::new()]);
        for mut all in inner {
            all.extend(own.clone().filter(|own| !all.contains(own)));
            if all.is_empty() {
                return None;
            }
            any.push(all);
        }
    }
    Some(any)
}
