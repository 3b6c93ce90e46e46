//! The tests across crates, in one program, so that those of several files run side by side. What
//! changes the environment of its own process stands apart (`nested_threads.rs`).

mod absent;
mod bench_threads;
mod benchmarks;
mod blocks;
mod buffers;
mod callers;
mod extents;
mod foreign;
mod foreign_results;
mod freedom;
mod group_loops;
mod group_scans;
mod groups;
mod histograms;
mod honoured;
mod kernels;
mod lanes;
mod library_names;
mod limits;
mod nested;
mod nested_races;
mod pairs;
mod parallel;
mod peers;
mod profiles;
mod races;
mod radix;
mod release;
mod robust;
mod scalars;
mod scans;
mod segments;
mod stencils;
mod vector_math;
