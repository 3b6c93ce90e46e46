//! Tests of the passes that make kernels.

#[path = "../../../nova-loop-opt/tests/all/programs.rs"]
mod programs;

mod call_stack;
mod kernels;
mod ordered_regions;
mod thread_coarsening;
mod translated;
mod work_groups;

use nova_kernels as passes;
use nova_loop::ir::Program;

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
