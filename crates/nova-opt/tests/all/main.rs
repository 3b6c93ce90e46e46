//! The passes over Flat.

mod fusion;
mod hoist;
mod kept;
mod passes;
mod support;
