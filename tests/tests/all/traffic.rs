//! Tests of the data that calls for arrays on the device (`prog_device`) move between the host and
//! the device. For each of the sixteen array benchmarks the emulation of CUDA counts the bytes of
//! all copies, the launches and the calls that wait. The result of each call is compared with its
//! reference.

use nova_driver::{Options, Target};
use nova_exec::prototype::parameter_types;
use nova_tests::bench::build::{Program, compile};
use nova_tests::bench::memory::Pages;
use nova_tests::bench::workload::{Argument, Output, Shape, Workload};
use nova_tests::bench::workloads::PROGRAMS;
use nova_tests::random::Random;
use nova_tests::reference::Summation;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The counts of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    /// Bytes from the host to the device.
    to_device: u64,
    /// Bytes from the device to the host.
    to_host: u64,
    /// Bytes from one place on the device to another.
    on_device: u64,
    /// Kernels that are launched.
    launches: u64,
    /// Calls of the API that wait for the device.
    waits: u64,
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns the C++ that calls the entry, by pointers to the values of its parameters.
fn bridge(program: &Program, results: usize) -> String {
    let entry = format!("{}_device", program.name);
    let types = parameter_types(&program.header, &entry).expect("a function for the device");
    let (_stream, types) = types.split_last().expect("a stream");
    let value = |(k, ty): (usize, &String)| match k < results {
        true => format!("({ty})results[{k}]"),
        false => format!("*({ty} *)arguments[{}]", k - results),
    };
    let values: Vec<String> = types.iter().enumerate().map(value).collect();
    format!(
        "#include \"{name}.h\"\n#include <cuda_runtime.h>\n\
         const char *message();\n\
         const char *message()\n{{\n    return {name}_error();\n}}\n\
         int call_entry(void *const *arguments, void *const *results, cudaStream_t stream);\n\
         int call_entry(void *const *arguments, void *const *results, cudaStream_t stream)\n\
         {{\n    return {entry}({}, stream);\n}}\n",
        values.join(", "),
        name = program.name,
    )
}

/// Compiles the program and its host in a folder.
fn build(name: &str, results: usize, folder: &Path) {
    let options = Options {
        target: Target::Cuda,
        ..Options::default()
    };
    let program = compile(name, options).expect("it compiles");
    let write = |file: &str, text: &str| std::fs::write(folder.join(file), text).expect("written");
    write(&format!("{name}.h"), &program.header);
    write(&format!("{name}.cu"), &program.source);
    write("bridge.cpp", &bridge(&program, results));
    let mut compiler = Command::new(data("cuda/emulated-nvcc"));
    compiler
        .current_dir(folder)
        .args(["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"])
        .args(["-I.", "-o", "host", "bridge.cpp", &format!("{name}.cu")])
        .arg(data("traffic/host.cpp"));
    assert!(compiler.status().expect("it runs").success(), "{name}");
}

/// Returns a workload in the form that the host reads.
fn arguments_of(workload: &Workload) -> Vec<u8> {
    let (extents, size) = match &workload.result {
        Shape::Value(size) => (&[][..], *size),
        Shape::Elements(extents, size) => (&extents[..], *size),
    };
    let mut bytes = Vec::new();
    let mut numbers = vec![extents.len()];
    numbers.extend(extents);
    numbers.extend([size, workload.arguments.len()]);
    bytes.extend(numbers.into_iter().flat_map(|n| (n as u64).to_ne_bytes()));
    let value = |value: &[u8]| {
        // The number of bytes of its array, and the value.
        let mut cells = [0u8; 16];
        cells[8..8 + value.len()].copy_from_slice(value);
        cells.to_vec()
    };
    for argument in &workload.arguments {
        bytes.extend(match argument {
            Argument::Length(n) => value(&(*n as u64).to_ne_bytes()),
            Argument::Int(n) => value(&n.to_ne_bytes()),
            Argument::Float(x) => value(&x.to_ne_bytes()),
            Argument::Array(block) => {
                let length = block.bytes();
                // SAFETY: the block has this many bytes from its address on, all of them values.
                let elements =
                    unsafe { std::slice::from_raw_parts(block.address().cast::<u8>(), length) };
                [&(length as u64).to_ne_bytes()[..], elements].concat()
            }
        });
    }
    bytes
}

/// Calls the program on a workload. Returns the counts of the call, after its result was checked.
fn measure(name: &str, workload: &Workload, folder: &Path) -> Counts {
    let [arguments, result] = ["arguments", "result"].map(|file| folder.join(file));
    std::fs::write(&arguments, arguments_of(workload)).expect("written");
    let output = Command::new(folder.join("host"))
        .args([&arguments, &result])
        .env_remove("NOVA_PROFILE")
        .output()
        .expect("the host runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {errors}");
    let mut found = Output::new(&workload.result, Pages::Small);
    found.fill(&std::fs::read(result).expect("a result"));
    (workload.check)(&found, Summation::Tree).unwrap_or_else(|e| panic!("{name}: {e}"));
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<u64> = text.lines().filter_map(|line| line.parse().ok()).collect();
    let [to_device, to_host, on_device, launches, waits] = numbers[..] else {
        panic!("{name}: {text}");
    };
    Counts {
        to_device,
        to_host,
        on_device,
        launches,
        waits,
    }
}

