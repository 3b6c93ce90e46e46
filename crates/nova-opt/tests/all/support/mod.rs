//! Running passes and describing programs of Flat, for the tests of all passes.

#[path = "../../support/mod.rs"]
mod programs;

pub use programs::{apply, read, value, value_with};

use nova_flat::ir::Program;
use nova_flat::print::print;

/// Runs a pass and checks that the result is valid.
pub fn after(pass: fn(&mut Program), text: &str) -> Program {
    let mut program = read(text);
    apply(pass, &mut program);
    program
}

/// Returns the words of the statements of a program, in order: its shape without its names.
pub fn shape(program: &Program) -> Vec<String> {
    let text = print(program);
    let statements = text.split("(let [").skip(1);
    statements
        .filter_map(|s| s.split_once("] (").map(|(_, rest)| rest))
        .filter_map(|s| s.split([' ', ')']).next())
        .map(str::to_string)
        .collect()
}
