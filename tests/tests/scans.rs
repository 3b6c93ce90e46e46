//! Scans of every length in a C host, against plain loops: in registers, in parts that take turns,
//! streamed and not, with both targets and several numbers of threads, and under ThreadSanitizer.

use nova_driver::{Compiler, Options, Source, Target};
use std::path::Path;
use std::process::Command;

/// Writes the header and the C of the scans for a target into a folder.
fn write(target: Target, folder: &Path) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("parallel/scans.nova");
    let options = Options {
        target,
        ..Options::default()
    };
    let compiler = Compiler::new(options);
    let mut checked = compiler
        .check(Source::File(path))
        .expect("the program has no errors");
    let files = compiler.compile(&mut checked).expect("it compiles").files;
    for (ending, text) in [("h", &files.header), ("c", &files.source)] {
        std::fs::write(folder.join(format!("scans.{ending}")), text).expect("written");
    }
    files.source
}

/// Compiles the host with these flags and runs it with some numbers of threads.
fn check(folder: &Path, flags: &str, threads: &[u32]) {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("parallel/scans.c");
    std::fs::copy(host, folder.join("host.c")).expect("copied");
    let compiled = Command::new("gcc")
        .current_dir(folder)
        .args("-std=c11 -g -Wall -Wextra -Werror -pthread -I.".split(' '))
        .args(flags.split(' '))
        .args(["host.c", "scans.c", "-o", "host", "-lm"])
        .status()
        .expect("gcc runs");
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

#[test]
fn scans_are_those_of_plain_loops() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let source = write(Target::Sequential, folder);
    assert!(source.contains("nova_add_run_"), "scans run in registers");
    check(folder, "-O3 -march=native", &[1]);
    check(folder, "-O2 -DNOVA_STREAM_BYTES=1", &[1]);
    let source = write(Target::Pthreads, folder);
    assert!(source.contains("nova_await_turn("), "parts take turns");
    check(folder, "-O3 -march=native", &[1, 2, 3, 8, 64]);
    check(folder, "-O2 -DNOVA_STREAM_BYTES=1", &[2]);
    check(folder, "-O1 -fsanitize=thread", &[2, 8]);
    check(folder, "-O1 -fsanitize=address,undefined", &[3]);
}
