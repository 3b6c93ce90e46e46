//! The passes over Flat.

mod addends;
mod blocks;
mod bounds;
mod filters;
mod flatten_regular;
mod flattened;
mod fusion;
mod induction;
mod licm;
mod measure;
mod narrow;
mod nests;
mod ordered;
mod parallelise;
mod passes;
mod speculate;
mod strategies;
mod support;
mod tail_loops;
mod together;
mod zeros;