/// The counts of the second call of a program on two sizes.
struct Row {
    name: &'static str,
    sizes: [usize; 2],
    counts: [Counts; 2],
}

/// Bytes to and from the host; on the device; launches; waits.
const fn counts(
    [to_device, to_host]: [u64; 2],
    on_device: u64,
    launches: u64,
    waits: u64,
) -> Counts {
    Counts {
        to_device,
        to_host,
        on_device,
        launches,
        waits,
    }
}

const fn row(name: &'static str, sizes: [usize; 2], counts: [Counts; 2]) -> Row {
    Row {
        name,
        sizes,
        counts,
    }
}

/// The sizes of most programs.
const USUAL: [usize; 2] = [1 << 14, 1 << 16];
/// The sizes of rows, whose offsets are more than the host reads at once.
const ROWS: [usize; 2] = [1 << 15, 1 << 17];

/// Every number is exact. An improvement is recorded here.
const EXPECTED: [Row; 16] = [
    row(
        "bbox",
        USUAL,
        [counts([0, 8192], 0, 1, 5), counts([0, 1024], 0, 2, 5)],
    ),
    row(
        "dot3",
        USUAL,
        [counts([0, 0], 0, 1, 1), counts([0, 0], 0, 1, 1)],
    ),
    row(
        "norm",
        USUAL,
        [counts([0, 2048], 0, 1, 2), counts([0, 256], 0, 2, 2)],
    ),
    row(
        "gridred",
        [1 << 20, 1 << 22],
        [
            counts([24, 262144], 0, 1024, 2049),
            counts([24, 280], 0, 1, 4),
        ],
    ),
    row(
        "sumstats",
        USUAL,
        [counts([0, 6144], 0, 3, 7), counts([0, 6656], 0, 4, 7)],
    ),
    row(
        "sumrows",
        ROWS,
        [
            counts([24, 56], 131072, 4, 7),
            counts([24, 56], 524288, 4, 7),
        ],
    ),
    row(
        "wordcount",
        USUAL,
        [counts([0, 768], 0, 2, 2), counts([0, 2816], 0, 2, 2)],
    ),
    row(
        "blackscholes",
        USUAL,
        [counts([0, 0], 0, 1, 1), counts([0, 0], 0, 1, 1)],
    ),
    row(
        "nbody",
        [1 << 11, 1 << 12],
        [counts([0, 0], 24576, 1, 1), counts([0, 0], 49152, 1, 1)],
    ),
    row(
        "spmv",
        USUAL,
        [
            counts([24, 24], 65536, 1, 2),
            counts([24, 24], 262144, 1, 2),
        ],
    ),
    row(
        "box3x3",
        USUAL,
        [counts([0, 0], 0, 1, 1), counts([0, 0], 0, 1, 1)],
    ),
    row(
        "scal",
        USUAL,
        [counts([0, 0], 0, 1, 1), counts([0, 0], 0, 1, 1)],
    ),
    row(
        "asum",
        USUAL,
        [counts([0, 2048], 0, 1, 2), counts([0, 256], 0, 2, 2)],
    ),
    row(
        "dot",
        USUAL,
        [counts([0, 3072], 0, 1, 2), counts([0, 384], 0, 2, 2)],
    ),
    row(
        "gemv",
        USUAL,
        [counts([0, 0], 512, 1, 1), counts([0, 0], 1024, 1, 1)],
    ),
    row(
        "spmv_csr",
        ROWS,
        [
            counts([48, 80], 131072, 4, 8),
            counts([48, 80], 524288, 4, 8),
        ],
    ),
];

/// The most bytes that a call may move in one direction whatever its size: the values of the last
/// 1024 lanes of a reduction, sizes, and the failure record of kernels.
const MOST: u64 = 16 << 10;

/// The programs that move more, with the reason.
const MISSES: [(&str, &str); 1] = [(
    "gridred",
    "a reduction of fewer than 2048 rows is a loop of the host, with a kernel for each row",
)];

#[test]
fn calls_on_the_device_move_scalars_and_sizes() {
    let mut wrong = Vec::new();
    for Row {
        name,
        sizes,
        counts,
    } in &EXPECTED
    {
        let program = PROGRAMS.iter().find(|program| program.name == *name);
        let program = program.expect("a benchmark of this name");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let workloads = sizes.map(|size| (program.draw)(&mut Random::new(7), size));
        let results = match &workloads[0].result {
            Shape::Value(_) => 1,
            Shape::Elements(extents, _) => extents.len() + 1,
        };
        build(name, results, folder.path());
        let found = workloads.map(|workload| measure(name, &workload, folder.path()));
        if found != *counts {
            wrong.push(format!("{name}: {found:?}"));
        }
        let is_little = |counts: &Counts| counts.to_device.max(counts.to_host) <= MOST;
        let misses = MISSES.iter().any(|(missing, _)| missing == name);
        if found.iter().all(is_little) == misses {
            wrong.push(format!(
                "{name}: misses the goal or not, contrary to the table"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
