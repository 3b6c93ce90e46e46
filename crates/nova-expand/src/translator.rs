//! The context of all that translates bodies: the environment, and the state of the current function.

use crate::env::Env;
use crate::places::State;
use crate::tile_sizes::TileSizes;
use crate::writer::{Nesting, Writer};
use nova_flat::ir as flat;
use nova_loop::ir;
use nova_machine::Machine;
use std::ops::{Deref, DerefMut};

/// Translates the bodies of functions.
pub(crate) struct Translator<'a> {
    pub(crate) env: Env<'a>,
    /// The function being translated when it calls itself in tail position.
    pub(crate) tail: Option<Tail>,
    /// True if the function being translated may call itself. Its stack frame must be small.
    pub(crate) recursive: bool,
    /// The bytes that the local arrays of the current function's tiles take so far.
    pub(crate) frame: u32,
}

/// The target of tail calls.
pub(crate) struct Tail {
    pub(crate) function: flat::FunctionId,
    pub(crate) parameters: Vec<State>,
}

/// The control flow at the end of a statement or body: whether the end is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Continues,
    Diverges,
}

impl<'a> Translator<'a> {
    /// Returns a translation that has not begun.
    pub(crate) fn new(
        mem: &'a flat::Program,
        strict: bool,
        tiles: TileSizes,
        machine: Machine,
    ) -> Self {
        let program = ir::Program {
            sums: mem.sums.clone(),
            foreigns: mem.foreigns.clone(),
            strict,
            lanes: tiles.lanes,
            ..ir::Program::default()
        };
        let writer = Writer {
            program,
            ..Writer::default()
        };
        Translator {
            env: Env::new(mem, writer, tiles, machine),
            tail: None,
            recursive: false,
            frame: 0,
        }
    }

    /// Begins a function, which may call itself if it is `recursive`.
    pub(crate) fn begin_function(&mut self, recursive: bool) {
        self.recursive = recursive;
        self.frame = 0;
    }
}

impl<'a> Deref for Translator<'a> {
    type Target = Env<'a>;

    fn deref(&self) -> &Env<'a> {
        &self.env
    }
}

impl DerefMut for Translator<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.env
    }
}

impl Nesting for Translator<'_> {
    fn writer(&mut self) -> &mut Writer {
        &mut self.env.writer
    }
}
