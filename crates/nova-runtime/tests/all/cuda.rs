//! Kernels of the kinds that are generated (`tests/cuda/samples`). nvcc compiles them where it is
//! installed. The emulation of CUDA on a CPU (`tests/cuda/emulation`) runs them in many orders, under
//! sanitizers, and with seeded races and faults, each of which must be found.

use crate::compile::{succeed, tries_all};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The samples, which both nvcc and the emulation must accept.
const SAMPLES: &[&str] = &[
    "map",
    "reduce",
    "scan",
    "histogram",
    "checks",
    "meetings",
    "groups",
    "heaps",
    "nodes",
    "ordered",
];

const ADDRESSES: &str = "-fsanitize=address,undefined";
const THREADS: &str = "-fsanitize=thread";

/// The environments in which every sample gives the same results.
const ORDERS: &[&[(&str, &str)]] = &[
    &[("ORDER", "ascending"), ("RESIDENT", "1")],
    &[("ORDER", "descending"), ("STREAMS", "lazy")],
    &[("ORDER", "random"), ("SEED", "1"), ("RESIDENT", "2")],
    &[("ORDER", "random"), ("SEED", "2"), ("STREAMS", "lazy")],
    &[("ORDER", "interleaved"), ("SEED", "3")],
];

/// The wrong programs of `faults.cu`, with their messages.
const FAULTS: &[(&str, &str)] = &[
    ("host_reads", "the host accesses device memory"),
    ("host_writes", "the host accesses device memory"),
    ("freed", "which is device memory not allocated, freed"),
    ("far_outside", "which is device memory not allocated, freed"),
    (
        "just_outside",
        "written outside of the allocation of 40 bytes",
    ),
    (
        "host_pointer",
        "fill: argument 1 points to memory of the host",
    ),
    (
        "other_device",
        "points to memory of device 0, but runs on device 1",
    ),
    ("barrier_divergence", "barrier divergence"),
    (
        "early_exit",
        "thread (5, 0, 0) has ended: barrier divergence",
    ),
    ("warp_divergence", "warp divergence"),
    ("mask_without_lane", "which is without its own lane 31"),
    ("mixed_meetings", "deadlock: nobody can go on"),
    (
        "too_many_blocks",
        "4 of 100 blocks are resident, 96 have not begun",
    ),
    (
        "nobody_writes",
        "look again and again at memory that does not change",
    ),
    (
        "blind_wait",
        "thread (0, 0, 0): does not end, nor come to a barrier",
    ),
    ("full_stack", "its stack of 65536 bytes is full"),
    ("shared_too_large", "more than 49152 bytes"),
    (
        "kernel_function_on_host",
        "a function for kernels is called by the host",
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cuda")
}

fn source(name: &str) -> PathBuf {
    folder().join("samples").join(format!("{name}.cu"))
}

/// Returns the samples with even numbers, or those with odd ones. With all cases to be tried, returns all.
fn half(odd: usize) -> impl Iterator<Item = &'static str> {
    let numbered = SAMPLES.iter().enumerate();
    let tried = numbered.filter(move |(number, _)| tries_all() || number % 2 == odd);
    tried.map(|(_, name)| *name)
}

/// Compiles a sample for the emulation, without a warning.
fn emulate(name: &str, compiler: &str, flags: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("cuda_{name}{}", flags.concat().replace('=', "_")));
    let mut command = Command::new(folder().join("emulated-nvcc"));
    command
        .env("NOVA_EMULATION_CXX", compiler)
        .args(["-g1", "-O1", "-Wall", "-Wextra", "-Werror"])
        .args(flags)
        .arg(source(name))
        .arg("-o")
        .arg(&program);
    succeed(&mut command, name);
    program
}

/// Returns a C++ compiler for sanitizers. Clang compiles for them in half the time, and its
/// ThreadSanitizer makes fibers faster than gcc's; either will do.
fn compiler_with_sanitizers() -> &'static str {
    static FOUND: OnceLock<&str> = OnceLock::new();
    FOUND.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let source = folder.join("cuda_empty.cpp");
        let written = std::fs::write(&source, "int main() { return 0; }\n");
        written.unwrap_or_else(|error| panic!("{source:?}: {error}"));
        let linked = Command::new("clang++")
            .args([THREADS, "-o"])
            .args([folder.join("cuda_empty"), source])
            .output();
        match linked {
            Ok(output) if output.status.success() => "clang++",
            _ => "g++",
        }
    })
}

/// Returns a program with settings of the emulation.
fn under(program: &Path, settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(program);
    for (name, value) in settings {
        command.env(format!("NOVA_EMULATION_{name}"), value);
    }
    command
}

