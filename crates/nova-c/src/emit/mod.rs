//! Emits functions of Loop as functions of C.
//!
//! [`mod@function`] emits parameters and results. [`command`] chooses the method for each command, and
//! [`control`] emits conditionals and loops, [`expression`] expressions. The other modules emit groups
//! of commands. [`region`] emits loops that threads of a processor share. [`nodes`] holds recursive data
//! in tables. [`races`] adds code that traces races.

mod bulk;
mod command;
mod contend;
pub mod control;
mod expression;
mod fixed_blocks;
pub mod function;
mod node_commands;
mod nodes;
mod non_temporal;
mod races;
mod region;
mod result_buffers;
