//! Mem: its text, its rules, its meaning.

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
