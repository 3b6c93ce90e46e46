//! Flat: first-order A-normal form over arrays of scalars (the FUN of funmem.txt §2).
//!
//! **Programs.** A Flat program is a list of functions over scalars and arrays of scalars. A
//! [`ir::Body`] is a list of statements and a list of results. A statement binds the results of one
//! [`ir::Expression`], whose operands are atoms: constants and variables. Every variable is bound once
//! in the program and has its type in [`ir::Program::variables`]. Array types depend on sizes: the
//! extents of `[n][m]f32` are two atoms of type `i64` in scope. Some constructs give an array whose
//! size is only known afterwards: a filter, a conditional, a call. Then the size is another result of
//! the same pattern, before the array, and the array's type names it. This text of a function sums the
//! squares of a vector:
//!
//! ```text
//! (function "squares" [n_0:i64 x_1:[n_0]f32] [r_2:f32]
//!   (do
//!     (let [s_3:f32] (operation [n_0] [i_4:i64] []
//!       (do
//!         (let [e_5:f32] (index x_1 [i_4]))
//!         (let [q_6:f32] (mul f32 e_5 e_5))
//!         (in q_6))
//!       (reduce_comm [0.0f] (lambda [a_7:f32 b_8:f32]
//!         (do (let [c_9:f32] (add f32 a_7 b_8)) (in c_9))))))
//!     (in s_3)))
//! ```
//!
//! **Data.** Tuples are represented by their components, side by side. [`representation`] lists the
//! components of each Core type. In short:
//! - A vector is its length and an array for each component of its elements (structure of arrays).
//! - A nested vector has `starts` and `ends` for each level. They give, for each row, the first index
//!   into the level below and the index after the last. Then follows the level below with its own
//!   total. Rows may lie anywhere in it, overlap, or be in any order. So a gather, reverse or filter of
//!   rows moves two integers per row and no data. Rows are "dense" if they follow each other from 0:
//!   `starts` and `ends` are then views of one offset array (nova.txt fig. 7).
//! - A sum is its tag and the components of every payload. Payloads that are not active hold zeros and
//!   empty arrays. A vector of sums is the same, lifted.
//! - A recursive sum is a link: the index of a node in the append-only table of its type
//!   (data-parallel-recursion.txt §2). `NodeNew` appends a node, and a node never changes. A datum
//!   becomes tables of its nodes by `TableOpen`, and tables become a datum by `TableClose`. `TableShrink`
//!   leaves out nodes that their datum does not reach. A pass makes operations of all three:
//!   `NodesReached` numbers nodes; `NodesReserve`, a `NodeStore` for each, and `NodesSeal` make them. These
//!   three and `NodesAcyclic` keep their number and order, like effects.
//!
//! **One array operation.** [`ir::ArrayOperation`] runs a body over an index space. It has any number
//! of outputs of any kind: arrays, reductions, scans, filters, scatters (to given positions, or of a
//! block of an array), histograms, and collects (rows of varying length, concatenated). The body reads
//! its inputs by `Index`. With carries the indices run in order, and a sequential loop is an operation
//! without outputs.
//!
//! At the level of a grid, threads share the indices. Each index runs the body for a chunk of a larger
//! space. The results of the chunks are joined to arrays, or collected if only the chunks know their
//! size. Work-groups may have carries, which they propagate in order. `MaySplit` asks whether threads
//! are idle, and no result depends on the answer. A reduction states which steps of docs/order.md it
//! performs ([`ir::Bracketing`]): all of them, those within a chunk, or those that combine chunks. A
//! strategy of the program ([`nova_core::strategy`], dpia.txt §6.2) stays on its operation. No pass
//! turns such an operation into other loops.
//!
//! **Errors.** An expression fails only if it is a `Check`, a `Fail`, a checked `TableClose`, or a `Call` of
//! a function that fails, or if memory or stack are exhausted. `Index`, division, shifts and conversions are undefined
//! outside of their domain, so a check precedes them. Statements run in order.
//!
//! **Guarantees.** [`verify`] states and checks them rule by rule.
//!
//! **Removed from Core:** functions as values, tuples, sums, nested vectors, and built-ins with
//! implicit checks.
//!
//! **With memory.** The Mem representation (crate `nova-mem`) is this same data structure with
//! [`ir::VariableInfo::memory`] filled in for every array and with `Allocate` statements.
//!
//! **Where to start reading.** [`ir`] defines the data types, [`mod@print`] the text,
//! [`representation`] the layout of data. [`visit`] has the traversals that every pass uses, and
//! [`interpret`] is the semantics.

pub mod alone;
mod atom;
pub mod freedom;
pub mod greatest;
mod groups;
pub mod interpret;
pub mod ir;
pub mod kinds;
pub mod links;
pub mod marks;
pub mod memory;
pub mod neutral;
pub mod operators;
pub mod parse;
pub mod places;
pub mod positions;
pub mod print;
pub mod recursion;
pub mod representation;
pub mod values;
pub mod verify;
pub mod visit;
