//! Tests of applications that keep their data on the device (`prog_device`): a host in C with a
//! stream of its own, under AddressSanitizer and UndefinedBehaviorSanitizer, on every available
//! device.

use nova_driver::{Compiler, Options, Source, Target};
use nova_schedule::Parallelism;
use std::path::{Path, PathBuf};
use std::process::Command;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Writes the program for a target, with operations in so small chunks that short arrays reach
/// kernels. Returns the header.
fn write(target: Target, ending: &str, folder: &Path) -> String {
    let compiler = Compiler::new(Options {
        target,
        parallelism: Some(Parallelism::SMALL),
        ..Options::default()
    });
    let mut checked = compiler
        .check(Source::File(data("callers/lent.nova")))
        .expect("the program has no errors");
    let files = compiler.compile(&mut checked).expect("it compiles").files;
    std::fs::write(folder.join("lent.h"), &files.header).expect("written");
    std::fs::write(folder.join(format!("lent.{ending}")), &files.source).expect("written");
    std::fs::copy(data("callers/host.c"), folder.join("host.cpp")).expect("copied");
    files.header
}

/// Compiles the host and a program for a target with a compiler's command line, and runs it.
fn check(target: Target, folder: &Path, compiler: &mut Command) {
    let compiled = compiler
        .current_dir(folder)
        .args(["-g1", "-I.", "-o", "host"])
        .status()
        .expect("the compiler runs");
    assert!(compiled.success(), "the host does not compile");
    // PoCL keeps the memory that its compiler allocates. Leaks are looked for with CUDA.
    let leaks = target != Target::OpenCl;
    for profile in ["0", "1"] {
        let output = Command::new(folder.join("host"))
            .env("ASAN_OPTIONS", format!("detect_leaks={}", u8::from(leaks)))
            .env("NOVA_PROFILE", profile)
            .output()
            .expect("the host runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "all right\n",
            "{errors}"
        );
        assert!(output.status.success(), "{errors}");
        assert_eq!(errors.contains("scaled_value_kernel"), profile == "1");
    }
}

#[test]
fn arrays_of_callers_stay_on_a_device_of_opencl() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let header = write(Target::OpenCl, "c", folder.path());
    assert!(header.contains("struct _cl_mem **result"), "{header}");
    assert!(!header.contains("parts_device"), "{header}");
    if !nova_tests::devices::has_opencl() {
        return;
    }
    let sanitizers = "-fsanitize=address,undefined -fno-sanitize-recover=all";
    let flags = "-DCL_TARGET_OPENCL_VERSION=120 -Wall -Wextra -Werror -pthread";
    let mut compiler = Command::new("gcc");
    compiler
        .args(["-std=c11", "-x", "c", "host.cpp", "lent.c", "-x", "none"])
        .args(flags.split(' '))
        .args(sanitizers.split(' '))
        .args(["-lOpenCL", "-lm"]);
    check(Target::OpenCl, folder.path(), &mut compiler);
}

#[test]
fn arrays_of_callers_stay_on_a_device_of_cuda() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let header = write(Target::Cuda, "cu", folder.path());
    assert!(header.contains("float **result"), "{header}");
    assert!(!header.contains("parts_device"), "{header}");
    if !nova_tests::devices::has_cuda() {
        return;
    }
    let mut compiler = Command::new(data("cuda/emulated-nvcc"));
    compiler
        .args([
            "-D__CUDACC__",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unknown-pragmas",
        ])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .args(["lent.cu", "host.cpp"]);
    check(Target::Cuda, folder.path(), &mut compiler);
}
