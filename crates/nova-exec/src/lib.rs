//! Execution of compiled programs: values in files, the C compiler, loading and calling.
//!
//! - [`input`] and [`output`] read and write the values of a command line, as text, as raw bytes or in one
//!   of the [`formats`]: NumPy's files ([`npy`], [`npz`]), tables ([`table`]), pictures ([`picture`]);
//! - [`compiler`] finds the C compiler, [`device_compiler`] those of kernels; [`toolchain`] has what both share,
//!   [`cache`] keeps their results, [`platforms`] says where both were tested;
//! - [`kept`] has what is known about a program whose code is in the cache. In such a program [`places`] are
//!   numbers;
//! - [`atomic`] writes files whole or not at all, [`temporary`] removes the files of killed
//!   processes;
//! - [`library`] compiles, loads and calls a generated program. [`layout`] has the layout of values
//!   in its memory, `image` loads it from memory that nobody can change, `binding` checks where its
//!   foreign functions come from;
//! - `marshal` holds the arguments of a call. It makes them from values, or through `building` straight
//!   from text. Those of `lent` point at a host's arrays. `unmarshal` holds the result. `check` examines
//!   it, `read` makes a value of it, `parts` keeps its arrays, and `view` is what the printer sees of it.

pub mod atomic;
mod binding;
mod buffer;
mod building;
mod bytes;
pub mod cache;
mod check;
pub mod compiler;
pub mod device_compiler;
pub mod devices;
mod elements;
pub mod error;
pub mod formats;
mod image;
pub mod input;
pub mod kept;
pub mod layout;
mod lent;
pub mod library;
mod marshal;
mod nested;
mod nodes;
pub mod npy;
pub mod npz;
pub mod output;
mod parts;
pub mod picture;
pub mod places;
pub mod platforms;
pub mod prototype;
mod read;
pub mod table;
pub mod temporary;
pub mod toolchain;
mod unmarshal;
mod view;

pub use error::{CallError, CompileError, InputError};
pub use lent::Lent;
pub use marshal::{Argument, Mismatch};
pub use parts::{Block, Part, is_lendable};
pub use unmarshal::Returned;
