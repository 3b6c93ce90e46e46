//! Commands that number, reserve, fill or check nodes of whole tables. [`walks`] defines functions that
//! find the links of a group's nodes, with which the runtime walks over them (`runtime-c/common/reached.h`).
//! [`commands`] emits the commands, and [`reclaim`] those that reclaim nodes.

pub(crate) mod commands;
mod links;
mod reclaim;
mod walks;
