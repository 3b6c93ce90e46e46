//! C from Loop: its text, and what it does compiled with every compiler that is there.

mod failures;
mod ffi;
mod foreign;
mod golden;
mod operations;
mod races;
mod rounds;
mod scalars;
mod shapes;
mod streams;
mod support;
mod traces;
