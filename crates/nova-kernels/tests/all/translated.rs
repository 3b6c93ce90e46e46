//! Programs of Flat as Loop, for tests of passes on Loop.

use nova_diag::SourceMap;
use nova_expand::{TileSizes, translate_with};
use nova_loop::ir::Program;
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
