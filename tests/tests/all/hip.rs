//! Programs for HIP. They are those for CUDA but for their heads, so that what tests of CUDA show holds for
//! them. Results are those of sequential C, by the emulation of CUDA.

use nova_driver::{Compiler, Options, Source, Target};
use nova_runtime::HIP_NAMES;
use nova_tests::processes::on_all_cores;
use nova_tests::programs::{Compiled, How, integers};
use nova_tests::sources;
use nova_tests::{devices, effort};
use std::path::Path;

/// A map, a reduction, a scan with ordered regions, and a filter.
const PROGRAM: &str = "
(entry total ((v : vector int)) (reduce + 0 (map popcount v)))
(entry running ((v : vector int)) (scan + 0 v))
(entry kept ((v : vector int)) (filter (lambda (x) (> x 0)) v))
";

#[test]
fn results_are_those_of_sequential_code() {
    if !devices::has(Target::Hip) {
        eprintln!("skipped: hip (no C++ compiler, or hipcc without a GPU)");
        return;
    }
    let sequential = Compiled::new(PROGRAM, Target::Sequential, How::usual(false));
    let device = Compiled::new(PROGRAM, Target::Hip, How::usual(false));
    assert!(device.kernels() >= 3, "{}", device.source);
    assert!(device.source.contains("#include <hip/hip_runtime.h>"));
    assert!(!device.source.contains("#include <cuda_runtime.h>"));
    for length in [0, 1, 31, 1000, 20_000] {
        let inputs = [integers(length)];
        for entry in 0..3 {
            let expected = sequential.call(entry, &inputs).expect("a value in order");
            let value = device.call(entry, &inputs).expect("a value of the device");
            assert!(value.same(&expected), "entry {entry}, {length} elements");
        }
    }
}

/// What only nvcc reads.
const NVCC_SETTINGS: &str = "#if defined(__CUDACC__)\n#pragma nv_diag_suppress 1675, 68\n#endif\n";
/// The beginnings of lines that differ.
const HEADS: [&str; 2] = ["/* ", "#include <cuda_runtime.h>"];

/// Returns the words of a program for a target, without what is in the head of each: names of the file, of
/// the target's header and of HIP's functions, settings of nvcc, and how many blocks a multiprocessor holds.
fn words(path: &Path, target: Target) -> Option<Vec<String>> {
    let compiler = Compiler::new(Options {
        target,
        verify: false,
        ..Options::default()
    });
    let mut checked = compiler.check(Source::File(path.to_path_buf())).ok()?;
    let generated = compiler.compile(&mut checked).expect("its code");
    let text = generated.files.source.replace(HIP_NAMES, "");
    let text = text.replace(NVCC_SETTINGS, "");
    let is_of_head = |line: &&str| HEADS.iter().any(|head| line.starts_with(head));
    let lines = text.lines().filter(|line| !is_of_head(line));
    let text: Vec<&str> = lines.collect();
    let text = text.join("\n").replace(", NOVA_LEAST_BLOCKS)", ")");
    let text = text.replace(", NOVA_LEAST_ORDERED_BLOCKS)", ")");
    Some(text.split_whitespace().map(str::to_string).collect())
}

#[test]
fn programs_are_those_for_cuda() {
    let folders = [
        "nova-examples",
        "tests/classes",
        "tests/recursion",
        "crates/nova-driver/std",
    ];
    let mut programs = sources::programs(&folders);
    let mut number = 0..;
    programs.retain(|_| number.next().is_some_and(|number| effort::tries(number, 5)));
    let compared = on_all_cores(programs.len() as u64, |k| {
        let path = &programs[k as usize];
        let cuda = words(path, Target::Cuda)?;
        let hip = words(path, Target::Hip).expect("a program for HIP");
        let differs = cuda.iter().zip(&hip).position(|(a, b)| a != b);
        let around = differs.map(|k| {
            (
                cuda[k.saturating_sub(3)..=k].to_vec(),
                hip[k.saturating_sub(3)..=k].to_vec(),
            )
        });
        assert_eq!(around, None, "{}", path.display());
        assert_eq!(cuda.len(), hip.len(), "{}", path.display());
        Some(())
    });
    let compared = compared.iter().flatten().count();
    assert!(
        compared * 2 > programs.len() && compared > 20,
        "{compared} of {} programs",
        programs.len()
    );
}
