//! Mem: Flat where every array says where it lies (FUNMEM of funmem.txt §3).
//!
//! **What a Mem program is.** A program of [`nova_flat`] in which every array variable has a
//! [`nova_flat::memory::Memory`]: a block, and a linear memory access descriptor (LMAD) that maps
//! its indices to elements of the block. Several arrays may lie in one block. Text, printer and
//! parser are those of Flat.
//!
//! **Blocks** are bound in two ways. An `Allocate` statement binds one of its own. And where a
//! construct hands out an array that was made elsewhere (a parameter, a result of a conditional,
//! call, loop, node, foreign call, constant bytes, the rows of a collect, what follows a failure),
//! the block is bound together with the array, which lies in it from its start, row-major; unless the
//! array always lies in the same place of a block that is allocated before, as do results of a
//! conditional that all of its cases make, and states of a loop that are written over ([`settle`]). Arrays
//! that flow to such a place are row-major at any offset: only a pointer to the first element is
//! handed on.
//!
//! **What statements do.** A view, or another name, lies in the block of its source, at the LMAD
//! that [`views`] derives. Whatever else makes an array writes the elements to where its variable
//! lies: an operation in the order of its indices, `Update` and `Scatter` after copying the old
//! elements there unless they are the same place. That a place is not in use otherwise is a duty of
//! those who choose it; [`interpret`] runs a program on a heap, so that its value shows when that
//! duty is not met.
//!
//! **What it guarantees.** [`verify()`] states it rule by rule. [`erase()`] gives Flat back, and
//! `erase(introduce(p))` is `p`: what [`introduce()`] adds are `Allocate` statements, computations of
//! their sizes, and copies, whose variables have names that start with [`MARK`].
//!
//! **What it no longer contains:** nothing; memory is added, not meaning.

mod density;
mod erase;
mod ffi;
mod hoist;
mod holders;
pub mod interpret;
mod introduce;
#[doc(hidden)]
pub mod mistakes;
mod places;
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

/// Starts the names of the variables that belong to memory: sizes to allocate, and copies made so
/// that an array is row-major where it must be. Names of other variables do not start with it.
pub const MARK: char = '~';
