//! Tests of the lowering: a program has the same value as Core, as lowered Flat, and after each pass.

#[path = "../../../nova-flat/tests/support/lines.rs"]
mod lines;
#[path = "../../../nova-core/tests/support/random_nodes.rs"]
mod random_nodes;

mod nodes;
mod programs;
mod shrink;
mod stages;
