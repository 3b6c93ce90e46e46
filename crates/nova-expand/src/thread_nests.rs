//! Nests of loops over the threads of a group. Loop has none: the inner loops become sequential.

use nova_loop::ir::{Level, Program};
use nova_loop::walk::set_levels;

/// Makes loops over threads of a group sequential where they stand inside another such loop. Flat keeps
/// strategies as they were written, and only the driver, which sees the source, can report an error with a
/// place.
pub(crate) fn flatten(program: &mut Program) {
    for function in &mut program.functions {
        set_levels(&mut function.body, false, &|in_thread, _, level, _| {
            let level = match level {
                Level::Grid | Level::Block | Level::Thread if in_thread => Level::Sequential,
                others => others,
            };
            (level, in_thread || level == Level::Thread)
        });
    }
}
