//! The state while a file of C is emitted.
//!
//! A file has one [`unit::Unit`]. A [`writer::Writer`] appends statements, and the body of a function of
//! Loop has one [`function::Emitter`], which stands for its writer.

pub mod assignments;
pub mod calls;
pub mod ctype;
pub(crate) mod device_state;
pub mod expressions;
pub mod fields;
pub mod function;
pub mod groups;
pub mod kernels;
pub mod making;
pub mod ordered;
pub mod tables;
pub mod tracing;
pub mod unit;
pub(crate) mod writer;
