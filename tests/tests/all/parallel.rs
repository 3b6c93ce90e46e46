//! Tests of programs with parallel loops in a C host under ThreadSanitizer, AddressSanitizer and
//! UndefinedBehaviorSanitizer. Eight threads of the host call them at once, for several numbers of
//! threads in the pool. Every thread gets the same result to the last bit, whatever these numbers
//! are.

use nova_driver::{Compiler, Options, Source, Target};
use nova_tests::bench::build::folder_of;
use nova_tests::effort;
use std::path::Path;
use std::process::Command;

const BENCHMARKS: &[&str] = &[
    "bbox",
    "dot",
    "norm",
    "scal",
    "spmv_csr",
    "sumrows",
    "wordcount",
];

/// Writes the header and the C of a program into a folder.
fn write(name: &str, source: Source, folder: &Path) {
    let options = Options {
        target: Target::Pthreads,
        ..Options::default()
    };
    let compiler = Compiler::new(options);
    let mut checked = compiler.check(source).expect("the program has no errors");
    let files = compiler.compile(&mut checked).expect("it compiles").files;
    assert!(files.source.contains("nova_parallel("), "{name}");
    for (ending, text) in [("h", &files.header), ("c", &files.source)] {
        std::fs::write(folder.join(format!("{name}.{ending}")), text).expect("written");
    }
}

/// Returns the lines that the host prints with this many threads.
fn run(host: &Path, threads: u32) -> Vec<String> {
    let output = Command::new(host)
        .env("NOVA_NUM_THREADS", threads.to_string())
        .output()
        .expect("the host runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{threads} threads: {errors}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(str::to_string).collect()
}

#[test]
fn hosts_and_pools_of_many_threads_agree() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("parallel");
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in BENCHMARKS {
        let path = folder_of(name).join(format!("{name}.nova"));
        write(name, Source::File(path), folder.path());
    }
    let kept = Source::File(data.join("kept.nova"));
    write("kept", kept, folder.path());
    let sources = BENCHMARKS.iter().chain(["kept"].iter());
    let sources: Vec<_> = sources.map(|name| format!("{name}.c")).collect();
    let mut expected: Option<Vec<String>> = None;
    // Each number under one of them, which takes seconds.
    let numbers: [(&str, &[u32]); 2] = [("thread", &[2, 64]), ("address,undefined", &[3, 1, 8])];
    for (sanitizers, numbers) in numbers {
        let compiled = Command::new("gcc")
            .current_dir(folder.path())
            .args("-std=c11 -O1 -g1 -Wall -Wextra -Werror -pthread -I.".split(' '))
            .arg(format!("-fsanitize={sanitizers}"))
            .arg(data.join("host.c"))
            .args(&sources)
            .args(["-o", "host", "-lm"])
            .status()
            .expect("gcc runs");
        assert!(compiled.success(), "the host does not compile");
        for &threads in effort::first(numbers, 1) {
            let lines = run(&folder.path().join("host"), threads);
            let [failure, first, others @ ..] = &lines[..] else {
                panic!("{lines:?}");
            };
            assert!(
                failure.ends_with("index 300002 is out of range for length 300001"),
                "{failure}"
            );
            assert!(others.iter().all(|line| line == first), "{lines:#?}");
            let expected = expected.get_or_insert_with(|| lines.clone());
            assert_eq!(&lines, expected, "{threads} threads, {sanitizers}");
        }
    }
}
