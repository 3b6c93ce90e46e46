//! Tests of the passes on Loop.

mod call_stack;
mod chained_scan;
mod filter_assertions;
mod index_set_splitting;
mod kernels;
mod narrow_accumulators;
mod ordered_regions;
mod parallel_regions;
mod prefix_scans;
mod programs;
mod reclaim;
mod rsqrt_refinement;
mod stack;
mod strip_mining;
mod thread_coarsening;
mod translated;
mod unroll_and_jam;
mod work_groups;

use nova_loop::ir::Program;
use nova_loop_opt as passes;

/// Runs the passes that make kernels, in their order. The program after each of them is one that the
/// verifier accepts, and that its text gives back.
fn make_kernels(program: &mut Program) {
    let passes: [fn(&mut Program); 4] = [
        passes::kernels::instances::run,
        passes::work_groups::run,
        passes::kernels::run,
        passes::call_stack::run,
    ];
    for pass in passes {
        (*program, _) = programs::after(program, pass);
    }
}
