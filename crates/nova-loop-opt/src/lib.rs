//! Passes on Loop: each rewrites a program of Loop and leaves its meaning as it is. nova-driver has the table
//! that says in which order they run, and on which machines. The passes that make kernels are a crate of their
//! own, nova-kernels.
//!
//! **For processors.** [`invariant_checks`] makes checks before loops, and [`loop_unswitching`] decides conditions there. [`index_set_splitting`] makes indices plain, so that C compilers make vectors of loops.
//! [`lockstep`] takes the iterations of outer loops in lanes. [`narrow_accumulators`], [`rsqrt_refinement`], [`unroll_and_jam`] and [`strip_mining`] then rewrite
//! loops for vector registers and caches, and [`chained_scan`] merges the loops of a chunked scan.
//! [`parallel_regions`] decides last which loops threads share.
//!
//! **For both.** [`tidy`] removes unused variables, [`locals`] puts small arrays on the stack, [`empties`]
//! skips nests of loops that do nothing and [`filter_assertions`] adds checks that the checker of races needs.
//!
//! Passes import the analyses of nova-loop and never the checker of races: what a pass does is checked by code
//! that the pass does not call.

pub mod chained_scan;
pub mod empties;
pub mod filter_assertions;
pub mod index_set_splitting;
pub mod invariant_checks;
mod limits;
pub mod locals;
pub mod lockstep;
pub mod loop_unswitching;
mod masks;
pub mod narrow_accumulators;
pub mod parallel_regions;
pub mod rsqrt_refinement;
pub mod strip_mining;
pub mod tidy;
pub mod unroll_and_jam;
