//! A pass on Loop that skips whole nests of loops whose inner loops have no iterations.
//!
//! An array may have rows but no columns, and so no elements, however many rows there are. A loop over
//! the rows that only contains loops over the columns would still run for each row. If the numbers of
//! inner iterations do not depend on the row, they are tested before the loop:
//!
//! ```text
//! if m > 0 {
//!   for i in n { for j in m { … } }
//! }
//! ```
//!
//! A loop that never does anything is removed.

use crate::limits::COMPARISONS_OF_A_CONDITION;
use nova_core::ScalarOperation;
use nova_diag::deep;
use nova_loop::ir::{Command, Expression, Level, Program, Variable};
use nova_loop::walk::{each_command, writes};
use std::collections::BTreeSet;

/// A disjunction of conjunctions.
type Any = Vec<Vec<Expression>>;

/// Puts conditions around nests that may be empty.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        in_list(&mut function.body, &[]);
    }
}

/// Rewrites commands that run only if all of `known` holds.
fn in_list(commands: &mut Vec<Command>, known: &[Expression]) {
    commands.retain(|command| condition(command).is_none_or(|any| !any.is_empty()));
    for command in commands {
        let condition = condition(command).and_then(|any| without(any, known));
        let mut inside = known.to_vec();
        if let Some([all]) = condition.as_deref() {
            inside.extend(all.iter().cloned());
        }
        let branch = match &*command {
            Command::If { condition, .. } => Some(condition.clone()),
            _others => None,
        };
        for (number, list) in command.lists_mut().into_iter().enumerate() {
            let mut holding = inside.clone();
            holding.extend(branch.clone().filter(|_| number == 0));
            deep(|| in_list(list, &holding));
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

/// Removes from a condition what is known. Returns `None` if nothing is left to test.
fn without(mut any: Any, known: &[Expression]) -> Option<Any> {
    for all in &mut any {
        all.retain(|each| !known.contains(each));
    }
    any.iter().all(|all| !all.is_empty()).then_some(any)
}

/// Returns the condition under which a loop does anything, if it can be tested before the loop and is not
/// always true. The condition is empty if the loop never does anything. Loops at the level of a thread are
/// left alone, since the threads of a group run them together.
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
    if matches!(level, Level::Thread | Level::Unrolled) {
        return None;
    }
    let mut changing = BTreeSet::from([*variable]);
    each_command(body, |command| {
        writes(command, &mut |v| {
            changing.insert(v);
        });
    });
    let any = of_list(body, &changing)?;
    (any.iter().map(Vec::len).sum::<usize>() <= COMPARISONS_OF_A_CONDITION).then_some(any)
}

/// Returns the condition under which commands do anything. `None` if they always may.
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
            _others => return None,
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
