//! The library as front ends use it, and what its pipeline makes of programs.

mod beside;
mod doubling;
mod library;
mod optimiser;
mod parallelism;
mod proofs;
mod strategies;
