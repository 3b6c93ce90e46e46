//! The library as front ends use it, and what its pipeline makes of programs.

mod beside;
mod division;
mod doubling;
mod library;
mod optimiser;
mod proofs;
mod strategies;
