//! The passes over Flat.

mod fusion;
mod passes;
mod support;
