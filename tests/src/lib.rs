//! The shared code of the tests across crates.
//!
//! [`scalars`] writes tables of operations. [`random`] and [`conformance`] write well-typed
//! programs with inputs for the differential tests. [`stages`] runs a program at every stage of the
//! compiler. [`nested`] reads the nested programs and draws their inputs. [`host`] runs programs in
//! hosts in C, [`programs`] on devices. [`inputs`] parses their inputs. [`sources`] finds the programs of
//! the repository. [`effort`] says how many cases of large products are tried.

pub mod bench;
pub mod conformance;
pub mod defects;
pub mod devices;
pub mod effort;
pub mod foreign;
pub mod group_campaign;
pub mod group_programs;
pub mod host;
pub mod inputs;
pub mod nested;
pub mod passes;
pub mod plan_campaign;
pub mod processes;
pub mod programs;
pub mod random;
pub mod random_campaign;
pub mod reference;
pub mod scalars;
pub mod shrink;
pub mod sources;
pub mod stages;
