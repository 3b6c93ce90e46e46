//! Hosts in C for programs of `tests/parallel`. A program is compiled for a target together with
//! the host that calls it. The host compares its results with plain loops, and fails if they
//! differ.

use nova_driver::{Compiler, Options, Source, Target};
use std::path::Path;
use std::process::Command;

/// Writes the host, the header and the C of the program of this name for a target into a folder.
/// Returns the C.
pub fn write(name: &str, target: Target, folder: &Path) -> String {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("parallel");
    let host = data.join(format!("{name}.c"));
    std::fs::copy(host, folder.join("host.c")).expect("copied");
    let options = Options {
        target,
        ..Options::default()
    };
    let compiler = Compiler::new(options);
    let mut checked = compiler
        .check(Source::File(data.join(format!("{name}.nova"))))
        .expect("the program has no errors");
    let files = compiler.compile(&mut checked).expect("it compiles").files;
    for (ending, text) in [("h", &files.header), ("c", &files.source)] {
        std::fs::write(folder.join(format!("{name}.{ending}")), text).expect("written");
    }
    files.source
}

/// Compiles the files of [`fn@write`] with a compiler and these flags, and runs the program with some
/// numbers of threads.
pub fn check(name: &str, folder: &Path, compiler: &str, flags: &str, threads: &[u32]) {
    let compiled = Command::new(compiler)
        .current_dir(folder)
        .args("-std=c11 -g1 -Wall -Wextra -Werror -pthread -I.".split(' '))
        .args(flags.split(' '))
        .args(["host.c", &format!("{name}.c"), "-o", "host", "-lm"])
        .status()
        .expect("the compiler runs");
    assert!(compiled.success(), "the host does not compile: {flags}");
    for threads in threads {
        let output = Command::new(folder.join("host"))
            .env("NOVA_NUM_THREADS", threads.to_string())
            .output()
            .expect("the host runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{flags}, {threads} threads: {text}{errors}"
        );
    }
}
