//! Compiles and runs the tests in C.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A compiler, the language that it reads, and flags.
#[derive(Clone, Copy)]
pub struct Variant<'a> {
    /// A part of the names of programs, different for the variants of one test.
    pub name: &'a str,
    pub compiler: &'a str,
    pub language: &'a str,
    pub flags: &'a [&'a str],
}

/// True if tests try all of their cases, as under `tests/run --all`, and not a part that takes minutes.
pub fn tries_all() -> bool {
    std::env::var_os("NOVA_TEST_ALL").is_some()
}

/// Flags that detect wrong addresses and undefined behaviour.
pub const WATCHED: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Returns variants for C11 and C++17 with the same flags.
pub fn both_languages<'a>(names: [&'a str; 2], flags: &'a [&'a str]) -> [Variant<'a>; 2] {
    let [c, cpp] = names;
    [(c, "gcc", "c"), (cpp, "g++", "c++")].map(|(name, compiler, language)| Variant {
        name,
        compiler,
        language,
        flags,
    })
}

/// Returns the folder of the tests in C.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime-c/tests")
}

/// Compiles a source to the program NAME_VARIANT, without a warning.
pub fn compile(source: &Path, name: &str, variant: Variant, flags: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}_{}", variant.name));
    let standard = match variant.language {
        "c" => "-std=c11",
        _ => "-std=c++17",
    };
    let mut command = Command::new(variant.compiler);
    command
        .args(["-x", variant.language, standard, "-g1", "-O1"])
        .args(["-Wall", "-Wextra", "-Werror", "-pthread"])
        .args(["-Wno-unused-function", "-Wno-unused-variable"])
        .args(variant.flags)
        .args(flags)
        .arg(source)
        .args(["-x", "none", "-lm", "-ldl", "-o"])
        .arg(&program);
    succeed(&mut command, name);
    program
}

/// Compiles and runs one test of the folder.
pub fn check(name: &str, variant: Variant, arguments: &[&str]) {
    let program = compile(&folder().join(format!("{name}.c")), name, variant, &[]);
    succeed(Command::new(program).args(arguments), name);
}

/// Runs a command, which must succeed.
pub fn succeed(command: &mut Command, name: &str) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{name}: {command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
