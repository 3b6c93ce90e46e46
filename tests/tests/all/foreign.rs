//! Tests of programs that call foreign functions, on every target and at every level. Plain
//! functions run in parallel. Those with side effects run in the order of the program, each once.

use nova_core::Value;
use nova_driver::error::Failure;
use nova_driver::{Compiler, Options, Source, Target};
use nova_schedule::Parallelism;
use nova_tests::nested::host::Host;
use nova_tests::{devices, effort, foreign, inputs};
use std::path::{Path, PathBuf};
use std::process::Command;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign")
}

/// Writes the C of the foreign functions for the header of a program.
fn functions(name: &str, folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(data().join("functions.c")).expect("the functions");
    let path = folder.join(format!("{name}_functions.c"));
    std::fs::write(
        &path,
        text.replace("FOREIGN_HEADER", &format!("\"{name}.h\"")),
    )
    .expect("written");
    path
}

/// Returns the available targets, at their levels.
fn targets() -> Vec<(Target, u8)> {
    let mut all = Vec::new();
    for level in [0, 1, 2, 3] {
        all.push((Target::Sequential, level));
        all.push((Target::Pthreads, level));
    }
    for level in [0, 2] {
        all.extend(devices::has_opencl().then_some((Target::OpenCl, level)));
        all.extend(devices::has_cuda().then_some((Target::Cuda, level)));
    }
    all
}

/// Returns one of two halves of the targets and levels. Each target and each level is in both.
fn half((target, level): (Target, u8)) -> usize {
    usize::from(match target {
        Target::Sequential => level % 2,
        Target::Pthreads | Target::Mpi => (level + 1) % 2,
        Target::OpenCl => level / 2,
        Target::Cuda | Target::Hip => (level / 2 + 1) % 2,
    })
}

fn options(target: Target, optimization: u8, strict: bool) -> Options {
    Options {
        target,
        optimization,
        strict,
        verify: true,
        parallelism: (target == Target::Pthreads).then_some(Parallelism::SMALL),
        ..Options::default()
    }
}

/// Compares the results of all entries of a program on a target at a level with the interpreter's
/// values. The files hold the foreign functions.
fn compare_on(
    (target, level): (Target, u8),
    link: &[PathBuf],
    name: &str,
    text: &str,
    strict: bool,
    given: &[&[&str]],
) {
    let compiler = Compiler::new(options(target, level, strict));
    let checked = compiler.check(Source::text(format!("{name}.nova"), text));
    let mut checked = match checked {
        Ok(checked) => checked,
        Err(Failure::Program(report)) => panic!("{}", report.to_text()),
        Err(other) => panic!("{target:?} -O{level}: {other:?}"),
    };
    let library = compiler.load(&mut checked, link);
    let library = library.unwrap_or_else(|e| panic!("{target:?} -O{level}: {e:?}"));
    for entry in 0..checked.program.entries.len() {
        for texts in given {
            let values = inputs::read(&checked.program, entry, texts);
            let expected = foreign::reference(&checked.program, entry, &values, strict);
            let found = library.call(entry, &values);
            let same = matches!(&found, Ok(value) if value.same(&expected));
            let entry = &checked.program.entries[entry].name;
            assert!(
                same,
                "{target:?} -O{level} {entry} {texts:?}: {found:?}, not {expected:?}"
            );
        }
    }
}

const EMPTY: &str = "[]";
const FEW: &str = "[3 -4 5 0 12 7 9]";

fn many() -> String {
    let numbers: Vec<String> = (0..500).map(|k| (k * 37 % 101 - 20).to_string()).collect();
    format!("[{}]", numbers.join(" "))
}

fn plain() -> String {
    let text = std::fs::read_to_string(data().join("plain.nova")).expect("the program");
    format!("{}{text}", foreign::DECLARATIONS)
}

#[test]
fn plain_functions_give_the_same_everywhere() {
    let many = many();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let link = [functions("plain", folder.path())];
    for way in targets() {
        let given: &[&[&str]] = &[&[EMPTY], &[FEW], &[&many]];
        compare_on(way, &link, "plain", &plain(), half(way) == 0, given);
    }
}

