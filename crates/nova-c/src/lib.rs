//! Emits programs of Loop as C.
//!
//! One description of code serves many dialects. Functions of Loop become functions of a C syntax tree
//! ([`ast`]), which [`mod@print`] writes. The differences between targets are in [`dialect`]. After the
//! verifier of Loop this cannot fail (architecture invariant 5).
//!
//! [`function`], [`command`], [`control`] and [`expression`] emit a function, with scalar operations
//! from [`scalar`]. [`prune`] and [`signature`] remove unread variables and parameters. [`declare`]
//! moves declarations to their values. [`copies`] propagates copies. [`nesting`] bounds the depth of
//! statements.
//!
//! [`ffi`] passes values between host and program. [`nodes`] holds recursive data in tables.
//! [`exports`] lists the names that a host sees, and finds clashes between them. [`uses`] finds the
//! sections of the runtime (crate `nova-runtime`) that a file needs. [`races`] adds code that traces
//! races.

mod accumulators;
pub mod ast;
mod bulk;
mod command;
mod contend;
mod control;
mod copies;
mod cuda;
mod declare;
mod device;
mod device_functions;
mod device_nodes;
pub mod dialect;
pub mod exports;
mod expression;
pub mod ffi;
mod file;
mod fixed_blocks;
mod function;
mod header;
mod json;
mod kernel;
pub mod manifest;
pub mod names;
mod nesting;
mod nodes;
mod non_temporal;
mod opencl;
mod ordered_regions;
pub mod print;
mod prune;
mod races;
mod region;
mod result_buffers;
mod scalar;
mod signature;
mod trace;
mod unit;
mod uses;
mod vectors;
mod work_groups;

pub use ffi::symbols::Symbols;

use nova_loop::ir::Program;

/// The target of the generated C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Sequential C.
    Seq,
    /// Sequential C that traces the accesses of parallel iterations, and fails where two of them race.
    /// It accepts programs of Loop made for any target.
    Traced,
    /// C with a pool of threads.
    Pthreads,
    /// C for the host of an OpenCL device, with the kernels as text.
    OpenCl,
    /// CUDA C: C++ for the host, with the kernels in the same file.
    Cuda,
}

impl Target {
    /// Returns the extension of source files.
    pub fn extension(self) -> &'static str {
        match self {
            Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl => "c",
            Target::Cuda => "cu",
        }
    }
}

/// The options of a compilation.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program's name: the name of its file without the extension.
    pub name: String,
    /// The target of the generated C.
    pub target: Target,
    /// The places of operations that run in one thread, since their iterations could not be proved
    /// independent; each with the reason.
    pub one_thread: Vec<(nova_diag::Place, String)>,
    /// Foreign functions in the language of the device, to be placed before the kernels.
    pub device_source: String,
    /// The prefix of the names of the entries' functions; usually empty.
    pub prefix: String,
}

/// The files of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// `NAME.h`.
    pub header: String,
    /// `NAME.c`, or `NAME.cu` for CUDA.
    pub source: String,
    /// `NAME.json`.
    pub manifest: String,
}

/// Emits a program that the verifier of Loop has accepted.
pub fn emit(program: &Program, options: &Options) -> Files {
    file::emit(program, options)
}

/// Returns the C names of an entry with a prefix.
pub fn entry_symbols(prefix: &str, name: &str) -> Symbols {
    ffi::symbols::symbols(prefix, name)
}
