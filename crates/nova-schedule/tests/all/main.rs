//! The forms of operations, and the strategies that programs state.

#[path = "../../../nova-opt/tests/support/mod.rs"]
mod support;

mod nests;
mod ordered;
mod parallelise;
mod strategies;
