//! Emits programs of Loop as C.
//!
//! One description of code serves many dialects. Functions of Loop become functions of a C syntax tree
//! (the crate `nova-c-ast`). The differences between targets are in [`dialect`]. After the verifier of
//! Loop this cannot fail (architecture invariant 5).
//!
//! The folders import each other in this order:
//!
//! - [`context`]: the state while a file, or a function, is emitted
//! - [`mod@emit`]: commands and expressions of Loop as C, with scalar operations from [`scalar`]
//! - [`ffi`]: the FFI boundary between host and program, with header and manifest
//! - [`device`]: kernels and their launches, for OpenCL and CUDA
//! - [`emission`]: a program in C, before passes of `nova-c-ast` rewrite its functions
//! - [`file`](mod@file): the files of a program, with the sections of the runtime (crate
//!   `nova-runtime`) that they need
//!
//! An emitter reaches another one through a method of the state. Only `emit/command.rs` knows which
//! method belongs to which command.

mod context;
mod device;
pub mod dialect;
mod emission;
mod emit;
pub mod ffi;
mod file;
pub mod names;
mod options;
mod scalar;

pub use dialect::{Dialect, Parallel};
pub use emission::{Emission, emit};
pub use ffi::symbols::Symbols;
pub use file::files;
pub use options::{Files, Options};

/// Returns the C names of an entry with a prefix.
pub fn entry_symbols(prefix: &str, name: &str) -> Symbols {
    ffi::symbols::symbols(prefix, name)
}
