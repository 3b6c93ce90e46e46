//! The programs of Flat's tests with memory: the same values on the heap, the same program after
//! erasure, the same text after reading it.

use nova_core::interpret::Options;
use nova_core::text::{print_value, read_values};
use nova_diag::SourceMap;
use nova_flat::error::Failure;
use nova_flat::ir::Program;
use nova_flat::parse::parse;
use nova_flat::print::print;
use nova_mem::{erase, introduce, verify};

fn read(name: &str, text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    parse(text, file).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"))
}

fn outcome(program: &Program, inputs: &str) -> String {
    let entry = &program.entries[0];
    let types = entry.inputs.iter().map(|(_, ty)| ty);
    let values = read_values(inputs, types, &program.sums).unwrap();
    match nova_mem::interpret::evaluate(program, 0, &values, &Options::default()) {
        Ok(value) => print_value(&value, &entry.result, &program.sums),
        Err(Failure::Runtime(error)) => format!("error {}", error.kind.info().word),
        Err(Failure::Internal(error)) => format!("internal {error}"),
    }
}

/// Calls `check` on the name and text of every program.
fn each_program(mut check: impl FnMut(&str, &str)) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../nova-flat/tests/programs");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        check(&name, &std::fs::read_to_string(&path).unwrap());
        count += 1;
    }
    assert!(count > 20);
}

#[test]
fn values_on_the_heap_are_those_of_flat() {
    each_program(|name, text| {
        let mem = introduce(&read(name, text));
        for line in text.lines().filter_map(|line| line.strip_prefix("; test ")) {
            let (inputs, expected) = line.rsplit_once("=>").unwrap();
            let found = outcome(&mem, inputs);
            match expected.trim() {
                "internal" => assert!(found.starts_with("internal"), "{name}: {found}"),
                expected => assert_eq!(found, expected, "{name}: {line}\n{}", print(&mem)),
            }
        }
    });
}

#[test]
fn memory_is_verified_and_read_back() {
    each_program(|name, text| {
        let mem = introduce(&read(name, text));
        let text = print(&mem);
        verify(&mem).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        let again = read(name, &text);
        assert_eq!(print(&again), text, "{name}");
        verify(&again).unwrap_or_else(|error| panic!("{name} read back: {error}"));
    });
}

#[test]
fn erasing_gives_flat_back() {
    each_program(|name, text| {
        let flat = read(name, text);
        let erased = erase(&introduce(&flat));
        assert_eq!(print(&erased), print(&flat), "{name}");
        nova_flat::verify::verify(&erased).unwrap_or_else(|error| panic!("{name}: {error}"));
    });
}
