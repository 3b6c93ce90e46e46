//! Tests of the pass that lets loops reclaim nodes.

#[path = "../../../nova-loop-opt/tests/all/programs.rs"]
mod programs;
#[path = "../../../nova-loop-opt/tests/all/values.rs"]
mod values;

mod reclaim;
