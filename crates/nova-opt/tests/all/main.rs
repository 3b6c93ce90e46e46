//! The passes over Flat.

mod addends;
mod blocks;
mod bounds;
mod divide;
mod flattened;
mod fusion;
mod hoist;
mod induction;
mod kept;
mod measure;
mod narrow;
mod nests;
mod ordered;
mod passes;
mod regular;
mod speculate;
mod strategies;
mod support;
mod tail_loops;
mod together;
mod zeros;
