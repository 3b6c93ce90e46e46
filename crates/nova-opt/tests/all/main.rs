//! The passes over Flat.

mod blocks;
mod bounds;
mod divide;
mod flattened;
mod fusion;
mod hoist;
mod kept;
mod measure;
mod narrow;
mod nests;
mod ordered;
mod passes;
mod regular;
mod strategies;
mod support;
mod together;
mod zeros;
