//! Tests of Mem: its text, its rules, its semantics.

#[path = "../../../nova-flat/tests/support/mod.rs"]
mod support;

mod large;
mod mistakes;
mod passes;
mod programs;
mod reuse;
mod rules;
mod settle;
mod short_circuit;
