//! Programs of Flat as Loop, for tests of passes on Loop.

use nova_diag::SourceMap;
use nova_expand::{TileSizes, translate_with};
use nova_loop::ir::{Command, Level, Program};
use nova_loop::walk::each_command;
use nova_machine::Machine;

/// Translates a program of Flat for a device, without passes on Flat and Mem.
pub fn for_device(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("flat", text);
    let program = nova_flat::parse::parse(text, file);
    let program = program.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    nova_flat::verify::verify(&program).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let mem = nova_mem::introduce(&program);
    let mut translated = translate_with(&mem, false, TileSizes::default(), Machine::Device)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    nova_loop_opt::tidy::run(&mut translated);
    nova_loop::verify(&translated).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    translated
}

/// Returns the levels of the loops of a function, outermost first.
pub fn levels(body: &[Command]) -> Vec<Level> {
    let mut found = Vec::new();
    each_command(body, |command| {
        if let Command::For { level, .. } = command {
            found.push(*level);
        }
    });
    found
}
