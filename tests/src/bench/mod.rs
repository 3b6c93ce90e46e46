//! The benchmark command. It runs the programs compiled by NOVA against C written by hand, on the
//! same data, through the same call, and checks each result before it is timed.
//!
//! [`workloads`] draws the data and checks the results. [`build`] compiles both sides, [`peer_library`]
//! the hand-written one as a library of NOVA's. [`measure`]
//! times them alternately, together with the machine's limits. [`report`] and [`plot`] write the
//! results. [`threads`] does the same with threads, against more opponents. [`recursion`] measures
//! programs on lists and trees, [`applications`] programs of other collections.

pub mod applications;
pub mod build;
pub mod limits;
pub mod measure;
pub mod memory;
pub mod passes;
pub mod peer_library;
pub mod plot;
pub mod recursion;
pub mod report;
pub mod run;
pub mod threads;
pub mod workload;
pub mod workloads;
