//! From Loop to C.
//!
//! One description of code, many dialects: functions of Loop become functions of a C syntax tree
//! ([`ast`]), which [`print`] writes; what targets do differently is in [`dialect`]. After the
//! verifier of Loop this cannot fail (architecture invariant 5).
//!
//! The way of a function: [`function`], [`command`], [`control`] and [`expression`] emit it, with scalar
//! operations from [`scalar`]; [`prune`] and [`signature`] take out what is not read, [`declare`] moves
//! declarations to their values, [`copies`] removes variables that only hold another's value,
//! [`nesting`] bounds how deep statements nest. The way of a value between host and program is [`ffi`]; recursive data is
//! held in the tables of [`nodes`]. The names that a host sees are those of [`exports`], which finds where two would be one. A file contains what [`uses`] finds it to need of the runtime
//! (crate `nova-runtime`). [`races`] is what is added to code that traces races.

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

/// What the C is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Sequential C.
    Seq,
    /// Sequential C that traces what the iterations of parallel loops touch, and fails where two
    /// of them race; for a program of Loop made for any target.
    Traced,
    /// C with a pool of threads.
    Pthreads,
    /// C for the host of a device of OpenCL, with the kernels as text.
    OpenCl,
    /// CUDA C: C++ for the host, with the kernels beside it.
    Cuda,
}

impl Target {
    /// The end of the name of a source file.
    pub fn extension(self) -> &'static str {
        match self {
            Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl => "c",
            Target::Cuda => "cu",
        }
    }
}

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program's name: that of its file without the ending.
    pub name: String,
    /// What the C is for.
    pub target: Target,
    /// The places of operations that one thread runs since it could not be proved that their iterations
    /// do not meet, each with what was not shown.
    pub one_thread: Vec<(nova_diag::Place, String)>,
    /// Foreign functions in the language of the device, which stand before the kernels.
    pub device_source: String,
    /// What stands before the names of the entries' functions; mostly nothing.
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

/// Emits a program that the verifier of Loop accepts.
pub fn emit(program: &Program, options: &Options) -> Files {
    file::emit(program, options)
}

/// The C names of an entry, behind a prefix.
pub fn entry_symbols(prefix: &str, name: &str) -> Symbols {
    ffi::symbols::symbols(prefix, name)
}
