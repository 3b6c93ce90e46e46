//! Tests of generated programs when memory or threads are refused, when one of a million iterations
//! fails, and when very many regions follow each other, in a host in C. They give the correct code
//! and message, no leak and no race, and the next call works.

use nova_driver::{Compiler, Options, Source, Target};
use nova_schedule::Parallelism;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("parallel")
}

/// Writes header and C of the program. The names of its entries start with the name of a
/// parallelisation.
fn write(prefix: &str, parallelism: Option<Parallelism>, folder: &Path) {
    let text = std::fs::read_to_string(data().join("robust.nova")).expect("the program");
    let text = text.replace("(entry ", &format!("(entry {prefix}_"));
    let path = folder.join(format!("robust_{prefix}.nova"));
    std::fs::write(&path, text).expect("written");
    let options = Options {
        target: Target::Pthreads,
        parallelism,
        ..Options::default()
    };
    let compiler = Compiler::new(options);
    let mut checked = compiler.check(Source::File(path)).expect("no errors");
    let files = compiler.compile(&mut checked).expect("it compiles").files;
    assert!(files.source.contains("nova_parallel("), "{prefix}");
    for (ending, text) in [("h", &files.header), ("c", &files.source)] {
        let file = folder.join(format!("robust_{prefix}.{ending}"));
        std::fs::write(file, text).expect("written");
    }
}

/// The host under some sanitizers.
struct Host {
    program: PathBuf,
    _folder: tempfile::TempDir,
}

impl Host {
    fn new(sanitizers: Option<&str>) -> Host {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write("default", None, folder.path());
        write("small", Some(Parallelism::SMALL), folder.path());
        let mut gcc = Command::new("gcc");
        gcc.current_dir(folder.path())
            .args("-std=c11 -D_GNU_SOURCE -O1 -g1 -Wall -Wextra -Werror -pthread -I.".split(' '))
            .args(sanitizers.map(|names| format!("-fsanitize={names}")))
            .arg("-include")
            .arg(data().join("refusals.h"))
            .arg(data().join("robust.c"))
            .args(["robust_default.c", "robust_small.c", "-o", "host", "-lm"]);
        assert!(gcc.status().expect("gcc runs").success(), "{gcc:?}");
        Host {
            program: folder.path().join("host"),
            _folder: folder,
        }
    }

    fn output(&self, threads: u32, what: &str, times: u32) -> Output {
        Command::new(&self.program)
            .args([what, &times.to_string()])
            .env("NOVA_NUM_THREADS", threads.to_string())
            .output()
            .expect("the host runs")
    }

    #[track_caller]
    fn run(&self, threads: u32, what: &str, times: u32) {
        let output = self.output(threads, what, times);
        let errors = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        assert!(
            status.success(),
            "{what} {times}, {threads} threads: {status}\n{errors}"
        );
    }
}

const LEAKS: Option<&str> = Some("address,undefined");
const RACES: Option<&str> = Some("thread");

fn memory_threads_and_errors(host: &Host) {
    for threads in [1, 2, 8] {
        host.run(threads, "memory", 0);
        host.run(threads, "errors", 6);
    }
    for made in [0, 1, 2] {
        host.run(8, "threads", made);
    }
}

#[test]
fn nothing_leaks_where_leaks_are_found() {
    let host = Host::new(LEAKS);
    let output = host.output(2, "leak", 0);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("LeakSanitizer"), "{errors}");
    assert!(!output.status.success());
    memory_threads_and_errors(&host);
}

#[test]
fn nothing_races() {
    let host = Host::new(RACES);
    memory_threads_and_errors(&host);
    regions(&host, 10_000);
}

/// Runs regions one after the other, alone and from eight threads of the host. `calls` is their
/// total number.
fn regions(host: &Host, calls: u32) {
    for threads in [1, 2, 3, 8, 16] {
        host.run(threads, "alone", calls / 10);
        host.run(threads, "hosts", calls / 10);
    }
}

#[test]
fn many_regions() {
    regions(&Host::new(None), 100_000);
}

/// The full run: `cargo test -p nova-tests --test all robust:: -- --ignored`.
#[test]
#[ignore = "takes ten minutes"]
fn a_million_regions() {
    regions(&Host::new(None), 10_000_000);
}
