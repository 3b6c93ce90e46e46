//! Patterns for groups of commands. A match over some commands names the groups of the others and so
//! stays exhaustive.

/// A pattern for commands that declare or assign variables.
#[macro_export]
macro_rules! variable_commands {
    () => {
        $crate::ir::Command::Declare { .. }
            | $crate::ir::Command::Local { .. }
            | $crate::ir::Command::Shared { .. }
            | $crate::ir::Command::Spare { .. }
            | $crate::ir::Command::Assign { .. }
    };
}

/// A pattern for commands on blocks and on single elements.
#[macro_export]
macro_rules! block_commands {
    () => {
        $crate::ir::Command::Store { .. }
            | $crate::ir::Command::Contend { .. }
            | $crate::ir::Command::Allocate { .. }
            | $crate::ir::Command::Reserve { .. }
            | $crate::ir::Command::Unique { .. }
            | $crate::ir::Command::Retain(_)
            | $crate::ir::Command::Release(_)
            | $crate::result_buffer_commands!()
    };
}

/// A pattern for commands of parallel loops: on per-iteration result buffers, and the test whether threads
/// wait for work.
#[macro_export]
macro_rules! result_buffer_commands {
    () => {
        $crate::ir::Command::MaySplit { .. }
            | $crate::ir::Command::ResultBuffers { .. }
            | $crate::ir::Command::StoreBuffer { .. }
            | $crate::ir::Command::Buffer { .. }
            | $crate::ir::Command::DropBuffers { .. }
    };
}

/// A pattern for commands that move or combine many elements.
#[macro_export]
macro_rules! bulk_commands {
    () => {
        $crate::ir::Command::Copy { .. }
            | $crate::ir::Command::PlanNonTemporal { .. }
            | $crate::ir::Command::NonTemporalStore { .. }
            | $crate::fixed_block_commands!()
    };
}

/// A pattern for commands on blocks of a fixed size, and the command that decides about their use.
#[macro_export]
macro_rules! fixed_block_commands {
    () => {
        $crate::ir::Command::PaddedCopy { .. }
            | $crate::ir::Command::TreeReduce { .. }
            | $crate::ir::Command::LaneReduce { .. }
            | $crate::ir::Command::MultiplyPanels { .. }
            | $crate::ir::Command::SortWords { .. }
            | $crate::ir::Command::PlanRows { .. }
            | $crate::ir::Command::PrefixScan { .. }
            | $crate::ir::Command::Gather(_)
    };
}

/// A pattern for commands on memory and its blocks.
#[macro_export]
macro_rules! memory_commands {
    () => {
        $crate::block_commands!() | $crate::bulk_commands!()
    };
}

/// A pattern for commands that contain command lists.
#[macro_export]
macro_rules! structures {
    () => {
        $crate::ir::Command::If { .. }
            | $crate::ir::Command::Switch { .. }
            | $crate::ir::Command::For { .. }
            | $crate::ir::Command::Loop { .. }
    };
}

/// A pattern for commands after which execution does not go on with the next command.
#[macro_export]
macro_rules! jumps {
    () => {
        $crate::ir::Command::Break | $crate::ir::Command::Continue | $crate::ir::Command::Return
    };
}

/// A pattern for commands that may stop the program with an error.
#[macro_export]
macro_rules! errors {
    () => {
        $crate::ir::Command::Check { .. } | $crate::ir::Command::Fail { .. }
    };
}

/// A pattern for calls, nodes and traces.
#[macro_export]
macro_rules! calls {
    () => {
        $crate::ir::Command::Call { .. }
            | $crate::ir::Command::Foreign { .. }
            | $crate::ir::Command::NodeNew { .. }
            | $crate::ir::Command::NodePayload { .. }
            | $crate::ir::Command::Table(_)
            | $crate::ir::Command::Trace { .. }
    };
}

/// A pattern for the commands that begin and end the ordered regions of a parallel loop.
#[macro_export]
macro_rules! ordered_commands {
    () => {
        $crate::ir::Command::BeginOrdered(_) | $crate::ir::Command::EndOrdered(_)
    };
}

/// A pattern for commands that compute nothing.
#[macro_export]
macro_rules! remarks {
    () => {
        $crate::ir::Command::Barrier(_)
            | $crate::ordered_commands!()
            | $crate::ir::Command::StoreFence
            | $crate::ir::Command::Prefetch { .. }
            | $crate::ir::Command::OnHost { .. }
            | $crate::ir::Command::Comment(_)
    };
}