fn run(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Returns the path of nvcc. Without nvcc, prints that a test is skipped.
fn nvcc(test: &str) -> Option<PathBuf> {
    let installed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../nvcc/nvcc");
    let asked = std::env::var_os("NOVA_NVCC").map(PathBuf::from);
    // Its replacement in tests is no compiler for GPUs.
    let asked =
        asked.filter(|path| !path.as_os_str().is_empty() && !path.ends_with("emulated-nvcc"));
    let found = [asked, Some(installed), Some("nvcc".into())]
        .into_iter()
        .flatten()
        .find(|path| Command::new(path).arg("--version").output().is_ok());
    if found.is_none() {
        eprintln!("skipped: {test} (needs nvcc; tests/cuda/install)");
    }
    found
}

/// nvcc compiles the samples for the oldest and for a usual generation of GPUs, and reports their
/// registers and memory.
#[test]
fn nvcc_compiles() {
    let Some(nvcc) = nvcc("compiling kernels for GPUs") else {
        return;
    };
    for name in SAMPLES {
        let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cuda_{name}.o"));
        let mut command = Command::new(&nvcc);
        command
            .args(["-gencode", "arch=compute_75,code=sm_75"])
            .args(["-gencode", "arch=compute_90,code=sm_90"])
            .args(["-Werror", "all-warnings", "-Xptxas", "-v"])
            .args(["-Xcompiler", "-Wall,-Wextra,-Werror", "-c", "-o"])
            .arg(object)
            .arg(source(name));
        let output = succeed(&mut command, name);
        let said = String::from_utf8_lossy(&output.stderr);
        for text in ["'sm_75'", "'sm_90'", " registers", " 0 bytes spill stores"] {
            assert!(said.contains(text), "{name}: no {text} in {said}");
        }
    }
}

#[test]
fn every_order_gives_the_same() {
    for name in SAMPLES {
        let program = emulate(name, "g++", &[]);
        for settings in ORDERS {
            succeed(under(&program, settings).arg("5000"), name);
        }
        succeed(&mut Command::new(&program), name);
    }
}

#[test]
fn addresses_are_watched() {
    for name in half(0) {
        let program = emulate(
            name,
            compiler_with_sanitizers(),
            &[ADDRESSES, "-fno-sanitize-recover=all"],
        );
        succeed(Command::new(program).arg("1024"), name);
    }
    let program = emulate("faults", compiler_with_sanitizers(), &[ADDRESSES]);
    let output = run(Command::new(program).arg("outside_shared"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("use-after-poison"),
        "{said}"
    );
}

#[test]
fn samples_have_no_races() {
    let compiler = compiler_with_sanitizers();
    let settings = [("RESIDENT", "3"), ("ORDER", "descending")];
    for (name, settings) in half(1).zip(settings.into_iter().cycle()) {
        let program = emulate(name, compiler, &[THREADS]);
        succeed(under(&program, &[settings]).arg("257"), name);
    }
}

/// Each race is reported, and nothing is reported for the same kernel without the race.
#[test]
fn seeded_races_are_found() {
    let program = emulate("races", compiler_with_sanitizers(), &[THREADS]);
    let list = succeed(&mut Command::new(&program), "races");
    let names = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(names.lines().count() >= 13, "{names}");
    for (number, name) in names.lines().enumerate() {
        if !tries_all() && number % 2 == 0 {
            continue;
        }
        let output = run(Command::new(&program)
            .arg(name)
            .env("TSAN_OPTIONS", "symbolize=0"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("data race"), "{name}: not found: {said}");
        succeed(Command::new(&program).args([name, "twin"]), name);
    }
}

#[test]
fn faults_are_told() {
    let program = emulate("faults", "g++", &[]);
    for (name, message) in FAULTS {
        let settings = [("STRICT", "1"), ("SECONDS", "1"), ("RESIDENT", "4")];
        let output = run(under(&program, &settings).arg(name));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name}: ends well");
        assert!(said.contains(message), "{name}: no {message:?} in {said}");
    }
    let lenient = under(&program, &[]).arg("early_exit").output();
    assert!(lenient.is_ok_and(|output| output.status.success()));
}

#[test]
fn api() {
    succeed(&mut Command::new(emulate("api", "g++", &[])), "api");
    let watched = emulate(
        "api",
        compiler_with_sanitizers(),
        &[ADDRESSES, "-fno-sanitize-recover=all"],
    );
    succeed(&mut Command::new(watched), "api");
}
