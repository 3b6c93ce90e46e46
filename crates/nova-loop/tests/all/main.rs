//! Tests of Loop: its text, its rules, and its meaning.

mod grids;
mod locals;
mod rules;
