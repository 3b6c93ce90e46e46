//! Tests of the generated C: its text, and its behaviour when it is compiled with every available
//! compiler.

mod failures;
mod ffi;
mod foreign;
mod gathers;
mod golden;
mod non_temporal;
mod operations;
mod races;
mod scalars;
mod shapes;
mod support;
mod traces;
