//! A program at any stage, with printing and verification, which every stage supports.

use crate::options::Stage;
use nova_core::ir as core;
use nova_flat::ir as flat;
use nova_loop::ir as commands;
use std::sync::Arc;

/// A program at a stage.
#[derive(Clone, Debug)]
pub enum Code {
    /// Typed lambda calculus.
    Core(Arc<core::Program>),
    /// First-order arrays.
    Flat(flat::Program),
    /// The same with memory.
    Mem(flat::Program),
    /// Commands, with the interfaces of the entries.
    Loop(commands::Program),
    /// C that passes rewrite.
    C(Box<Emitted>),
    /// The generated files, and the program they were made from.
    Files(Box<Generated>),
}

/// C, and the program it was made from.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The C.
    pub(crate) emission: nova_c::Emission,
    /// The program it was made from.
    pub(crate) program: commands::Program,
}

/// The generated files.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The files.
    pub files: nova_c::Files,
    /// The program they were made from.
    pub program: commands::Program,
}

impl Code {
    /// Returns its stage.
    pub fn stage(&self) -> Stage {
        match self {
            Code::Core(_) => Stage::Core,
            Code::Flat(_) => Stage::Flat,
            Code::Mem(_) => Stage::Mem,
            Code::Loop(_) => Stage::Loop,
            Code::C(_) | Code::Files(_) => Stage::C,
        }
    }

    /// Returns the program as text that can be parsed again. Of generated files it is the source.
    pub fn print(&self) -> String {
        match self {
            Code::Core(program) => nova_core::print::print(program),
            Code::Flat(program) | Code::Mem(program) => nova_flat::print::print(program),
            Code::Loop(program) => nova_loop::print::print(program),
            Code::C(emitted) => nova_c::files(emitted.emission.clone()).source,
            Code::Files(generated) => generated.files.source.clone(),
        }
    }

    /// Checks the invariants of the stage. The error states the violation.
    pub fn verify(&self) -> Result<(), String> {
        match self {
            Code::Core(program) => nova_core::verify::verify(program).map_err(|e| e.to_string()),
            Code::Flat(program) => nova_flat::verify::verify(program).map_err(|e| e.to_string()),
            Code::Mem(program) => nova_mem::verify(program).map_err(|e| e.to_string()),
            Code::Loop(program) => nova_loop::verify(program)
                .and_then(|()| nova_race::verify(program))
                .map_err(|errors| {
                    let errors = errors.iter().map(|error| error.to_string());
                    errors.collect::<Vec<_>>().join("\n")
                }),
            Code::C(emitted) => nova_c_ast::verify::verify(&emitted.emission.program),
            // The C compiler checks it.
            Code::Files(_) => Ok(()),
        }
    }

    /// Returns the generated files, after the last pass. The error names another stage.
    pub(crate) fn into_files(self) -> Result<Generated, String> {
        match self {
            Code::Files(generated) => Ok(*generated),
            other => Err(format!("it ends with the stage {}", other.stage())),
        }
    }
}
