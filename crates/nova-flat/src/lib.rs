//! Flat: first-order A-normal form over arrays of scalars (the FUN of funmem.txt §2).
//!
//! **What a Flat program is.** Functions of scalars and arrays of scalars. A [`ir::Body`] is a list
//! of statements and the atoms it gives; a statement binds the results of one
//! [`ir::Expression`], whose operands are atoms: constants and variables. Every variable is bound
//! once in the program and has its type in [`ir::Program::variables`]. Array types depend on sizes:
//! `[n][m]f32` names two atoms of type `i64` in scope. Where a construct gives an array whose size
//! is only known afterwards (a filter, a conditional, a call), the size is another result of the
//! same pattern, before the array, and the array's type names it.
//!
//! **Data.** Tuples are gone: their components stand side by side. A value of a Core type is held in
//! the components that [`representation`] lists; in short:
//! - a vector is its length and an array for each component of its elements (structure of arrays);
//! - a nested vector has for each level `starts` and `ends`, for each of its rows the first index
//!   into the level below and the one behind the last, then the level below with its own total.
//!   Rows may lie anywhere in it, overlap, or be in any order, so that gather, reverse or filter of
//!   rows moves two integers a row and no data. "Dense" is the special case in which rows follow
//!   each other from 0: `starts` and `ends` are then views of one offset array (nova.txt fig. 7);
//! - a sum is its tag and the components of every payload, those not active holding zeros and empty
//!   arrays. A vector of sums is the same, lifted;
//! - a recursive sum is a link: the index of a node in the append-only table of its type
//!   (data-parallel-recursion.txt §2). `NodeNew` appends; a node never changes.
//!
//! **One array operation.** [`ir::ArrayOperation`] runs a body over an index space, with any number
//! of outputs of any kind: arrays, reductions, scans, filters, scatters (to given positions, or of a block
//! of an array), histograms, and collects (rows of varying length, concatenated). Inputs are read by `Index` inside the body. With carries
//! it runs in order; a sequential loop is one without outputs. At the level of a grid its indices are
//! shared among threads: each runs the body for a part of a larger space, and arrays are joined of
//! what the parts give, or collected, where only the parts know how much that is; work-groups may have
//! carries, which they hand on in order. `MaySplit` asks
//! whether there are threads for it; no result depends on the answer. A reduction says which of the
//! steps of docs/order.md it does ([`ir::Bracketing`]): all of them, or those of a part, or what
//! combines parts. A strategy of the program ([`nova_core::strategy`], dpia.txt §6.2) stays on its
//! operation, a barrier for all that would make other loops of it.
//!
//! **Errors.** No expression fails by itself but `Check`, `Fail`, `Call`s of what does, and running
//! out of memory or stack. `Index`, division, shifts and conversions are defined only where a check
//! has made sure before them; statements run in order.
//!
//! **What it guarantees.** [`verify`] states it rule by rule. **What it no longer contains:**
//! functions as values, tuples, sums, nested vectors, built-ins that hide a check.
//!
//! **With memory.** The Mem representation (crate `nova-mem`) is this same data structure with
//! [`ir::VariableInfo::memory`] filled in for every array and with `Allocate` statements.

pub mod error;
mod groups;
pub mod interpret;
pub mod ir;
pub mod memory;
pub mod operators;
pub mod parse;
pub mod positions;
pub mod print;
pub mod recursion;
pub mod representation;
pub mod values;
pub mod verify;
pub mod visit;
