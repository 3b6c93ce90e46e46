//! The benchmark command. It runs the programs compiled by NOVA against C written by hand, on the
//! same data, through the same call, and checks each result before it is timed.
//!
//! [`workloads`] draws the data and checks the results. [`build`] compiles both sides, [`peer_library`]
//! the hand-written one as a library of NOVA's. [`measure`]
//! times them alternately, together with the machine's limits. [`report`] and [`plot`] write the
//! results. [`threads`] does the same with threads, against more opponents. [`hosted`] measures
//! collections of programs by hosts in C: [`recursion`] is those on lists and trees, [`kernels`] those that libraries
//! have, too. [`applications`] measures programs of other collections,
//! [`compile`] the time until a program runs.

pub mod applications;
pub mod build;
pub mod compile;
pub mod hosted;
pub mod kernels;
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
