//! Tests of Loop: its text, its rules, its meaning, and the translation to it.

#[path = "../../../nova-flat/tests/support/mod.rs"]
mod support;

mod bytes;
mod call_stack;
mod chained_scan;
mod filter_assertions;
mod fixed_blocks;
mod grids;
mod index_set_splitting;
mod kernels;
mod lanes;
mod large;
mod locals;
mod narrow_accumulators;
mod ordered_regions;
mod parallel_regions;
mod prefix_scans;
mod programs;
mod races;
mod rsqrt_refinement;
mod rules;
mod stack;
mod strip_mining;
mod tiles;
mod unroll_and_jam;
mod work_groups;
