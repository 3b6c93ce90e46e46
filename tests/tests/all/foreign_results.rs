//! Tests of foreign functions with results of every kind (`tests/foreign_results`), on every target
//! and level. Each gives the result of the program's own definition, and the memory that it
//! allocated is freed.

use nova_driver::{Compiler, Options, Source, Target};
use nova_schedule::Parallelism;
use nova_tests::{devices, effort};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The names of the test's data.
const FOLDER: &str = "foreign_results";

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Writes the program for a target, and its caller, into a folder.
fn write(target: Target, optimization: u8, folder: &Path) {
    let compiler = Compiler::new(Options {
        target,
        optimization,
        verify: true,
        parallelism: (target != Target::Sequential).then_some(Parallelism::SMALL),
        ..Options::default()
    });
    let mut checked = compiler
        .check(Source::File(data(FOLDER).join("results.nova")))
        .expect("the program has no errors");
    let files = compiler.compile(&mut checked).expect("it compiles").files;
    // CUDA's programs are C++, and so are the files compiled with them.
    let (program, others) = match target {
        Target::Cuda | Target::Hip => ("cu", "cpp"),
        Target::Sequential | Target::Pthreads | Target::OpenCl | Target::Mpi => ("c", "c"),
    };
    let program = folder.join(format!("results.{program}"));
    std::fs::write(folder.join("results.h"), &files.header).expect("written");
    std::fs::write(program, &files.source).expect("written");
    for name in ["functions", "host"] {
        let from = data(FOLDER).join(format!("{name}.c"));
        std::fs::copy(from, folder.join(format!("{name}.{others}"))).expect("copied");
    }
}

/// Compiles the files in the folder and runs the program.
fn run(mut compiler: Command, arguments: &str, leaks: bool, folder: &Path) {
    let output = compiler
        .current_dir(folder)
        .args(arguments.split(' '))
        .args(["-I.", "-o", "host"])
        .output()
        .expect("the compiler runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {errors}");
    let leaks = if leaks {
        "detect_leaks=1"
    } else {
        "detect_leaks=0"
    };
    let output = Command::new(folder.join("host"))
        .env("ASAN_OPTIONS", leaks)
        .env("NOVA_NUM_THREADS", "4")
        .output()
        .expect("the host runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {text}{errors}");
}

/// C files, compilers' flags for warnings, and those of the address and undefined behaviour
/// sanitizers.
const SANITIZED: &str = "-std=c11 -g1 -Wall -Wextra -Werror -pthread \
    -fsanitize=address,undefined -fno-sanitize-recover=all results.c functions.c host.c -lm";

fn on_processor(target: Target) {
    for optimization in 0..=3 {
        if !effort::tries(optimization.into(), 2) {
            continue;
        }
        let folder = tempfile::tempdir().expect("a folder");
        write(target, optimization, folder.path());
        // Optimisation takes the compiler twice the time.
        let level = if optimization == 2 { "-O1" } else { "-O0" };
        let arguments = format!("{SANITIZED} {level}");
        run(Command::new("gcc"), &arguments, true, folder.path());
    }
}

#[test]
fn sequential_code() {
    on_processor(Target::Sequential);
}

#[test]
fn threads() {
    on_processor(Target::Pthreads);
}

#[test]
fn opencl() {
    if !devices::has_opencl() {
        return;
    }
    for optimization in [0, 2] {
        let folder = tempfile::tempdir().expect("a folder");
        write(Target::OpenCl, optimization, folder.path());
        let arguments = format!("{SANITIZED} -lOpenCL");
        // The library of OpenCL has leaks of its own.
        run(Command::new("gcc"), &arguments, false, folder.path());
    }
}

#[test]
fn cuda() {
    for optimization in [0, 2] {
        let folder = tempfile::tempdir().expect("a folder");
        write(Target::Cuda, optimization, folder.path());
        let compiler = Command::new(data("cuda/emulated-nvcc"));
        let arguments = "-g1 results.cu functions.cpp host.cpp -fsanitize=address,undefined \
            -pthread -lm";
        run(compiler, arguments, false, folder.path());
    }
}
