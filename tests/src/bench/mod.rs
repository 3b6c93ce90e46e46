//! The benchmark command: the programs compiled by NOVA against C written by hand, on the same data,
//! through the same call, each result checked before it is timed.
//!
//! [`workloads`] draws the data and knows what the results must be; [`build`] compiles both sides;
//! [`measure`] times them in turn, beside the machine's limits; [`report`] and [`plot`] write what
//! was found. [`threads`] does the same with threads, against more opponents.

pub mod build;
pub mod limits;
pub mod measure;
pub mod memory;
pub mod passes;
pub mod plot;
pub mod report;
pub mod run;
pub mod threads;
pub mod workload;
pub mod workloads;
