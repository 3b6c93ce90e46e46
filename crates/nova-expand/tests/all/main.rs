//! Tests of the translation of Mem to Loop.

#[path = "../../../nova-flat/tests/support/mod.rs"]
mod support;

mod contractions;
mod fixed_blocks;
mod lanes;
mod large;
mod programs;
mod tiles;

use nova_core::Value;
use nova_core::error::Failure;
use nova_core::interpret::Options;
use nova_flat::ir::Program;

/// Returns what a program of Flat gives for inputs, and what its translation gives.
fn results(
    flat: &Program,
    translated: &nova_loop::ir::Program,
    input: &str,
    strict: bool,
) -> [Result<Value, Failure>; 2] {
    let options = Options {
        strict,
        ..Options::default()
    };
    let values = support::inputs_of(flat, input);
    [
        nova_flat::interpret::evaluate(flat, 0, &values, &options),
        nova_loop::interpret::evaluate(translated, 0, &values, &options),
    ]
}
