//! Lifetimes of blocks: the references that the open bodies own, and the places where they are released.
//!
//! A body owns the blocks that it makes, and releases each after the last statement that mentions it. A
//! block that is among the body's results moves out with its reference instead. Blocks are released in the
//! order of the tree [`owned`](crate::references::Lifetimes::owned), which is deterministic.

use crate::env::Env;
use crate::facts;
use crate::places::{Block, State};
use crate::references::Moving;
use crate::source::{array_block, name_of};
use crate::taking::needed_no_more;
use crate::translator::{Flow, Translator};
use crate::writer::Result;
use nova_diag::deep;
use nova_flat::ir as flat;
use nova_loop::error::internal;
use nova_loop::ir::{Command, Type, Variable};
use std::collections::HashSet;

impl Env<'_> {
    /// Binds a block of the source.
    pub(crate) fn bind_block(
        &mut self,
        block: flat::Variable,
        pointer: Variable,
        handle: Variable,
    ) -> Result<()> {
        let slot = self.blocks.get_mut(block.index());
        let slot = slot.ok_or_else(|| internal("an unknown block"))?;
        *slot = Some(Block { pointer, handle });
        Ok(())
    }

    /// Makes the innermost body the owner of a reference of this block.
    pub(crate) fn own(&mut self, block: flat::Variable) -> Result<()> {
        let handle = self.block(block)?.handle;
        let last_use = self.facts.block(block).last_use;
        self.lifetimes.own(block, last_use, handle);
        Ok(())
    }

    /// Returns the translation of a block of the source.
    pub(crate) fn block(&self, block: flat::Variable) -> Result<Block> {
        let found = self.blocks.get(block.index()).copied().flatten();
        found.ok_or_else(|| {
            let name = name_of(self.source, block);
            internal(format!("block {name}_{} is not bound", block.0))
        })
    }

    /// Adds variables for pointer and handle of a block, named after the first array in it.
    pub(crate) fn block_variables(
        &mut self,
        block: flat::Variable,
        element: nova_core::Scalar,
    ) -> (Variable, Variable) {
        let name = self.facts.block(block).name;
        let name = name.unwrap_or_else(|| name_of(self.source, block));
        let pointer = self.add_variable(name.clone(), Type::Pointer(element));
        let handle = self.add_variable(format!("{name}_block"), Type::Block);
        (pointer, handle)
    }

    /// Releases the references that the innermost body owns and needs no longer than statement `index`.
    pub(crate) fn release_ending(&mut self, index: u32) -> Result<()> {
        for (block, handle) in self.lifetimes.ending(index) {
            self.flush_reads(block)?;
            self.emit(Command::Release(handle));
            self.lifetimes.disown(block);
        }
        Ok(())
    }
}

impl<'a> Translator<'a> {
    /// Translates a body in a scope of its own; `finish` uses its results. Returns `None` if the end of the
    /// body is never reached.
    pub(crate) fn body<R>(
        &mut self,
        body: &'a flat::Body,
        finish: impl FnOnce(&mut Self, &'a [flat::Atom]) -> Result<R>,
    ) -> Result<Option<R>> {
        self.lifetimes.scope += 1;
        self.lifetimes.bodies.push((body, 0));
        let flow = deep(|| self.statements(&body.statements))?;
        let result = match flow {
            Flow::Continues => Some(finish(self, &body.results)?),
            Flow::Diverges => None,
        };
        let outer = self.lifetimes.scope - 1;
        match flow {
            Flow::Continues => {
                self.release_ending(facts::END)?;
                self.forget_terms_inside(outer);
            }
            Flow::Diverges => {
                self.forget_terms_inside(outer);
                for (block, _) in self.lifetimes.ending(facts::END) {
                    self.lifetimes.disown(block);
                }
            }
        }
        self.lifetimes.scope = outer;
        self.lifetimes.bodies.pop();
        Ok(result)
    }

    /// Runs `write` in a scope of its own, which makes no blocks.
    pub(crate) fn scope<R>(&mut self, write: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.lifetimes.scope += 1;
        let result = write(self)?;
        self.lifetimes.scope -= 1;
        let scope = self.lifetimes.scope;
        self.forget_terms_inside(scope);
        Ok(result)
    }
}

/// Makes the handle of an array's block its only holder. From here on `result` lies in this block.
pub(crate) fn unique(
    env: &mut Env<'_>,
    result: flat::Variable,
    array: flat::Variable,
    place: &nova_diag::Place,
) -> Result<()> {
    let from = env.place(array)?;
    let (count, offset) = (env.product(from.shape)?, env.polynomial(&from.lmad.offset)?);
    env.flush_reads(from.block)?;
    let Block { pointer, handle } = env.block(from.block)?;
    if offset.as_index() != Some(0) {
        env.assign(pointer, nova_loop::ir::Expression::offset(pointer, offset));
    }
    env.emit(Command::Unique {
        block: handle,
        pointer,
        element: from.element,
        count,
        place: place.clone(),
    });
    let block = array_block(env.source, flat::Atom::Variable(result))?;
    let block = block.ok_or_else(|| internal("a scalar that is to be held alone"))?;
    env.bind_block(block, pointer, handle)?;
    // An enclosing body or a loop that owns the reference keeps it.
    let key = env.lifetimes.keys.get(&from.block);
    if key.is_some_and(|(scope, ..)| *scope == env.lifetimes.scope) {
        env.lifetimes.disown(from.block);
        env.own(block)?;
    }
    Ok(())
}

/// Provides a reference in the handle of each array among `atoms`, to be assigned to the states. The
/// reference is moved if the bodies that end own it, and otherwise retained. With `replacing`, arrays
/// that are already in the handles of their states stay there. Returns the blocks whose references are
/// moved.
pub(crate) fn provide_references(
    env: &mut Env<'_>,
    atoms: &[flat::Atom],
    states: &[State],
    replacing: bool,
    moving: Moving,
) -> Result<HashSet<flat::Variable>> {
    // Enclosing bodies keep their references until all branches are translated.
    let (mut moved, mut taken) = (HashSet::new(), HashSet::new());
    for (atom, state) in atoms.iter().zip(states) {
        let (Some(block), Some(target)) = (array_block(env.source, *atom)?, state.handle()) else {
            continue;
        };
        let handle = env.block(block)?.handle;
        if replacing && target == handle {
            continue;
        }
        let key = env.lifetimes.keys.get(&block);
        let movable = key.is_some_and(|(scope, ..)| match moving {
            Moving::Body | Moving::Branch => *scope == env.lifetimes.scope,
            Moving::Everything => true,
        });
        if movable && moved.insert(block) {
            continue;
        }
        if moving == Moving::Branch
            && let Some(held) = needed_no_more(env, handle, false)
            && taken.insert(held.block)
        {
            env.lifetimes.take(held);
            continue;
        }
        env.emit(Command::Retain(handle));
    }
    if moving != Moving::Everything {
        for block in &moved {
            env.lifetimes.disown(*block);
        }
    }
    Ok(moved)
}

/// Releases everything but `moved`, where control leaves all bodies. The bodies still own these
/// references on other paths, which reach their ends.
pub(crate) fn release_everything_but(env: &mut Env<'_>, moved: &HashSet<flat::Variable>) {
    for (block, handle) in env.lifetimes.all() {
        if !moved.contains(&block) && !env.lifetimes.is_gone(handle) {
            env.emit(Command::Release(handle));
        }
    }
}
