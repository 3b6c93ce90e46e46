//! Flat: its text, its rules, its meaning.

#[path = "../support/mod.rs"]
mod support;

mod large;
mod positions;
mod programs;
mod rules;
mod text;
