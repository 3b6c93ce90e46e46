//! Programs in files with test lines, `; test INPUT | INPUT => VALUE`.

use nova_core::text::read_values;
use nova_core::{SumType, Type, Value};
use std::path::Path;

/// Returns the names and texts of the programs in a folder below that of the crate, in order.
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

/// Returns the two sides of every test line.
pub fn test_lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("; test "));
    lines.map(|line| {
        let (left, right) = line.rsplit_once("=>").unwrap();
        (left.trim(), right.trim())
    })
}

/// Parses `INPUT | INPUT`.
pub fn inputs<'a>(
    types: impl IntoIterator<Item = &'a Type>,
    sums: &[SumType],
    text: &str,
) -> Vec<Value> {
    read_values(text, types, sums).unwrap()
}
