//! Selects the loops at the level of a grid that become kernels of a device: those whose iterations
//! use nothing that only the host has. All other loops run on the host, in order.
//!
//! A kernel may compute, and may read and write arrays from outside it. It may make arrays of its
//! own in memory of the thread, and store them in per-iteration result buffers. It may append nodes
//! without arrays, call functions that do no more, and fail. [`crate::obstacles`] lists what it may
//! not do. Each pointer variable of a kernel leads either to memory that all threads see or to an array of
//! the thread's own ([`own_pointers`]), since kernel languages distinguish these in their types.

pub mod instances;

use crate::call_stack;
use crate::obstacles::{functions_for_the_host, obstacle};
use crate::work_groups::has_group_loops;
use nova_loop::captures::keeps_to_itself;
use nova_loop::ir::{Command, Level, Program};
use nova_loop::kernels::{own_pointers, tables_in, tables_of_kernels};
use nova_loop::walk::{has_ordered_region, set_levels};
use nova_loop_opt::parallel_regions::restrict;

/// Leaves the loops at the level of a grid that can be kernels as they are. All other such loops,
/// and those inside kernels, become sequential. Work-groups have been lowered before, and recursive
/// functions that can have an explicit call stack get one later.
pub fn run(program: &mut Program) {
    let with_call_stack = call_stack::convertible(program);
    let host = functions_for_the_host(program, &with_call_stack);
    let variables = program.clone_types();
    restrict(program, &|index, body| {
        // A loop over work-groups cannot start in a thread of a grid: the host runs the loops that
        // enclose it.
        keeps_to_itself(index, body)
            && !has_ordered_region(body)
            && !has_group_loops(body)
            && obstacle(&variables, &host, body).is_none()
            && own_pointers(&variables, body).is_some()
    });
    for function in &mut program.functions {
        flatten(&mut function.body);
    }
    keep_readers_of_host_tables_on_host(program);
    instances::leave_to_kernels(program);
}

/// Makes loops sequential that read result buffers which the host has stored, since the device has
/// no table of them. This is repeated until all other loops read buffers that kernels have stored.
fn keep_readers_of_host_tables_on_host(program: &mut Program) {
    let mut before = usize::MAX;
    loop {
        let tables = tables_of_kernels(program);
        if tables.len() == before {
            return;
        }
        before = tables.len();
        restrict(program, &|_, body| tables_in(body).is_subset(&tables));
    }
}

/// Makes loops inside kernels sequential, since one thread runs an iteration.
fn flatten(commands: &mut [Command]) {
    set_levels(commands, false, &|inside, _, level, _| {
        let level = match level {
            Level::Grid if inside => Level::Sequential,
            others => others,
        };
        (level, inside || level.starts_kernel())
    });
}
