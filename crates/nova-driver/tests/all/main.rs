//! The library as front ends use it, and what its pipeline makes of programs.

mod library;
mod optimiser;
