//! References that branches of conditionals and calls take from enclosing bodies.
//!
//! A body holds a reference until the last statement that mentions its block. If this statement is a
//! conditional, a branch that passes the block on, or gives it to a function, may take the reference. Then
//! the other branches release it, and the body does not hold it after the conditional.

use crate::env::Env;
use crate::references::Held;
use crate::source::array_block;
use crate::writer::Result;
use nova_diag::deep;
use nova_flat::ir as flat;
use nova_flat::visit::{bodies, used_variables};
use nova_loop::ir::{Command, Variable};

/// Returns the reference in a handle, if an enclosing body or the current loop holds it, and nothing else
/// needs it. It must not be needed after the conditionals between. If `by_statement`, a statement of
/// the innermost body takes it, and the rest of this body must not need it either.
pub(crate) fn needed_no_more(env: &Env<'_>, handle: Variable, by_statement: bool) -> Option<Held> {
    let held = env.lifetimes.held_in(handle)?;
    let bodies = env.lifetimes.bodies();
    let facts = env.facts.block(held.block);
    let (_, last) = bodies.get(held.depth)?;
    let inside = bodies.len().checked_sub(held.depth + 1)?;
    if facts.last_use != *last || inside == 0 && !by_statement {
        return None;
    }
    for (level, (body, index)) in bodies.iter().enumerate().skip(held.depth) {
        let innermost = level + 1 == bodies.len();
        if !innermost && !is_conditional(body.statements.get(*index as usize)?) {
            return None;
        }
        let ends = innermost && !by_statement;
        if level > held.depth && !ends && is_mentioned_after(env, body, *index, handle) {
            return None;
        }
    }
    Some(held)
}

/// True if the statements of a body after the one at `index`, or its results, mention a block of this
/// handle.
fn is_mentioned_after(env: &Env<'_>, body: &flat::Body, index: u32, handle: Variable) -> bool {
    let rest = body
        .statements
        .get(index as usize + 1..)
        .unwrap_or_default();
    let is_result = |atom: &flat::Atom| match atom {
        flat::Atom::Variable(variable) => lies_in(env, *variable, handle),
        flat::Atom::Constant(_) => false,
    };
    rest.iter()
        .any(|statement| mentions(env, statement, handle))
        || body.results.iter().any(is_result)
}

fn mentions(env: &Env<'_>, statement: &flat::Statement, handle: Variable) -> bool {
    let mut found = false;
    used_variables(&statement.expression, &mut |v| {
        found |= lies_in(env, v, handle)
    });
    for made in &statement.pattern {
        found |= lies_in(env, *made, handle);
    }
    bodies(&statement.expression, &mut |body| {
        let is_result = |atom: &flat::Atom| match atom {
            flat::Atom::Variable(variable) => lies_in(env, *variable, handle),
            flat::Atom::Constant(_) => false,
        };
        found |= body.results.iter().any(is_result);
        found |= deep(|| body.statements.iter().any(|s| mentions(env, s, handle)));
    });
    found
}

/// True if an array lies in the block that a handle holds now.
fn lies_in(env: &Env<'_>, variable: flat::Variable, handle: Variable) -> bool {
    let block = array_block(env.source, flat::Atom::Variable(variable));
    let bound = block.ok().flatten().and_then(|block| env.block(block).ok());
    bound.is_some_and(|block| block.handle == handle)
}

/// Gives a callee references of its arrays: those that nothing else needs, and otherwise additional ones.
pub(crate) fn give(env: &mut Env<'_>, arguments: &[flat::Atom]) -> Result<()> {
    for (k, argument) in arguments.iter().enumerate() {
        let Some(block) = array_block(env.source, *argument)? else {
            continue;
        };
        if give_up(env, *argument)? {
            continue;
        }
        let handle = env.block(block)?.handle;
        let others = arguments
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != k);
        let is_there = |atom: &flat::Atom| match atom {
            flat::Atom::Variable(variable) => lies_in(env, *variable, handle),
            flat::Atom::Constant(_) => false,
        };
        let only = !others.into_iter().any(|(_, other)| is_there(other));
        match needed_no_more(env, handle, true).filter(|_| only) {
            Some(held) => {
                env.flush_reads(block)?;
                env.lifetimes.take(held);
            }
            None => env.emit(Command::Retain(handle)),
        }
    }
    Ok(())
}

fn is_conditional(statement: &flat::Statement) -> bool {
    matches!(
        statement.expression,
        flat::Expression::If { .. } | flat::Expression::Switch { .. }
    )
}

/// True if the current statement may have the reference of an array's block, because nothing else needs
/// it. Then the body no longer owns it.
pub(crate) fn give_up(env: &mut Env<'_>, array: flat::Atom) -> Result<bool> {
    let Some(block) = array_block(env.source, array)? else {
        return Ok(false);
    };
    let facts = env.facts.block(block);
    let scope = env.lifetimes.scope;
    let statement = env.lifetimes.bodies.last().map_or(0, |(_, index)| *index);
    let owned = env.lifetimes.keys.get(&block).map(|key| key.0) == Some(scope);
    let given = owned && facts.last_use == statement && facts.last_mentions == 1;
    if given {
        env.flush_reads(block)?;
        env.lifetimes.disown(block);
    }
    Ok(given)
}
