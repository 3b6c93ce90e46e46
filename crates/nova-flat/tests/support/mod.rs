//! Programs in files with test lines, `; test INPUT | INPUT => VALUE`: what the tests of Flat and of
//! the crates around it share.

#![allow(dead_code)]

use nova_core::text::{print_value, read_values};
use nova_core::{SumType, Type, Value};
use nova_diag::SourceMap;
use nova_flat::error::Failure;
use nova_flat::ir::Program;
use std::path::Path;

/// The names and texts of the programs of a folder below the crate's, in order.
pub fn programs(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut programs: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    programs.sort();
    programs
}

/// Reads a program of Flat or Mem.
pub fn read(name: &str, text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    nova_flat::parse::parse(text, file).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"))
}

/// The two sides of every test line.
pub fn test_lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("; test "));
    lines.map(|line| {
        let (left, right) = line.rsplit_once("=>").unwrap();
        (left.trim(), right.trim())
    })
}

/// The values of `INPUT | INPUT`.
pub fn inputs<'a>(
    types: impl IntoIterator<Item = &'a Type>,
    sums: &[SumType],
    text: &str,
) -> Vec<Value> {
    read_values(text, types, sums).unwrap()
}

/// The inputs of the first entry of a program.
pub fn inputs_of(program: &Program, text: &str) -> Vec<Value> {
    let types = program.entries[0].inputs.iter().map(|(_, ty)| ty);
    inputs(types, &program.sums, text)
}

/// A value or error of the first entry as the right side of a test line.
pub fn outcome(program: &Program, result: Result<Value, Failure>) -> String {
    match result {
        Ok(value) => print_value(&value, &program.entries[0].result, &program.sums),
        Err(Failure::Runtime(error)) => format!("error {}", error.kind.info().word),
        Err(Failure::Internal(error)) => format!("internal {error}"),
    }
}

/// Whether an outcome is the expected one; of `internal` errors the text is open.
pub fn agrees(found: &str, expected: &str) -> bool {
    found == expected || (expected == "internal" && found.starts_with("internal "))
}
