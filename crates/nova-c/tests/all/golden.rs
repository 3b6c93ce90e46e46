//! Golden C: programs of Loop in tests/c, and the header and the code that they become, without the
//! sections of the runtime.
//!
//! `UPDATE_EXPECTED=1` writes the emitted files. The test still fails if they are new, so that somebody
//! reads them.

use nova_c::{Dialect, Files};
use nova_diag::FileId;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c")
}

fn check(name: &str) {
    check_for(Dialect::SEQUENTIAL, name);
}

fn check_for(dialect: &'static Dialect, name: &str) {
    let files = emitted(dialect, name);
    let source = program(&files);
    let ending = dialect.extension;
    check_file(&format!("{name}.h"), &files.header);
    check_file(&format!("{name}.{ending}"), source);
    check_file(&format!("{name}.json"), &files.manifest);
    crate::support::compiles(&files, name);
}

/// Checks only the source of the same program for another target.
fn check_source(dialect: &'static Dialect, name: &str) {
    let files = emitted(dialect, name);
    check_file(&format!("{name}.{}", dialect.extension), program(&files));
}

fn emitted(dialect: &'static Dialect, name: &str) -> Files {
    let path = folder().join(format!("{name}.loop"));
    let text = std::fs::read_to_string(&path).expect("the program");
    let program = nova_loop::parse::parse(&text, FileId(0)).expect("a program of Loop");
    let files = crate::support::emit_for(dialect, &program, name);
    assert_eq!(
        files,
        crate::support::emit_for(dialect, &program, name),
        "the same bytes every time"
    );
    files
}

/// The part of a source that belongs to the program.
fn program(files: &Files) -> &str {
    let start = files.source.find("/* The program. */");
    &files.source[start.expect("the program's part")..]
}

fn check_file(name: &str, emitted: &str) {
    let path = folder().join(name);
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, emitted).expect("a file");
    }
    if emitted != expected {
        panic!("{name}: {}", first_difference(emitted, &expected));
    }
}

/// The first line in which two texts differ.
fn first_difference(emitted: &str, expected: &str) -> String {
    let same = (emitted.lines().zip(expected.lines())).take_while(|(one, other)| one == other);
    let line = same.count();
    format!(
        "line {} was\n{}\nand is now\n{}",
        line + 1,
        expected.lines().nth(line).unwrap_or("the end"),
        emitted.lines().nth(line).unwrap_or("the end"),
    )
}

#[test]
fn vectors() {
    check("dot");
    check("evens");
}

#[test]
fn parallel_loops() {
    check_for(Dialect::PTHREADS, "halves");
}

#[test]
fn kernels() {
    check_for(Dialect::OPENCL, "quotients");
    check_for(Dialect::OPENCL, "groups");
    check_source(Dialect::CUDA, "groups");
    check_for(Dialect::OPENCL, "lists");
    check_source(Dialect::CUDA, "lists");
}

#[test]
fn fields_of_structures_in_parallel_loops() {
    check_for(Dialect::PTHREADS, "turned");
}

#[test]
fn lanes() {
    check("squares");
}

#[test]
fn nested_vectors() {
    check("rows");
}

#[test]
fn sums() {
    check("area");
}

#[test]
fn recursive_data() {
    check("total");
    check("tables");
}
