//! Sparse products in a C host, against plain loops: rows of many lengths, taken together or one
//! after the other, and indices that are out of range, with both targets and under sanitizers.

use nova_driver::{Compiler, Options, Source, Target};
use std::path::Path;
use std::process::Command;

/// Writes the header and the C of the products for a target into a folder.
fn write(target: Target, folder: &Path) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("parallel/pairs.nova");
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
        std::fs::write(folder.join(format!("pairs.{ending}")), text).expect("written");
    }
    files.source
}

/// Compiles the host with a compiler and these flags and runs it with some numbers of threads.
fn check(folder: &Path, compiler: &str, flags: &str, threads: &[u32]) {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("parallel/pairs.c");
    std::fs::copy(host, folder.join("host.c")).expect("copied");
    let compiled = Command::new(compiler)
        .current_dir(folder)
        .args("-std=c11 -g -Wall -Wextra -Werror -pthread -I.".split(' '))
        .args(flags.split(' '))
        .args(["host.c", "pairs.c", "-o", "host", "-lm"])
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

#[test]
fn sparse_products_are_those_of_plain_loops() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let source = write(Target::Sequential, folder);
    for name in [
        "nova_outside_few_i32(",
        "nova_outside_few_i64(",
        "nova_gather_few_f32_i32(",
        "nova_gather_few_f64_i64(",
        "nova_gather_few_i32_i32(",
        "nova_gather_few_i64_i32(",
        "nova_stride_few_4(",
        "nova_stride_few_8(",
    ] {
        assert!(source.contains(name), "{name}");
    }
    check(folder, "gcc", "-O3 -march=native", &[1]);
    check(folder, "gcc", "-O2 -DNOVA_JOIN_ROWS=true", &[1]);
    check(folder, "gcc", "-O2 -DNOVA_JOIN_ROWS=false", &[1]);
    write(Target::Pthreads, folder);
    check(folder, "gcc", "-O3 -march=native", &[1, 2, 8]);
    let joined = "-O1 -DNOVA_JOIN_ROWS=true";
    check(folder, "gcc", &format!("{joined} -fsanitize=thread"), &[3]);
    for flags in [joined, "-O1 -march=native"] {
        let flags = format!("{flags} -fsanitize=address,undefined");
        check(folder, "gcc", &flags, &[2]);
    }
    if Command::new("clang").arg("--version").output().is_ok() {
        check(folder, "clang", "-O2 -DNOVA_JOIN_ROWS=true", &[2]);
        check(folder, "clang", "-O2 -march=native", &[2]);
    }
}
