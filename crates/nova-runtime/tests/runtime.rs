//! The tests of the runtime in C, compiled as C11 and C++17 under sanitizers and run.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime-c/tests")
}

/// Compiles and runs one test.
fn check(name: &str) {
    check_with(name, &[]);
}

/// Compiles and runs one test with more flags.
fn check_with(name: &str, flags: &[&str]) {
    for (compiler, language, standard) in [("gcc", "c", "c11"), ("g++", "c++", "c++17")] {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{name}_{compiler}{}", flags.concat()));
        let output = Command::new(compiler)
            .args(["-x", language, &format!("-std={standard}"), "-g", "-O1"])
            .args([
                "-Wall",
                "-Wextra",
                "-Werror",
                "-Wno-unused-function",
                "-Wno-unused-variable",
                "-pthread",
            ])
            .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
            .args(flags)
            .arg(folder().join(format!("{name}.c")))
            .args(["-x", "none", "-lm", "-o"])
            .arg(&program)
            .output()
            .unwrap_or_else(|error| panic!("{compiler}: {error}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{compiler} {name}: {errors}");
        let run = Command::new(&program).output();
        let run = run.unwrap_or_else(|error| panic!("{name}: {error}"));
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{compiler} {name}: {errors}");
    }
}

#[test]
fn blocks() {
    check("blocks");
}

#[test]
fn stack() {
    check("stack");
}

#[test]
fn numbers() {
    check("numbers");
}

#[test]
fn few() {
    check("few");
}

#[test]
fn few_with_what_the_processor_has() {
    check_with("few", &["-march=native", "-O3"]);
}

#[test]
fn nodes() {
    check("nodes");
}

#[test]
fn text() {
    check("text");
}

#[test]
fn fast_math() {
    check("fast_math");
    if cfg!(target_arch = "x86_64") {
        // With contraction, and with estimates where this processor has them.
        check_with("fast_math", &["-march=native", "-ffp-contract=fast"]);
    }
}

#[test]
fn streams() {
    check("streams");
}
