//! The interference checker proves that no iteration of a parallel loop writes what another one reads
//! or writes (funmem.txt equation 4, dpia.txt §3; architecture, invariant 9).
//!
//! **Property.** The checker looks at each loop whose iterations may run in parallel (every level but
//! `sequential` and `unrolled`). It compares each path on which an iteration writes elements of a
//! block with each path to the same block. It proves that two different iterations do not use one
//! element, or that one of them has done so before the other one may. [`walk`] collects the paths:
//! loads, stores, and the reads and writes of commands on many elements, at any depth. It also collects
//! the facts that hold on each path.
//!
//! **Trust.** [`find`](mod@find) proposes a [`Witness`](nova_loop::ir::Witness), which is not trusted. [`check`] takes
//! only the program and the witness, follows no hints from earlier passes, and refuses what
//! it cannot prove. It relies on what the verifier checks (scopes, types, references), and assumes:
//! 1. Arithmetic on `i64` does not wrap where addresses and counts are computed, nor in sums that give
//!    the starts of chunks (scans of offsets, propagated prefixes), since what they count fits in memory.
//! 2. Every access lies in the block that its pointer leads to, or in the part of one, and reads
//!    what was written.
//! 3. Commands do what `ir` says, and use the elements that their rows in its table state.
//!    `Allocate` and `StoreBuffer` take no negative number of elements. `PlanNonTemporal` gives a
//!    number from -1 to one less than its width. `Unique` copies only blocks that have other holders.
//! 4. The lengths of a caller's arrays are not negative, as the FFI boundary checks.
//! 5. Where `nodes_by_threads` is set, threads that append nodes to one table get different ones.
//!    An iteration knows only its own nodes and those from outside the loop: links reach it
//!    only by memory and variables, whose paths are checked.
//! 6. The place of `Spare` is none of those into which the pointers that it names lead.
//! 7. Where `Contend` lets any value stay, the values are equal or the element is not read
//!    (`Positions::Unordered` of Flat promises that).
//! 8. For [`Reason::Checked`](nova_loop::ir::Reason::Checked), a `Check` ends the program: iterations may meet before it fails.
//!
//! **Method.** [`values`] expresses scalars as sums of products of symbols, and pointers as an index
//! from a base. [`nova_symbolic::Prover`] shows that a sum is never negative. For iterations p < q, the later one's
//! symbols are renamed and its index is p + 1 + d. The two indices must then differ in the same
//! direction for all p and d, by the facts of either iteration. Two bases are taken for one block
//! unless the program shows that they are not ([`blocks`]). They are two blocks if different commands
//! allocated them, or if one block was allocated after the other pointer was made. They are also two if no
//! node held the one yet when the pointer to the other was read from a node. All arrays that a function
//! was given may be one block, which is not written.
//!
//! | rule | a loop is refused where |
//! | --- | --- |
//! | [`Rule::Scalars`] | an iteration assigns a variable from outside the loop |
//! | [`Rule::Handles`] | it counts references of a block from outside the loop, or passes such a handle on |
//! | [`Rule::WholeCall`] | it returns, traces, calls foreign functions with side effects, allocates a result, or appends nodes that threads may not append |
//! | [`Rule::Inputs`] | it calls a function that writes what it was given |
//! | [`Rule::Blocks`] | it writes through one pointer a block to which another one may lead |
//! | [`Rule::Fields`] | it leaves its field of the structures of a result |
//! | [`Rule::Elements`] | no reason of the witness keeps two paths to one block apart |
//! | [`Rule::Contended`] | several iterations write one element, not all of them by `Contend`, or not all so that the same value stays |
//! | [`Rule::Ordered`] | an ordered region is to order two paths, but the earlier iteration's is after its region, or the later one's is before |
//! | [`Rule::Propagated`] | a propagated prefix is a sum of addends that may be negative |
//! | [`Rule::Addends`] | a scan of offsets adds numbers that may be negative |
//! | [`Rule::Limits`] | chunks end where a bisection finds a limit that may be greater than the next chunk's |
//! | [`Rule::Checks`] | a chunk compares itself with the start of the next one, but not wherever there is a next one |
//! | [`Rule::Divisions`] | a quotient and a remainder are not of the same division |
//! | [`Rule::Quotients`] | a quotient of another number than the iteration's may fall |
//! | [`Rule::Sizes`] | rows have a length whose sign only the size of an array tells |
//! | [`Rule::Chosen`] | a pointer leads where one branch has left it, and not the other |
//! | [`Rule::Carried`] | a pointer leads where a sequential loop has left it |
//! | [`Rule::Barriers`] | a barrier stands where not all iterations reach it together |
//! | [`Rule::Waits`] | threads of a work-group use an array that another one writes, with no barrier between ([`waits`]) |
//! | [`Rule::Places`] | an array of a group is made again over one that is still used, or threads together write an array that each has for itself |
//!
//! Private memory needs no reason. A block that an iteration allocates is its own, since pointers are
//! not stored in memory, and no variable from outside the loop is assigned. A part of an array is
//! private, too, once it is proved that other iterations use none of its elements. For that proof the
//! checker treats the declaration of the part as a write to all of it.

mod bases;
mod bisections;
mod blocks;
mod branches;
mod bulk;
mod carried;
mod checker;
mod commands;
mod dimensions;
mod extents;
mod facts;
mod find;
mod holding;
mod invariants;
mod iteration;
mod loop_nest;
mod loops;
mod operations;
mod prefixes;
mod provers;
mod refusal;
mod rules;
mod scans;
mod settle;
mod sizes;
mod stale;
mod state;
mod steps;
mod symbolic;
mod tables;
mod truths;
mod values;
mod waits;
mod walk;

pub use checker::{Findings, check, find, verify, writes};
pub use refusal::{RULES, Refusal, Rule};
pub use settle::{Unproved, settle};
