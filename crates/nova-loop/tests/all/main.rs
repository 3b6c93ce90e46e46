//! Loop: its text, its rules, its meaning, and the translation to it.

#[path = "../../../nova-flat/tests/support/mod.rs"]
mod support;

mod bytes;
mod chain;
mod counts;
mod few;
mod fills;
mod frames;
mod grids;
mod indices;
mod jam;
mod kernels;
mod lanes;
mod large;
mod levels;
mod locals;
mod programs;
mod races;
mod regions;
mod roots;
mod rules;
mod running;
mod stack;
mod strips;
mod tiles;
mod turns;
