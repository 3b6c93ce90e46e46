//! The passes over Flat.

mod blocks;
mod bounds;
mod filters;
mod flatten_regular;
mod flattened;
mod fusion;
mod induction;
mod licm;
mod loop_versioning;
mod measure;
mod narrow;
mod neutral_starts;
mod passes;
mod profile;
mod speculate;
mod support;
mod tables;
mod tail_loops;
mod zeros;
