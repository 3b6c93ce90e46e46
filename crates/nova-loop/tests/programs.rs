//! Programs of Flat, their own and those of nova-flat, and of Mem, through the whole translation: the verifier
//! accepts the result, its text reads back, and it means the same, with and without strict order.
//!
//! A program has test lines at its top: `; test INPUT | INPUT => VALUE`, or `=> error WORD`. With
//! `=> same` the value is only compared with that of the interpreter of Flat.

use nova_core::Value;
use nova_core::interpret::Options;
use nova_core::text::{print_value, read_values};
use nova_diag::SourceMap;
use nova_flat::error::Failure;
use nova_flat::ir::Program;

fn read(name: &str, text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    nova_flat::parse::parse(text, file).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"))
}

/// The values of a test line's left side.
fn inputs(program: &Program, text: &str) -> Vec<Value> {
    let types = program.entries[0].inputs.iter().map(|(_, ty)| ty);
    read_values(text, types, &program.sums).unwrap()
}

/// A value or error as the right side of a test line.
fn outcome(program: &Program, result: Result<Value, Failure>) -> String {
    match result {
        Ok(value) => print_value(&value, &program.entries[0].result, &program.sums),
        Err(Failure::Runtime(error)) => format!("error {}", error.kind.info().word),
        Err(Failure::Internal(error)) => format!("internal {error}"),
    }
}

fn translated(name: &str, mem: &Program, strict: bool) -> nova_loop::ir::Program {
    nova_mem::verify(mem).unwrap_or_else(|e| panic!("{name}: {e}"));
    let translated = nova_loop::translate(mem, strict).unwrap_or_else(|e| panic!("{name}: {e}"));
    let text = nova_loop::print::print(&translated);
    if let Err(errors) = nova_loop::verify(&translated) {
        panic!("{name}: {errors:#?}\n{text}");
    }
    let mut sources = SourceMap::new();
    let file = sources.add(name, &*text);
    let again = nova_loop::parse::parse(&text, file);
    let again = again.unwrap_or_else(|errors| panic!("{name}: {errors:#?}\n{text}"));
    assert_eq!(nova_loop::print::print(&again), text, "{name}");
    assert!(nova_loop::verify(&again).is_ok(), "{name}");
    again
}

fn check_file(path: &std::path::Path, count: &mut usize) {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).unwrap();
    let read = read(&name, &text);
    let has_memory = read.variables.iter().any(|v| v.memory.is_some());
    let (program, mem) = match has_memory {
        true => (nova_mem::erase(&read), read),
        false => {
            let mem = nova_mem::introduce(&read);
            (read, mem)
        }
    };
    nova_flat::verify::verify(&program).unwrap_or_else(|e| panic!("{name}: {e}"));
    for strict in [false, true] {
        let translated = translated(&name, &mem, strict);
        let options = Options {
            strict,
            trace: &|_| {},
            ..Options::default()
        };
        for line in text.lines().filter_map(|line| line.strip_prefix("; test ")) {
            let (left, expected) = line.rsplit_once("=>").unwrap();
            if expected.trim() == "internal" {
                continue;
            }
            let values = inputs(&program, left);
            let flat = nova_flat::interpret::evaluate(&program, 0, &values, &options);
            let flat = outcome(&program, flat);
            let found = nova_loop::interpret::evaluate(&translated, 0, &values, &options);
            let found = outcome(&program, found);
            let text = nova_loop::print::print(&translated);
            assert_eq!(found, flat, "{name} (strict: {strict}): {line}\n{text}");
            if expected.trim() != "same" {
                assert_eq!(found, expected.trim(), "{name}: {line}");
            }
            *count += 1;
        }
    }
}

#[test]
fn programs_mean_the_same() {
    let mut count = 0;
    for folder in [
        "tests/programs",
        "tests/memory",
        "../nova-flat/tests/programs",
    ] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|f| f.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            check_file(&file, &mut count);
        }
    }
    assert!(count > 100);
}
