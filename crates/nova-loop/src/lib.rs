//! Loop: imperative commands over memory blocks (the imperative half of dpia.txt §3–§4).
//!
//! **A Loop program** is a set of functions whose bodies are lists of [`ir::Command`]s. Commands
//! declare and assign variables, load and store elements through pointers, run loops and conditionals,
//! call functions, and manage blocks of memory explicitly. Expressions are trees without side effects.
//! `and` and `or` of bools compute both sides; `select` computes only the side that is chosen. A C
//! programmer would write much the same program, and an emitter only chooses the words of its language.
//!
//! **Variables** are scalars, pointers to elements, or handles of blocks. A variable is declared once, by
//! `Declare` or as a parameter, a result or a loop index, and its identifier is unique in the program.
//! It lives to the end of the command list that declares it. A variable that `Declare` introduces, a
//! parameter and a result may be assigned more than once.
//!
//! **Blocks** are reference-counted. `Allocate` gives a handle with one reference and a pointer to the
//! first element. `Retain` and `Release` change the count, and a block with count 0 is freed. Both
//! accept the null handle, which stands for memory that the caller owns. A pointer is valid as long as
//! its block. Parameters are borrowed: the caller keeps its reference for the duration of the call.
//! Each result carries a reference, which the caller owns from then on. When an error stops the program,
//! the runtime frees everything that the program has allocated, so commands need not clean up.
//!
//! **References belong to handles**, and the number of references of each handle is known statically at
//! every command:
//! - `Retain` adds one, and `Release` removes one;
//! - `Allocate`, `Reserve` and the results of calls give a handle one; `Reserve` and `Unique` first
//!   take the one that the handle has;
//! - the assignment of a handle to another moves one reference, which the source must have and the
//!   target must not;
//! - parameters, and handles that `NodePayload` gives, have none.
//!
//! The null handle is a reference like any other. At the end of its scope a handle must have no
//! reference left, except that each result has one where the function ends.
//!
//! **An array in a parameter, result, foreign call, node or trace** is two variables or expressions:
//! a pointer to its first element, in row-major order, and the handle of its block. Sizes are separate
//! scalars.
//!
//! **Levels.** Each `For` has a [`ir::Level`], which says what runs its iterations. The iterations of a
//! loop at the level of a grid may be distributed among threads: no iteration reads what another one
//! writes, and no two write the same element. If several iterations fail, the error of the loop is that
//! of the first. The pass `parallel_regions` decides which of these loops can run in parallel as they stand.
//!
//! **Work-groups** (dpia.txt §6.2). A work-group executes one iteration of a loop at the level of a
//! block. All its threads run the body, each with its own variables, so all compute the same values.
//! A loop at the level of a thread, inside such a body, distributes its iterations among the threads; a
//! loop of one iteration runs on a single thread. Only these loops write memory that other threads see.
//! A `Shared` array belongs to the group. A `Local` array outside of these loops belongs to each
//! thread. `Barrier` separates commands where threads read or write what others have written or read;
//! the pass `work_groups` inserts barriers, and the checker of races requires them (nova-race). Read as
//! ordinary loops, such programs mean the same.
//!
//! **Witnesses** state why the iterations of a parallel loop, or of a loop at the level of a vector, do
//! not interfere. nova-race finds and checks them.
//!
//! **Ordered regions.** A parallel loop may execute a part of each iteration in the order of its indices,
//! between `BeginOrdered` and `EndOrdered`, like the ordered construct of OpenMP. The pass `chained_scan` makes
//! such loops. The ordered region of a work-group only propagates prefixes ([`ordered_regions`]); on
//! CUDA it is implemented by decoupled look-back.
//!
//! **Result buffers.** An iteration of a parallel loop may make an array whose size is only known inside
//! the iteration. `ResultBuffers` makes a table with a buffer for each iteration, `StoreBuffer` puts
//! the array of an iteration there, and `Buffer` reads it back. After the loop the buffers are
//! concatenated, and `DropBuffers` frees them.
//!
//! **Non-temporal stores.** `PlanNonTemporal`, `NonTemporalStore` and `StoreFence` write a large result
//! without filling the caches. They mean the same as ordinary stores of these elements, and the
//! decision of `PlanNonTemporal` never changes a value.
//!
//! **Commands for vector registers.** `PaddedCopy`, `TreeReduce` and `LaneReduce` work on blocks of a
//! fixed size ([`ir::FIXED_BLOCK`]). `PrefixScan` computes the prefix sums of sixteen elements, in a
//! bracketing of its own. `MultiplyPanels` is the inner loop of a contraction, which keeps its sums in
//! registers. `SortWords` sorts words by their bits. [`ir::Gather`] prepares a loop over sixteen elements: it checks the bounds of
//! indices in memory, and copies into local arrays the elements that the loop would read with a stride
//! or at indices. It also copies rows so that their elements of one index lie side by side.
//!
//! **Nodes of recursive data** live to the end of a call, except those that `Reclaim` drops: nodes that were
//! made since a `Mark`, and that neither the links of the command nor nodes that stay reach. The others move,
//! and links to them change. Both commands in an iteration that a thread runs are about the nodes of this
//! thread alone. The pass `reclaim` adds these commands last, so no other pass sees links change.
//!
//! **Errors** are `Check` and `Fail`, and failing calls, allocations and recursion, which the runtime
//! reports. An error leaves the program at once.
//!
//! **One table** describes the commands: the word of each in the text, and its operands with their roles
//! and types ([`ir::operands`]). The walks, the printer, the parser and most rules of types follow from it.
//!
//! **Analyses** that the checker, the translation, passes and emitters share: [`walk`] and [`uses`] of
//! commands, [`captures`] of loops, the [`aliases`] of pointers, the [`links`] in variables and arrays,
//! the [`call_graph`], the memory of [`kernels`], [`ordered_regions`],
//! [`streams`] and [`neighbours`] of elements, [`counters`], and the [`cost`] of code.
//!
//! **Guarantees.** [`mod@verify`] states them; a program that it accepts makes no emitter fail (architecture
//! invariant 5). **No longer in the program:** arrays as values, views, bodies with results, and open
//! bracketing. Reductions and scans are explicit loops, under `--fp strict` in the order of
//! docs/order.md.

pub mod aliases;
pub mod call_graph;
pub mod captures;
pub mod copies;
pub mod cost;
pub mod counters;
pub mod error;
pub mod expression;
pub mod first_fields;
pub mod first_writes;
pub mod functions;
pub mod idioms;
pub mod interpret;
pub mod ir;
pub mod kernels;
pub mod links;
pub mod neighbours;
pub mod ordered_regions;
pub mod parse;
pub mod print;
pub mod streams;
pub mod uses;
pub mod verify;
pub mod walk;

pub use error::{Failure, InternalError};
pub use verify::verify;
