//! Tests of the translation of Mem to Loop.

#[path = "../../../nova-flat/tests/support/mod.rs"]
mod support;

mod fixed_blocks;
mod lanes;
mod large;
mod programs;
mod tiles;
