//! Execution of compiled programs: values in files, the C compiler, loading and calling.
//!
//! - [`input`] and [`output`] read and write the values of a command line: text, NumPy's files
//!   ([`npy`], [`npz`]), raw bytes;
//! - [`compiler`] finds the C compiler, [`nvcc`] that of CUDA C; [`toolchain`] has what both share,
//!   [`cache`] keeps their results;
//! - [`atomic`] writes files whole or not at all, [`temporary`] removes the files of killed
//!   processes;
//! - [`library`] compiles, loads and calls a generated program. [`layout`] has the layout of values
//!   in its memory, `image` loads it from memory that nobody can change, `binding` checks where its
//!   foreign functions come from. `marshal` and `unmarshal` convert values to that layout and back.

pub mod atomic;
mod binding;
mod bytes;
pub mod cache;
pub mod compiler;
pub mod devices;
mod elements;
pub mod error;
mod image;
pub mod input;
pub mod layout;
pub mod library;
mod marshal;
mod nested;
mod nodes;
pub mod npy;
pub mod npz;
pub mod nvcc;
pub mod output;
pub mod prototype;
mod read;
pub mod temporary;
pub mod toolchain;
mod unmarshal;

pub use error::{CallError, CompileError, InputError};
