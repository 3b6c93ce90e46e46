//! Tests of devices that are missing, are not the requested one, or fail. The error is 5 with a
//! message, nothing is written, and the next call works where the device works again.

use nova_driver::{Compiler, Options, Source, Target};
use nova_schedule::Parallelism;
use nova_tests::effort;
use std::path::{Path, PathBuf};
use std::process::Command;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compiles the program and its host for a target.
fn build(target: Target, folder: &Path) {
    let compiler = Compiler::new(Options {
        target,
        parallelism: Some(Parallelism::SMALL),
        ..Options::default()
    });
    let mut checked = compiler
        .check(Source::File(data("absent/scaled.nova")))
        .expect("the program has no errors");
    let files = compiler.compile(&mut checked).expect("it compiles").files;
    let (ending, mut compiler) = match target {
        Target::Cuda => ("cu", Command::new(data("cuda/emulated-nvcc"))),
        _others => ("c", Command::new("gcc")),
    };
    std::fs::write(folder.join("scaled.h"), &files.header).expect("written");
    std::fs::write(folder.join(format!("scaled.{ending}")), &files.source).expect("written");
    // CUDA's programs are C++, and so are their hosts.
    let host = match target {
        Target::Cuda => "host.cpp",
        _others => "host.c",
    };
    std::fs::copy(data("absent/host.c"), folder.join(host)).expect("copied");
    let compiled = compiler
        .current_dir(folder)
        .args(["-g1", "-I.", "-DNOVA_COPIED=1048576", "-o", "host", host])
        .arg(format!("scaled.{ending}"))
        .args(match target {
            Target::Cuda => ["-fsanitize=address,undefined", "-pthread", "-lm"],
            _others => ["-lOpenCL", "-pthread", "-lm"],
        })
        .status()
        .expect("the compiler runs");
    assert!(compiled.success(), "the host does not compile");
}

/// Returns the output of the host for its two calls, with this environment.
fn calls(folder: &Path, environment: &[(&str, &str)]) -> Vec<String> {
    let output = Command::new(folder.join("host"))
        .env_remove("NOVA_DEVICE")
        .envs(environment.iter().copied())
        .output()
        .expect("the host runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{environment:?}: {errors}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(str::to_string).collect()
}

/// Asserts that both calls fail with this message.
#[track_caller]
fn both_say(found: &[String], expected: &str) {
    assert_eq!(found.len(), 2);
    for line in found {
        assert!(
            line.starts_with(&format!("5 right: {expected}")),
            "{found:?}"
        );
    }
}

#[test]
fn devices_of_opencl_that_are_not_there() {
    if !nova_tests::devices::has_opencl() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    build(Target::OpenCl, folder.path());
    let call = |environment: &[(&str, &str)]| calls(folder.path(), environment);
    assert_eq!(call(&[]), ["0 right", "0 right"]);
    assert_eq!(call(&[("NOVA_DEVICE", "0")]), ["0 right", "0 right"]);
    let other = "there is no OpenCL device of the name in NOVA_DEVICE";
    both_say(&call(&[("NOVA_DEVICE", "nobody has this")]), other);
    both_say(&call(&[("NOVA_DEVICE", "77")]), other);
    let nowhere = folder.path().join("no_vendors");
    let nowhere = nowhere.to_str().expect("a name");
    both_say(
        &call(&[("OCL_ICD_VENDORS", nowhere)]),
        "there is no OpenCL device",
    );
}

#[test]
fn devices_of_cuda_that_are_not_there() {
    if !nova_tests::devices::has_cuda() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    build(Target::Cuda, folder.path());
    let call = |environment: &[(&str, &str)]| calls(folder.path(), environment);
    assert_eq!(call(&[]), ["0 right", "0 right"]);
    let two = ("NOVA_EMULATION_DEVICES", "2");
    assert_eq!(call(&[two, ("NOVA_DEVICE", "1")]), ["0 right", "0 right"]);
    let other = "there is no CUDA device of the name in NOVA_DEVICE";
    both_say(&call(&[two, ("NOVA_DEVICE", "2")]), other);
    both_say(&call(&[("NOVA_DEVICE", "nobody has this")]), other);
    both_say(
        &call(&[("NOVA_EMULATION_DEVICES", "0")]),
        "there is no CUDA device",
    );
}

/// Tests that each function of CUDA that a call uses may fail, once and for ever, with a profile
/// and without.
#[test]
fn functions_of_cuda_that_fail() {
    if !nova_tests::devices::has_cuda() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    build(Target::Cuda, folder.path());
    for profile in effort::first(&["1", "0"], 1) {
        fail_each(folder.path(), ("NOVA_PROFILE", *profile));
    }
}

/// Makes each function fail in turn, with this environment.
fn fail_each(folder: &Path, setting: (&str, &str)) {
    let mut failures = 0;
    for which in 1.. {
        let once = which.to_string();
        let found = calls(folder, &[setting, ("NOVA_EMULATION_FAIL", &once)]);
        let [first, second] = &found[..] else {
            panic!("{found:?}");
        };
        assert!(
            found.iter().all(|line| line.contains(" right")),
            "{which}: {found:?}"
        );
        let fails = |line: &str| !line.starts_with("0 ");
        // Only failures of clean-up code may go unnoticed.
        assert!(!(fails(first) && fails(second)), "{which}: {found:?}");
        failures += usize::from(fails(first));
        let all = format!("{which}+");
        let for_ever = calls(folder, &[setting, ("NOVA_EMULATION_FAIL", &all)]);
        assert!(
            for_ever.iter().all(|line| line.contains(" right")),
            "{for_ever:?}"
        );
        if !fails(&for_ever[0]) && !fails(&for_ever[1]) {
            break;
        }
        assert!(which < 200, "calls that fail without end");
    }
    assert!(failures > 5, "{failures}");
}
