//! Loop: imperative commands over memory blocks (the imperative half of dpia.txt §3–§4).
//!
//! **What a Loop program is.** Functions whose bodies are [`ir::Command`]s: declare and assign
//! variables, load and store elements through pointers, loops, conditionals, calls, and explicit
//! management of blocks. Expressions are trees without effects; `and` and `or` of bools compute both
//! sides, `select` only the one that is chosen. It is what a C programmer would
//! write; an emitter only chooses the words.
//!
//! **Variables** are scalars, pointers to elements, or handles of blocks. A variable is declared
//! once (by `Declare`, as a parameter, result, or loop index), is unique in the program, lives to
//! the end of the command list that declares it, and may be assigned again if declared by `Declare`
//! or a parameter or result.
//!
//! **Blocks** are counted. `Allocate` gives a handle with one reference and a pointer to its first
//! element; `Retain` and `Release` change the count, 0 frees; both accept the null handle, which
//! stands for memory owned by the caller. A pointer is valid while its block is. Parameters are
//! borrowed: the caller keeps its reference for the call. Results carry a reference that the caller
//! now owns. When an error stops the program, everything it allocated is freed by the runtime, so
//! commands need not clean up.
//!
//! **References belong to handles**, and how many a handle has is known at every command: `Retain`
//! gives it one more, `Release` takes one, `Allocate`, `Reserve` and the results of calls give it
//! one (`Reserve` and `Unique` take one before), and assigning a handle to another moves one reference (which the source must have, and the
//! target must have none before). The null handle is a reference like any other. Parameters and
//! what `NodePayload` gives have none. No handle may have any where its scope ends, but results
//! have one each where the function ends.
//!
//! **An array in a parameter, result, foreign call, node or trace** is two variables or expressions:
//! pointer to its first element, row-major, then its block handle; sizes are separate scalars.
//!
//! **Levels.** A `For` says what runs its iterations. At the level of a grid threads may share them:
//! none reads what another one writes, no two write the same, and an error is that of the first one
//! that fails. [`parallel_regions`] decides which loops can be shared as things are.
//!
//! **Work-groups** (dpia.txt §6.2). At the level of a block an iteration is done by a work-group: all
//! its threads run the body, each with variables of its own, and so compute the same. What stands in a
//! loop at the level of a thread is shared among them; a loop of one iteration is done by one of them.
//! Only there they write memory that others see. A `Shared` array is the group's, a `Local` one outside
//! of such loops each thread's own, and `Barrier` stands where threads read or write what others have
//! written or read ([`work_groups`] puts it there, and the verifier asks for it). Read as ordinary loops
//! such programs mean the same.
//!
//! **Witnesses** say why the iterations of such a loop, or of one at the level of a vector, do not meet
//! ([`interference`]).
//!
//! **Turns.** The iterations of such a loop may do a part of their work in turn, in the order of
//! their indices, between `BeginOrdered` and `EndOrdered` ([`chained_scan`] makes such loops). What a work-group does
//! in its turn is to hand numbers on ([`ordered_regions`]).
//!
//! **Pieces.** Where each iteration of a loop makes an array whose size is only known then, it keeps
//! the array in a table (`Pieces`, `Keep`), from which they are copied behind each other afterwards
//! (`Piece`, `DropBuffers`).
//!
//! **Streams.** `PlanNonTemporal`, `Stream` and `StoreFence` write a large result past the caches. They
//! mean what stores of the same elements mean; what `PlanNonTemporal` decides never changes a value.
//!
//! **Runs.** `PrefixScan` makes running results of sixteen elements, in a bracketing of its own.
//!
//! **Rounds.** Before a loop over sixteen elements, commands may check indices where they lie in
//! memory, and copy what the loop would read with gaps or at indices ([`ir::Round`]).
//!
//! **Errors** are `Check` and `Fail` (and failing calls, allocation, recursion, which the runtime
//! reports); they leave the program at once.
//!
//! **What it guarantees.** [`verify`] states it; after it an emitter cannot fail (architecture
//! invariant 5). **What it no longer contains:** arrays as values, views, bodies with results,
//! bracketing left open: reductions and scans are explicit loops, under `--fp strict` in the order
//! of docs/order.md.

mod call_stack;
pub mod chained_scan;
pub mod coherence;
mod copies;
pub mod empties;
pub mod error;
pub mod expression;
pub mod filter_assertions;
mod groups;
pub mod index_set_splitting;
pub mod interference;
pub mod interpret;
pub mod ir;
pub mod kernels;
pub mod locals;
pub mod narrow_accumulators;
pub mod ordered_regions;
pub mod parallel_regions;
pub mod parse;
pub mod print;
pub mod rsqrt_refinement;
pub mod strip_mining;
mod structures;
mod tidy;
pub mod translate;
pub mod unroll_and_jam;
mod uses;
pub mod vectors;
pub mod verify;
pub mod walk;
pub mod work_groups;

pub use error::{Failure, InternalError};
pub use translate::{Machine, TileSizes, tiled, translate, translate_with};
pub use verify::verify;
