//! The state while a file of C is emitted.
//!
//! A file has one [`unit::Unit`], and the body of a function has one
//! [`function::Emitter`]. The modules of `emit`, `ffi` and `device` add methods to both. They
//! call each other through these methods, without imports.

pub mod assignments;
pub mod calls;
pub mod ctype;
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
