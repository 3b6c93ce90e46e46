//! A program at whichever stage it has reached, and what every stage can do: print and verify.

use crate::options::Stage;
use std::sync::Arc;

/// A program at a stage.
#[derive(Clone, Debug)]
pub enum Code {
    /// Typed lambda calculus.
    Core(Arc<nova_core::ir::Program>),
}

impl Code {
    /// Its stage.
    pub fn stage(&self) -> Stage {
        match self {
            Code::Core(_) => Stage::Core,
        }
    }

    /// The program as text that reads back.
    pub fn print(&self) -> String {
        match self {
            Code::Core(program) => nova_core::print::print(program),
        }
    }

    /// Checks what the stage guarantees; the error says what is broken.
    pub fn verify(&self) -> Result<(), String> {
        match self {
            Code::Core(program) => nova_core::verify::verify(program).map_err(|e| e.to_string()),
        }
    }
}
