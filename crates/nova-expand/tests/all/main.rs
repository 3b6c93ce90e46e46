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
use nova_expand::TileSizes;
use nova_flat::ir::Program;
use nova_machine::Machine;

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

/// Translates a program of Flat, and runs it; it must agree with the interpreter of Flat. Returns the text of
/// its translation, and what it gives.
fn agrees(flat: &str, input: &str, strict: bool, sizes: TileSizes) -> (String, String) {
    let program = support::read("agrees", flat);
    nova_flat::verify::verify(&program).unwrap();
    let mem = nova_mem::introduce(&program);
    let translated = nova_expand::translate_with(&mem, strict, sizes, Machine::Processor).unwrap();
    nova_loop::verify(&translated).unwrap();
    let results = results(&program, &translated, input, strict);
    let [wanted, found] = results.map(|result| support::outcome(&program, result));
    assert_eq!(found, wanted, "{input}");
    (nova_loop::print::print(&translated), found)
}

/// Returns a matrix of small integers as text, so that no order of additions changes a sum.
fn matrix(rows: usize, columns: usize, seed: usize) -> String {
    let number = |k: usize| ((k * 7919 + seed * 31) % 23) as i64 - 11;
    let row = |r: usize| {
        let numbers: Vec<String> = (0..columns)
            .map(|c| number(r * columns + c).to_string())
            .collect();
        format!("[{}]", numbers.join(" "))
    };
    format!("[{}]", (0..rows).map(row).collect::<Vec<_>>().join(" "))
}
