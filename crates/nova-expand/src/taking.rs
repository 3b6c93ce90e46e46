//! References that branches of conditionals and calls take from enclosing bodies.
//!
//! A body holds a reference until the last statement that mentions its block. If this statement is a
//! conditional, a branch that passes the block on, or gives it to a function, may take the reference. Then
//! the other branches release it, and the body does not hold it after the conditional.

use crate::references::Held;
use crate::translator::{Result, Translator};
use nova_diag::deep;
use nova_flat::ir as flat;
use nova_flat::visit::{bodies, used_variables};
use nova_loop::ir::{Command, Variable};

impl<'a> Translator<'a> {
    /// Returns the reference in a handle, if an enclosing body or the current loop holds it, and nothing else
    /// needs it. It must not be needed after the conditionals between. If `by_statement`, a statement of
    /// the innermost body takes it, and the rest of this body must not need it either.
    pub(crate) fn needed_no_more(&self, handle: Variable, by_statement: bool) -> Option<Held> {
        let block = self.lifetimes.holder_of(handle)?;
        let bodies = self.lifetimes.bodies();
        let facts = self.facts.block(block);
        let (_, last) = bodies.get(facts.depth)?;
        let inside = bodies.len().checked_sub(facts.depth + 1)?;
        if facts.last_use != *last || inside == 0 && !by_statement {
            return None;
        }
        for (level, (body, index)) in bodies.iter().enumerate().skip(facts.depth) {
            let innermost = level + 1 == bodies.len();
            if !innermost && !is_conditional(body.statements.get(*index as usize)?) {
                return None;
            }
            let ends = innermost && !by_statement;
            if level > facts.depth && !ends && self.is_mentioned_after(body, *index, handle) {
                return None;
            }
        }
        Some(Held { block, handle })
    }

    /// True if the statements of a body after the one at `index`, or its results, mention a block of this
    /// handle.
    fn is_mentioned_after(&self, body: &flat::Body, index: u32, handle: Variable) -> bool {
        let rest = body
            .statements
            .get(index as usize + 1..)
            .unwrap_or_default();
        let is_result = |atom: &flat::Atom| match atom {
            flat::Atom::Variable(variable) => self.lies_in(*variable, handle),
            flat::Atom::Constant(_) => false,
        };
        rest.iter()
            .any(|statement| self.mentions(statement, handle))
            || body.results.iter().any(is_result)
    }

    fn mentions(&self, statement: &flat::Statement, handle: Variable) -> bool {
        let mut found = false;
        used_variables(&statement.expression, &mut |v| {
            found |= self.lies_in(v, handle)
        });
        for made in &statement.pattern {
            found |= self.lies_in(*made, handle);
        }
        bodies(&statement.expression, &mut |body| {
            let is_result = |atom: &flat::Atom| match atom {
                flat::Atom::Variable(variable) => self.lies_in(*variable, handle),
                flat::Atom::Constant(_) => false,
            };
            found |= body.results.iter().any(is_result);
            found |= deep(|| body.statements.iter().any(|s| self.mentions(s, handle)));
        });
        found
    }

    /// True if an array lies in the block that a handle holds now.
    fn lies_in(&self, variable: flat::Variable, handle: Variable) -> bool {
        let block = self.array_block(flat::Atom::Variable(variable));
        let bound = block
            .ok()
            .flatten()
            .and_then(|block| self.block(block).ok());
        bound.is_some_and(|block| block.handle == handle)
    }

    /// Records that the current statement or branch takes a reference.
    pub(crate) fn take(&mut self, held: Held) {
        let depth = self.facts.block(held.block).depth;
        self.lifetimes.take(held, depth);
    }

    /// Gives a callee references of its arrays: those that nothing else needs, and otherwise additional ones.
    pub(crate) fn give(&mut self, arguments: &[flat::Atom]) -> Result<()> {
        for (k, argument) in arguments.iter().enumerate() {
            let Some(block) = self.array_block(*argument)? else {
                continue;
            };
            if self.give_up(*argument)? {
                continue;
            }
            let handle = self.block(block)?.handle;
            let others = arguments
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != k);
            let is_there = |atom: &flat::Atom| match atom {
                flat::Atom::Variable(variable) => self.lies_in(*variable, handle),
                flat::Atom::Constant(_) => false,
            };
            let only = !others.into_iter().any(|(_, other)| is_there(other));
            match self.needed_no_more(handle, true).filter(|_| only) {
                Some(held) => {
                    self.flush_reads(block)?;
                    self.take(held);
                }
                None => self.emit(Command::Retain(handle)),
            }
        }
        Ok(())
    }
}

fn is_conditional(statement: &flat::Statement) -> bool {
    matches!(
        statement.expression,
        flat::Expression::If { .. } | flat::Expression::Switch { .. }
    )
}
