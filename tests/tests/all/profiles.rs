//! Tests of the tables of `NOVA_PROFILE=1`. A host in C calls from several threads, with a kernel
//! that fails and one that is run again, under sanitizers, on every available device. Counts and
//! bytes are compared, never times.

use nova_driver::{Compiler, Options, Source, Target};
use nova_schedule::Parallelism;
use nova_tests::effort;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The calls of the first entry by the host, and the number of elements.
const CALLS: u64 = 4 * 5;
const ELEMENTS: u64 = 300;
/// Bytes of the failure record of a kernel, which each call initialises and reads at the end.
const FAILURE: u64 = 24;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Writes the program for a target, with operations in so small chunks that short arrays reach
/// kernels, and its host.
fn write(target: Target, ending: &str, folder: &Path) {
    let compiler = Compiler::new(Options {
        target,
        parallelism: Some(Parallelism::SMALL),
        ..Options::default()
    });
    let mut checked = compiler
        .check(Source::File(data("profiles/profiled.nova")))
        .expect("the program has no errors");
    let files = compiler.compile(&mut checked).expect("it compiles").files;
    std::fs::write(folder.join("profiled.h"), &files.header).expect("written");
    let source = folder.join(format!("profiled.{ending}"));
    std::fs::write(source, &files.source).expect("written");
    std::fs::copy(data("profiles/host.c"), folder.join("host.cpp")).expect("copied");
}

/// Returns the output of the host on its standard error where the user requests a profile in this
/// way.
fn run(folder: &Path, asked: Option<&str>) -> String {
    let mut host = Command::new(folder.join("host"));
    // PoCL keeps the memory that its compiler allocates, and has stacks of its own for signals.
    host.env("ASAN_OPTIONS", "detect_leaks=0:use_sigaltstack=0")
        .env_remove("NOVA_PROFILE");
    if let Some(asked) = asked {
        host.env("NOVA_PROFILE", asked);
    }
    let output = host.output().expect("the host runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "all right\n");
    errors
}

/// Returns the row of a name: its place, launches, and bytes read and written.
fn row(table: &str, name: &str) -> (String, u64, u64, u64) {
    let line = table
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .unwrap_or_else(|| panic!("no {name} in {table}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |k: usize| words[k].parse().unwrap_or_else(|e| panic!("{line}: {e}"));
    (words[0].to_string(), number(1), number(4), number(5))
}

/// Runs the host with a profile and without one.
#[track_caller]
fn check(folder: &Path, compiler: &mut Command) {
    let compiled = compiler
        .current_dir(folder)
        .args(["-g1", "-I.", "-DNOVA_COPIED=4194304", "-o", "host"])
        .status()
        .expect("the compiler runs");
    assert!(compiled.success(), "the host does not compile");
    assert_eq!(run(folder, None), "");
    assert_eq!(run(folder, Some("0")), "");
    let table = run(folder, Some("1"));
    assert_eq!(table.matches("profile of ").count(), 1, "{table}");
    let bytes = 4 * ELEMENTS;
    let place = |at: &str| format!("profiled.nova:{at}");
    let scaled = (place("2:48"), CALLS, CALLS * bytes, CALLS * bytes);
    assert_eq!(row(&table, "scaled_value_kernel"), scaled);
    // It fails once, and succeeds once.
    let divided = (place("3:52"), 2, 4 * bytes, 2 * bytes);
    assert_eq!(row(&table, "divided_value_kernel"), divided);
    let (at, launches, read, written) = row(&table, "lengths_value_kernel");
    assert_eq!(at, place("11:35"));
    assert!(launches > 1, "{table}");
    assert_eq!((read, written), (launches * bytes, launches * bytes));
    // Each call has one argument more than the failure record. Those of the division have two. That
    // record is reset, too, each time the threads' memory was too small.
    let (_, copies, read, written) = row(&table, "host to device");
    let calls = CALLS + 3;
    let arrays = calls + 2;
    assert_eq!(
        (copies, read),
        (calls + arrays + launches - 1, 0),
        "{table}"
    );
    assert_eq!(written, arrays * bytes + copies_of_failures(copies, arrays));
    let (_, copies, read, written) = row(&table, "device to host");
    // A failed call has no result. The failure record is read wherever a kernel may fail.
    assert_eq!(
        (copies, written),
        (calls - 1 + 3 + launches - 1, 0),
        "{table}"
    );
    assert_eq!(
        read,
        (calls - 1) * bytes + copies_of_failures(copies, calls - 1)
    );
}

/// Returns the bytes of copies, without those of this many arrays.
fn copies_of_failures(copies: u64, arrays: u64) -> u64 {
    (copies - arrays) * FAILURE
}

#[test]
fn a_device_of_opencl_is_profiled() {
    if !nova_tests::devices::has_opencl() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(Target::OpenCl, "c", folder.path());
    let mut compiler = Command::new("gcc");
    compiler
        .args([
            "-std=c11",
            "-x",
            "c",
            "host.cpp",
            "profiled.c",
            "-x",
            "none",
        ])
        .args(["-DCL_TARGET_OPENCL_VERSION=120", "-pthread"])
        .args(["-Wall", "-Wextra", "-Werror"])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .args(["-lOpenCL", "-lm"]);
    check(folder.path(), &mut compiler);
}

#[test]
fn a_device_of_cuda_is_profiled() {
    if !nova_tests::devices::has_cuda() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(Target::Cuda, "cu", folder.path());
    let sanitizers = ["-fsanitize=thread", "-fsanitize=address,undefined"];
    for sanitizers in effort::first(&sanitizers, 1) {
        let mut compiler = Command::new(data("cuda/emulated-nvcc"));
        compiler
            .args(["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"])
            .args([*sanitizers, "-fno-sanitize-recover=all"])
            .arg("-DNOVA_BLOCK_SIZE=32")
            .args(["profiled.cu", "host.cpp"]);
        check(folder.path(), &mut compiler);
    }
}
