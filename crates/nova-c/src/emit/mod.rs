//! Emits expressions and commands of Loop as expressions and statements of C: all commands without
//! control flow.
//!
//! [`expression`] emits expressions, [`variables`] declarations and assignments, [`exits`] the ends of
//! functions and failures, [`memory`] allocations and stores, [`calls`] calls. [`bulk`] handles commands
//! on many elements, [`runtime_calls`] commands that are only calls of the runtime. [`nodes`] holds
//! recursive data in tables. [`accesses`] and [`races`] add code that traces races.

pub(crate) mod accesses;
mod bulk;
pub(crate) mod calls;
mod contend;
pub(crate) mod exits;
pub(crate) mod expression;
mod fixed_blocks;
pub(crate) mod memory;
pub(crate) mod node_commands;
pub(crate) mod nodes;
mod non_temporal;
pub(crate) mod races;
mod result_buffers;
pub(crate) mod runtime_calls;
pub(crate) mod variables;