#[test]
fn random_programs_with_effects_keep_their_order() {
    let usual = if effort::all() { 80 } else { 16 };
    let count: u64 =
        std::env::var("FOREIGN_PROGRAMS").map_or(usual, |n| n.parse().expect("a number"));
    let first: u64 = std::env::var("FOREIGN_FIRST").map_or(0, |n| n.parse().expect("a number"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let link = [functions("effects", folder.path())];
    let given: &[&[&str]] = &[&["5", EMPTY], &["-3", "[2 7 1]"]];
    for (file, start) in (first..first + count).step_by(8).enumerate() {
        let text = foreign::effects(start..(start + 8).min(first + count));
        for way in targets().into_iter().filter(|way| half(*way) == file % 2) {
            compare_on(way, &link, "effects", &text, true, given);
        }
    }
}

/// Counts the parallel regions in the C of an entry, for the target with threads.
fn regions(entry: &str) -> usize {
    let compiler = Compiler::new(options(Target::Pthreads, 2, false));
    let text = format!("{}{entry}", foreign::DECLARATIONS);
    let mut checked = compiler
        .check(Source::text("p.nova", text))
        .expect("a program");
    let source = compiler
        .compile(&mut checked)
        .expect("it compiles")
        .files
        .source;
    source.matches("nova_parallel(context").count()
}

#[test]
fn threads_share_plain_calls_and_no_others() {
    let shared = [
        "((X : vector int)) (map thrice X)",
        "((X : vector int)) (map (lambda (x) (reduce + 0 (some x))) X)",
        "((X : vector int)) (reduce + 0 (map thrice X))",
        "((X : vector int)) (filter is_even X)",
        "((X : vector int)) (map_global thrice X)",
        "((X : vector int)) (map some X)",
    ];
    for text in shared {
        assert!(regions(text) > 0, "{text}");
    }
    let alone = [
        "((X : vector int)) (map note X)",
        "((X : vector int)) (map (lambda (x) (+ (note x) (thrice x))) X)",
        "((X : vector int)) (filter asks X)",
        "((X : vector int)) (define (f (lambda (x) (if (> x 9) (note x) (f (+ x 1)))))) (map f X)",
    ];
    for text in alone {
        assert_eq!(regions(text), 0, "{text}");
    }
}

/// Compiles the C of all plain calls, the functions and a host, and runs it.
fn sanitized(flags: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let compiler = Compiler::new(options(Target::Pthreads, 2, false));
    let mut checked = compiler
        .check(Source::text("plain.nova", plain()))
        .expect("a program");
    let files = compiler.compile(&mut checked).expect("it compiles").files;
    let mut host = Host::default();
    host.include("plain");
    let many = many();
    for (k, entry) in checked.program.entries.iter().enumerate() {
        for text in [EMPTY, FEW, &many] {
            let values: Vec<Value> = inputs::read(&checked.program, k, &[text]);
            let types = entry
                .inputs
                .iter()
                .map(|input| &checked.program.variable(*input).ty);
            let given: Vec<_> = types.zip(values).collect();
            let symbol = nova_c::entry_symbols("", &entry.name).function;
            host.call(&files.header, &symbol, &given).expect("a call");
        }
    }
    for (name, text) in [
        ("plain.h", &files.header),
        ("plain.c", &files.source),
        ("host.c", &host.text()),
    ] {
        std::fs::write(folder.join(name), text).expect("written");
    }
    functions("plain", folder);
    let mut gcc = Command::new("gcc");
    gcc.current_dir(folder)
        .args("-std=c11 -O1 -g1 -w -pthread -I.".split(' '))
        .args(flags.split(' '))
        .args([
            "host.c",
            "plain.c",
            "plain_functions.c",
            "-o",
            "host",
            "-lm",
        ]);
    assert!(gcc.status().expect("gcc runs").success(), "{gcc:?}");
    let output = Command::new(folder.join("host"))
        .env("NOVA_NUM_THREADS", "8")
        // The host leaves its results to the system.
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .output()
        .expect("the host runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{flags}: {}\n{errors:.4000}",
        output.status
    );
}

#[test]
fn plain_calls_have_no_races() {
    sanitized("-fsanitize=thread");
}

#[test]
fn plain_calls_use_memory_as_they_should() {
    sanitized("-fsanitize=address,undefined -fno-sanitize-recover=all");
}

/// Tests functions of the device in the language of each target, which is also C.
#[test]
fn functions_of_the_device_run_there_and_elsewhere() {
    let program = std::fs::read_to_string(data().join("device.nova")).expect("the program");
    let code = std::fs::read_to_string(data().join("device.cl")).expect("the functions");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    };
    let c = write(
        "device_functions.c",
        format!("#include \"device.h\"\n{code}"),
    );
    let cl = write("device.cl", code.clone());
    let cu = write("device.cu", code.replace("void ", "__device__ void "));
    for (target, level) in targets() {
        let link = match target {
            Target::OpenCl | Target::Cuda | Target::Hip => vec![cl.clone(), cu.clone()],
            Target::Sequential | Target::Pthreads | Target::Mpi => vec![c.clone(), cl.clone()],
        };
        let strict = level == 2;
        compare_on(
            (target, level),
            &link,
            "device",
            &program,
            strict,
            &[&[EMPTY], &[FEW]],
        );
    }
}

#[test]
fn what_no_device_has_is_refused() {
    let messages = |text: &str, target: Target| {
        let compiler = Compiler::new(options(target, 2, false));
        match compiler.check(Source::text("p.nova", text)) {
            Ok(_) => String::new(),
            Err(Failure::Program(report)) => report.to_text(),
            Err(other) => panic!("{text}: {other:?}"),
        }
    };
    let vectors = "(foreign (device f : vector int -> int)) ((X : vector int)) (f X)";
    assert!(messages(vectors, Target::Sequential).contains("N0216"));
    let host = "(foreign (f : int -> int)) ((X : vector int)) (map_global f X)";
    assert_eq!(messages(host, Target::Pthreads), "");
    let found = messages(host, Target::OpenCl);
    assert!(
        found.contains("N0402") && found.contains("(device name : Type)"),
        "{found}"
    );
    let effect = "(foreign (effect f : int -> int)) ((X : vector int)) (map_global f X)";
    let found = messages(effect, Target::Pthreads);
    assert!(
        found.contains("N0402") && found.contains("effects"),
        "{found}"
    );
}
