//! Tests of the library as front ends use it, and of the programs that its pipeline makes.

mod beside;
mod builder;
mod doubling;
mod library;
mod lines;
mod optimiser;
mod parallelism;
mod proofs;
mod strategies;
