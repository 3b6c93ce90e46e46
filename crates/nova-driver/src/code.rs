//! A program at whichever stage it has reached, and what every stage can do: print and verify.

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
    /// The generated files, and the program they were made from.
    C(Box<Generated>),
}

/// What the emitter made.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The files.
    pub files: nova_c::Files,
    /// The program they were made from.
    pub program: commands::Program,
}

impl Code {
    /// Its stage.
    pub fn stage(&self) -> Stage {
        match self {
            Code::Core(_) => Stage::Core,
            Code::Flat(_) => Stage::Flat,
            Code::Mem(_) => Stage::Mem,
            Code::Loop(_) => Stage::Loop,
            Code::C(_) => Stage::C,
        }
    }

    /// The program as text that reads back; of generated files the source.
    pub fn print(&self) -> String {
        match self {
            Code::Core(program) => nova_core::print::print(program),
            Code::Flat(program) | Code::Mem(program) => nova_flat::print::print(program),
            Code::Loop(program) => nova_loop::print::print(program),
            Code::C(generated) => generated.files.source.clone(),
        }
    }

    /// Checks what the stage guarantees; the error says what is broken.
    pub fn verify(&self) -> Result<(), String> {
        match self {
            Code::Core(program) => nova_core::verify::verify(program).map_err(|e| e.to_string()),
            Code::Flat(program) => nova_flat::verify::verify(program).map_err(|e| e.to_string()),
            Code::Mem(program) => nova_mem::verify(program).map_err(|e| e.to_string()),
            Code::Loop(program) => nova_loop::verify(program)
                .and_then(|()| nova_loop::interference::verify(program))
                .map_err(|errors| {
                    let errors = errors.iter().map(|error| error.to_string());
                    errors.collect::<Vec<_>>().join("\n")
                }),
            // What a C compiler says is the check.
            Code::C(_) => Ok(()),
        }
    }
}
