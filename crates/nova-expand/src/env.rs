//! The environment: what the scalars and blocks of the source have become, for which machine, and inside of
//! which loops commands are written.

use crate::facts::Facts;
use crate::places::{Block, Growing};
use crate::references::Lifetimes;
use crate::terms::Binding;
use crate::tile_sizes::TileSizes;
use crate::writer::{Nesting, Writer};
use nova_flat::ir as flat;
use nova_loop::first_fields::FirstFields;
use nova_machine::Machine;
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

/// Binds the scalars and blocks of the source to expressions, pointers and handles.
pub(crate) struct Env<'a> {
    pub(crate) writer: Writer,
    /// The program that is translated.
    pub(crate) source: &'a flat::Program,
    pub(crate) facts: Facts,
    /// The translation of each scalar of the source.
    pub(crate) scalars: Vec<Option<Binding>>,
    /// The translation of each block of the source.
    pub(crate) blocks: Vec<Option<Block>>,
    /// The scalars not yet computed whose expressions read memory, oldest first.
    pub(crate) pending_loads: Vec<flat::Variable>,
    /// The blocks of rows that are made in place, in the array of all rows.
    pub(crate) growing: HashMap<flat::Variable, Growing>,
    pub(crate) lifetimes: Lifetimes<'a>,
    /// The fields of the structures that callers pass to the functions translated so far.
    pub(crate) structures: FirstFields,
    /// The number of enclosing operations and loops of the source.
    pub(crate) loops: u32,
    /// The number of enclosing grids.
    pub(crate) grids: u32,
    /// True inside an operation that is taken in lockstep. Reductions are left folds there.
    pub(crate) lockstep: bool,
    pub(crate) tiles: TileSizes,
    pub(crate) machine: Machine,
}

impl<'a> Env<'a> {
    /// Returns an environment without bindings.
    pub(crate) fn new(
        source: &'a flat::Program,
        writer: Writer,
        tiles: TileSizes,
        machine: Machine,
    ) -> Self {
        Env {
            writer,
            source,
            facts: Facts::new(source),
            scalars: vec![None; source.variables.len()],
            blocks: vec![None; source.variables.len()],
            pending_loads: Vec::new(),
            growing: HashMap::new(),
            lifetimes: Lifetimes::default(),
            structures: FirstFields::new(),
            loops: 0,
            grids: 0,
            lockstep: false,
            tiles,
            machine,
        }
    }
}

impl Deref for Env<'_> {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        &self.writer
    }
}

impl DerefMut for Env<'_> {
    fn deref_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }
}

impl Nesting for Env<'_> {
    fn writer(&mut self) -> &mut Writer {
        &mut self.writer
    }
}
