//! Tests of Loop: its text, its rules, and its meaning.

mod aliases;
mod grids;
mod idioms;
mod locals;
mod rules;
