//! The options of a compilation, and the files that it gives.

use crate::dialect::Dialect;

/// The options of a compilation.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program's name: the name of its file without the extension.
    pub name: String,
    /// The dialect of the generated C.
    pub dialect: &'static Dialect,
    /// The places of operations that run in one thread, since their iterations could not be proved
    /// independent; each with the reason.
    pub one_thread: Vec<(nova_diag::Place, String)>,
    /// Foreign functions in the language of the device, to be placed before the kernels.
    pub device_source: String,
    /// The prefix of the names of the entries' functions; usually empty.
    pub prefix: String,
    /// True if `#line` directives name the lines of the source.
    pub lines: bool,
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
