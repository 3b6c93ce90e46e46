//! Questions about the program that is translated.

use crate::writer::Result;
use nova_core::Scalar;
use nova_flat::ir as flat;
use nova_loop::error::internal;
use std::sync::Arc;

/// Returns the block of an array, or `None` for a scalar.
pub(crate) fn array_block(
    source: &flat::Program,
    atom: flat::Atom,
) -> Result<Option<flat::Variable>> {
    let flat::Atom::Variable(variable) = atom else {
        return Ok(None);
    };
    let info = info_of(source, variable)?;
    match (&info.ty, &info.memory) {
        (flat::Type::Array(..), Some(memory)) => Ok(Some(memory.block)),
        (flat::Type::Scalar(_), _) => Ok(None),
        (flat::Type::Array(..), None) | (flat::Type::Block(_), _) => Err(internal(format!(
            "array {}_{} has no memory",
            info.name, variable.0
        ))),
    }
}

/// Returns the facts about a variable of the source.
pub(crate) fn info_of(
    source: &flat::Program,
    variable: flat::Variable,
) -> Result<&flat::VariableInfo> {
    let info = source.variables.get(variable.index());
    info.ok_or_else(|| internal("an unknown variable"))
}

/// Returns the scalar type of an atom.
pub(crate) fn scalar_type(source: &flat::Program, atom: flat::Atom) -> Result<Scalar> {
    let scalar = source.scalar_of(atom);
    scalar.ok_or_else(|| internal("an array where a scalar is expected"))
}

pub(crate) fn name_of(source: &flat::Program, variable: flat::Variable) -> Arc<str> {
    match source.variables.get(variable.index()) {
        // Names that nova-mem adds are marked.
        Some(info) => info.name.trim_start_matches(nova_mem::MARK).into(),
        None => Arc::from("x"),
    }
}
