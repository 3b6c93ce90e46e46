//! Running compiled programs: values in files, the C compiler, loading and calling.
//!
//! - [`input`] and [`output`] read and write the values of a command line: text, NumPy's files
//!   ([`npy`], [`npz`]), raw bytes;
//! - [`compiler`] finds the C compiler, [`cache`] keeps what it made.

pub mod atomic;
pub mod cache;
pub mod compiler;
mod elements;
pub mod error;
pub mod input;
mod nested;
pub mod npy;
pub mod npz;
pub mod output;

pub use error::{CallError, CompileError, InputError};
