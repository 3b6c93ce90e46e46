//! Flat: its text, its rules, its meaning.

#[path = "../support/mod.rs"]
mod support;

mod large;
mod programs;
mod rules;
mod text;
