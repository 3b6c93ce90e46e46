//! Emits programs of Loop as C.
//!
//! One description of code serves many dialects. Functions of Loop become functions of a C syntax tree
//! (the crate `nova-c-ast`). The differences between targets are in [`dialect`]. After the verifier of
//! Loop this cannot fail (architecture invariant 5).
//!
//! The modules import each other in this order:
//!
//! - [`mod@syntax`]: short forms of syntax trees of C
//! - [`context`]: the state while a file, or a function, is emitted
//! - [`mod@emit`]: commands without control flow and expressions of Loop as C, with scalar operations
//!   from [`scalar`]
//! - [`ffi`]: the FFI boundary between host and program, with header and manifest
//! - [`device`]: kernels and their launches, for OpenCL and CUDA
//! - [`functions`]: the functions of Loop as functions of C, with conditionals and loops
//! - [`emission`]: a program in C, before passes of `nova-c-ast` rewrite its functions
//! - [`file`](mod@file): the files of a program, with the sections of the runtime (crate
//!   `nova-runtime`) that they need
//!
//! Three contexts contain each other, and a function takes the smallest one that it needs. A `Unit` is the
//! state of a file. A `Writer` appends statements and makes names. An `Emitter` adds the names of the
//! variables of Loop and the state of its function. Only `functions/command.rs` knows which function
//! belongs to which command.
//!
//! A module calls functions of later modules through methods of a context: `block` and `commands` of the `Emitter`
//! emit what is inside loops, and a `Unit` defines functions of the file when they are first called.

mod context;
mod device;
pub mod dialect;
mod emission;
mod emit;
pub mod ffi;
mod file;
mod functions;
mod groups;
pub mod names;
mod options;
mod scalar;
mod syntax;

pub use dialect::{Dialect, Parallel};
pub use emission::{Emission, emit};
pub use ffi::symbols::Symbols;
pub use file::files;
pub use options::{Files, Options};

/// Returns the C names of an entry with a prefix.
pub fn entry_symbols(prefix: &str, name: &str) -> Symbols {
    ffi::symbols::symbols(prefix, name)
}
