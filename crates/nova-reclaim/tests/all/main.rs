//! Tests of the pass that lets loops reclaim nodes.

// The modules have more than these tests need.
#[allow(dead_code)]
#[path = "../../../nova-loop-opt/tests/all/programs.rs"]
mod programs;
#[allow(dead_code)]
#[path = "../../../nova-loop-opt/tests/all/values.rs"]
mod values;

mod reclaim;
