//! Mem: Flat in which every array has an explicit location in memory (the FUNMEM of funmem.txt §3).
//!
//! **Programs.** A Mem program is a program of [`nova_flat`] in which every array variable has a
//! [`nova_flat::memory::Memory`]. A memory is a block and a linear memory access descriptor (LMAD),
//! which maps the indices of the array to elements of the block. Several arrays may lie in one block.
//! Text, printer and parser are those of Flat. In this text the array `e` is a view of every second
//! element of `y`, in the same block:
//!
//! ```text
//! (let [b_2:(block f32)] (allocate f32 n_0))
//! (let [y_3:[n_0]f32 @ b_2] (copy x_1))
//! (let [h_4:i64] (div i64 n_0 2))
//! (let [e_5:[h_4]f32 @ b_2 (lmad 0 [h_4 2])] (slice y_3 [0 2 h_4]))
//! ```
//!
//! **Blocks.** A block is bound in one of two ways:
//! - An `Allocate` statement binds a block of its own.
//! - A construct that passes on an array made elsewhere binds a block together with the array. Such
//!   arrays are parameters, the results of conditionals, calls, loops, nodes and foreign calls,
//!   constant bytes, the rows of a collect, and the results of a failure. The array lies row-major at
//!   the start of the block.
//!
//! The second way is not needed if the array always lies in the same memory of a block allocated
//! before. This is so of results of a conditional that all of its cases make, and of states of a loop
//! that are overwritten in place ([`settle`]). An array that flows to a variable with a block of its
//! own is row-major at any offset: only a pointer to its first element is passed on.
//!
//! **Statements.** A view, or another name, lies in the block of its source, at the LMAD that [`views`]
//! derives. Every other statement that makes an array writes the elements to the memory of its
//! variable. An operation writes them in the order of its indices. `Update` and `Scatter` first copy
//! the old elements there, unless old and new array have the same memory. A pass that chooses the
//! memory of an array must ensure that no live array is overwritten there. [`interpret`] runs a program
//! on a heap and detects violations.
//!
//! **Guarantees.** [`verify()`] states them rule by rule. [`erase()`] gives Flat back, and
//! `erase(introduce(p))` is `p`. What [`introduce()`] adds are `Allocate` statements, computations of
//! their sizes, and copies. Their variables have names that start with [`MARK`].
//!
//! **Removed from Flat:** nothing. Mem adds memory and changes no meaning.
//!
//! **Where to start reading.** [`nova_flat::memory`] defines blocks and LMADs, and [`introduce()`]
//! gives every array its first memory. Three passes improve on it: [`reuse`] overwrites dead arrays,
//! [`settle`] does so for the states of loops, and [`short_circuit`] builds arrays at the target of
//! their copy. The module `uses` numbers the events at arrays for these passes, and `alias` tests
//! whether LMADs overlap.

mod alias;
mod density;
mod erase;
mod ffi;
mod hoist;
mod holders;
pub mod interpret;
mod introduce;
#[doc(hidden)]
pub mod mistakes;
pub mod reuse;
pub mod settle;
pub mod short_circuit;
mod sizes;
mod takes;
mod uses;
pub mod verify;
pub mod views;

pub use erase::{erase, erased_text, keeps_meaning};
pub use introduce::{introduce, introduce_for_device};
pub use verify::verify;

/// The first character of the names of variables that belong to memory: sizes to allocate, and copies
/// made because an array must be row-major. Names of other variables do not start with it.
pub const MARK: char = '~';
