//! Tests of Flat: its text, its rules, its semantics.

#[path = "../support/mod.rs"]
mod support;

mod large;
mod positions;
mod programs;
mod rules;
mod text;
