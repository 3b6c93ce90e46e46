//! Tests of the passes on Loop.

mod bytes;
mod call_stack;
mod chained_scan;
mod filter_assertions;
mod index_set_splitting;
mod kernels;
mod narrow_accumulators;
mod ordered_regions;
mod parallel_regions;
mod prefix_scans;
mod rsqrt_refinement;
mod stack;
mod strip_mining;
mod translated;
mod unroll_and_jam;
mod work_groups;
