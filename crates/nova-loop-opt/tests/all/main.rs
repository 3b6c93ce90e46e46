//! Tests of the passes on Loop.

mod chained_scan;
mod decoupling;
mod filter_assertions;
mod index_set_splitting;
mod lockstep;
mod loop_unswitching;
mod narrow_accumulators;
mod packing;
mod parallel_regions;
mod prefix_scans;
mod programs;
mod rsqrt_refinement;
mod stack;
mod strip_mining;
mod unroll_and_jam;
mod values;
