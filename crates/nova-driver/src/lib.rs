//! The compiler as a library: programs in, files or callable functions out.

mod builder;
mod data;
pub mod error;
mod merge;
pub mod options;
pub mod source;

pub use builder::{At, ProgramBuilder};
pub use error::{Failure, InternalError, Report};
pub use options::{Options, Stage, Target};
pub use source::Source;
