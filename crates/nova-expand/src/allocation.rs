//! Allocation of the blocks for results.

use crate::env::Env;
use crate::facts::Origin;
use crate::places::Place;
use crate::source::{array_block, info_of};
use crate::writer::{Result, Writer};
use nova_flat::ir as flat;
use nova_loop::error::internal;
use nova_loop::ir::{Command, Expression, Type, Variable};

/// Declares the pointer and the handle, and allocates a block.
pub(crate) fn allocate_here(
    out: &mut Writer,
    pointer: Variable,
    handle: Variable,
    count: Expression,
    destination: Option<flat::Destination>,
    place: &nova_diag::Place,
) -> Result<()> {
    let Type::Pointer(element) = out.program.variable(pointer).ty else {
        return Err(internal("no pointer"));
    };
    out.declare_later(pointer);
    out.declare_later(handle);
    out.emit(Command::Allocate {
        block: handle,
        pointer,
        element,
        count,
        destination,
        place: place.clone(),
    });
    Ok(())
}

/// Returns the memory of an array that a statement makes: the memory that Mem has chosen, or a new block
/// of `count` elements if Mem leaves the allocation to the statement.
pub(crate) fn destination<'a>(
    env: &mut Env<'a>,
    array: flat::Variable,
    count: Expression,
    place: &nova_diag::Place,
) -> Result<Place<'a>> {
    let block = array_block(env.source, flat::Atom::Variable(array))?;
    let block = block.ok_or_else(|| internal("a scalar destination"))?;
    let origin = env.facts.block(block).origin;
    if !matches!(origin, Origin::Allocated | Origin::Sole) {
        let flat::Type::Array(element, _) = &info_of(env.source, array)?.ty else {
            return Err(internal("a scalar destination"));
        };
        let (pointer, handle) = env.block_variables(block, *element);
        allocate_here(env, pointer, handle, count, None, place)?;
        env.bind_block(block, pointer, handle)?;
        env.own(block)?;
    }
    env.place(array)
}
