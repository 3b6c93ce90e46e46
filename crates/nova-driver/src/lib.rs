//! The compiler as a library: programs in, files or callable functions out.

mod builder;
pub mod code;
mod compiler;
pub mod error;
mod explain;
mod merge;
pub mod options;
pub mod pipeline;
pub mod source;
pub mod types_text;

pub use builder::{At, ProgramBuilder};
pub use compiler::{Checked, Compiler, Signature};
pub use error::{Failure, InternalError, Report};
pub use options::{Options, Stage, Target};
pub use source::Source;

/// The syntax tree that [`ProgramBuilder`] builds.
pub use nova_syntax::ast as syntax;
