//! The programs under `programs/`, each with its expected values in comments at its top:
//! `; test INPUT | INPUT => VALUE`, `=> error WORD`, or `=> internal` for a program without a check
//! that it should have.

use nova_core::interpret::Options;
use nova_core::text::{print_value, read_values};
use nova_diag::SourceMap;
use nova_flat::error::Failure;
use nova_flat::interpret::evaluate;
use nova_flat::ir::Program;
use nova_flat::parse::parse;
use nova_flat::print::print;

fn read(name: &str, text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    parse(text, file).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"))
}

/// What evaluating gives, as the right side of a test line.
fn outcome(program: &Program, inputs: &str) -> String {
    let entry = &program.entries[0];
    let types = entry.inputs.iter().map(|(_, ty)| ty);
    let values = read_values(inputs, types, &program.sums).unwrap();
    match evaluate(program, 0, &values, &Options::default()) {
        Ok(value) => print_value(&value, &entry.result, &program.sums),
        Err(Failure::Runtime(error)) => format!("error {}", error.kind.info().word),
        Err(Failure::Internal(_)) => "internal".to_string(),
    }
}

#[test]
fn programs_mean_what_they_say() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let program = read(&name, &text);
        let printed = print(&program);
        let again = read(&name, &printed);
        assert_eq!(print(&again), printed, "{name}");
        for line in text.lines().filter_map(|line| line.strip_prefix("; test ")) {
            let (inputs, expected) = line.rsplit_once("=>").unwrap();
            assert_eq!(outcome(&program, inputs), expected.trim(), "{name}: {line}");
            count += 1;
        }
    }
    assert!(count > 40);
}
