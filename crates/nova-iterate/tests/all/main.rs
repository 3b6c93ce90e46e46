//! Passes on loops over arrays: values stay the same, and fewer operations are left.

#[path = "../../../nova-opt/tests/support/mod.rs"]
mod support;

mod addends;
mod columns;
mod positions;
mod repeated;
