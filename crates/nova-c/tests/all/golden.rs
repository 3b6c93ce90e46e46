//! Golden C: programs of Loop in tests/c, and the header and the code that they become. The parts of
//! the runtime that a file contains are left out.
//!
//! `UPDATE_EXPECTED=1` writes what is emitted, and fails when that is new so that somebody reads it.

use nova_c::Target;
use nova_diag::FileId;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c")
}

fn check(name: &str) {
    check_for(Target::Seq, name);
}

fn check_for(target: Target, name: &str) {
    let path = folder().join(format!("{name}.loop"));
    let text = std::fs::read_to_string(&path).expect("the program");
    let program = nova_loop::parse::parse(&text, FileId(0)).expect("a program of Loop");
    let files = crate::support::emit_for(target, &program, name);
    assert_eq!(
        files,
        crate::support::emit_for(target, &program, name),
        "the same bytes every time"
    );
    let start = files
        .source
        .find("/* The program. */")
        .expect("the program's part");
    for (ending, emitted) in [
        ("h", &*files.header),
        ("c", &files.source[start..]),
        ("json", &*files.manifest),
    ] {
        let path = folder().join(format!("{name}.{ending}"));
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            std::fs::write(&path, emitted).expect("a file");
        }
        assert_eq!(emitted, expected, "{name}.{ending}");
    }
    crate::support::compiles(&files, name);
}

#[test]
fn vectors() {
    check("dot");
    check("evens");
}

#[test]
fn parallel_loops() {
    check_for(Target::Pthreads, "halves");
}

#[test]
fn kernels() {
    check_for(Target::OpenCl, "quotients");
    check_for(Target::OpenCl, "groups");
}

#[test]
fn fields_of_structures_in_parallel_loops() {
    check_for(Target::Pthreads, "turned");
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
}
