//! Tests of the opponents of the benchmarks against the same independent references as NOVA's
//! programs, on random and adversarial input. Also tests the benchmark command on little data.

use nova_core::Value;
use nova_driver::Options;
use nova_exec::library::{EntryInterface, Generated, Library};
use nova_tests::bench::build::{FILLED_MEMORY, ORDERS, Peer, Program, THRUST, compile, run};
use nova_tests::bench::limits::Limits;
use nova_tests::bench::memory::Pages;
use nova_tests::bench::peer_library::load_peer;
use nova_tests::bench::run::Plan;
use nova_tests::bench::threads::opponents::Opponent;
use nova_tests::bench::workload::Output;
use nova_tests::bench::workloads::PROGRAMS;
use nova_tests::effort;
use nova_tests::random::Random;
use nova_tests::reference::{BENCHMARKS, Benchmark, Case, MATMUL, Summation, compare, numbers};
use std::path::{Path, PathBuf};

/// Loads a function of the type of a program's entry from an object or a library.
fn load(program: &Program, peer: &str, object: PathBuf) -> Library {
    let entry = EntryInterface {
        name: program.entry.name.clone(),
        symbol: program.name.clone(),
        error: format!("{}_error", program.name),
        inputs: program.entry.inputs.clone(),
        result: program.entry.result.clone(),
    };
    let generated = Generated {
        name: &program.name,
        header: &program.header,
        source: &program.source,
        entries: vec![entry],
        foreigns: Vec::new(),
        sums: &program.sums,
    };
    load_peer(&generated, peer, object).expect("it loads")
}

/// Returns the wrong results of a function, on all cases of a benchmark that are wanted.
fn differences(
    benchmark: &Benchmark,
    peer: &str,
    library: &Library,
    wanted: fn(&Case) -> bool,
) -> Vec<String> {
    let cases = (benchmark.cases)(&mut Random::new(11));
    let wrong = |case: Case| {
        let verdict = match library.call(0, &case.inputs) {
            Ok(value) => compare(&value, &case.expected, Summation::Recursive),
            Err(error) => Err(error.to_string()),
        };
        verdict
            .err()
            .map(|why| format!("{peer} {}: {why}", case.what))
    };
    cases.into_iter().filter(wanted).filter_map(wrong).collect()
}

/// Compilers' optimisers take most of the time. What they make of the opponents is checked where it is measured.
const UNOPTIMISED: &str = "-O0";

fn refuse(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_peer_agrees_with_its_reference() {
    let mut wrong = Vec::new();
    for benchmark in BENCHMARKS.iter().chain([&MATMUL]) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = benchmark.name;
        let program = compile(name, Options::default()).expect("it compiles");
        for (_, define) in ORDERS {
            let define = [define, &[UNOPTIMISED], &FILLED_MEMORY].concat();
            let object = Peer::c(name, &define).compile(name, folder.path());
            let library = load(&program, name, object.expect("the hand-written C compiles"));
            wrong.extend(differences(benchmark, name, &library, |_| true));
        }
    }
    refuse(&wrong);
}

/// Links an object, whose code needs these libraries, to a shared library in its folder.
fn link(object: &Path, libraries: &[&str]) -> PathBuf {
    let library = object.with_extension("so");
    let folder = object.parent().expect("a folder");
    let output = library.to_str().expect("a name in UTF-8");
    let flags: &[&[&str]] = &[&["-shared"]];
    run(
        "gcc",
        folder,
        flags,
        &[object],
        &[libraries, &["-lm"]],
        output,
    )
    .expect("it links");
    library
}

/// Sets the number of threads of OpenMP's regions to two, and keeps its code loaded for as long as
/// its threads live. Returns `false` if the opponent's tools are not installed.
fn prepare(opponent: Opponent, folder: &Path) -> bool {
    if let Some(missing) = opponent.missing(folder) {
        eprintln!("skipped: {}: {missing}", opponent.name());
        return false;
    }
    Limits::new(folder, 1 << 16, &[1, 2], &[Pages::Small]).expect("the limits compile");
    true
}

/// True if no number of the input is nan or infinite, which -Ofast assumes.
fn is_finite(case: &Case) -> bool {
    let mut all = Vec::new();
    case.inputs
        .iter()
        .for_each(|input: &Value| numbers(input, &mut all));
    all.iter().all(|number| number.is_finite())
}

/// Compares an opponent's files, compiled one by one with chunks as small as possible.
fn compare_opponent(opponent: Opponent, wanted: fn(&Case) -> bool) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    if !prepare(opponent, folder.path()) {
        return;
    }
    let mut wrong = Vec::new();
    let mut tried = 0;
    let small: &[&str] = &["-DSMALL_CHUNKS", "-DTHREADS=2", UNOPTIMISED];
    let define = [small, &FILLED_MEMORY].concat();
    for benchmark in BENCHMARKS {
        let name = benchmark.name;
        let peer_name = format!("{name}_{}", opponent.suffix());
        let peer = Peer {
            name: &peer_name,
            toolchain: opponent.toolchain(),
            define: &define,
        };
        if !peer.source(name).exists() {
            continue;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = compile(name, Options::default()).expect("it compiles");
        let object = peer.compile(name, folder.path()).expect("it compiles");
        let object = link(&object, peer.toolchain.link);
        let library = load(&program, &peer_name, object);
        wrong.extend(differences(benchmark, &peer_name, &library, wanted));
        tried += 1;
    }
    assert!(tried > 0, "{} has no files", opponent.name());
    refuse(&wrong);
}

#[test]
fn every_openmp_peer_agrees_with_its_reference() {
    compare_opponent(Opponent::OpenMp, |_| true);
    compare_opponent(Opponent::Dynamic, |_| true);
}

#[test]
fn every_openblas_peer_agrees_with_its_reference() {
    compare_opponent(Opponent::OpenBlas, is_finite);
}

/// Compiles all programs with Thrust in one file, so that its headers are read once.
fn compile_thrust(folder: &Path) -> PathBuf {
    let mut text = "#include \"thrust.h\"\n".to_string();
    for benchmark in BENCHMARKS {
        let name = benchmark.name;
        text += &format!("namespace {name}_alone {{\n#include \"{name}_thrust.cpp\"\n}}\n");
    }
    std::fs::write(folder.join("all.cpp"), text).expect("it can be written");
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nova-examples/benchmarks/peers");
    let include = format!("-I{}", peers.display());
    let flags: &[&[&str]] = &[THRUST.flags, &["-O1", "-fPIC", "-w", "-c", &include]];
    let files = [Path::new("all.cpp")];
    run("g++", folder, flags, &files, &[], "all.o").expect("Thrust's programs compile");
    link(&folder.join("all.o"), THRUST.link)
}

#[test]
fn every_thrust_peer_agrees_with_its_reference() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    if !prepare(Opponent::Thrust, folder.path()) {
        return;
    }
    let object = compile_thrust(folder.path());
    let mut wrong = Vec::new();
    for benchmark in BENCHMARKS {
        let program = compile(benchmark.name, Options::default()).expect("it compiles");
        let peer = format!("{}_thrust", benchmark.name);
        let library = load(&program, &peer, object.clone());
        wrong.extend(differences(benchmark, &peer, &library, is_finite));
    }
    refuse(&wrong);
}

#[test]
fn every_program_is_measured() {
    let numbered = PROGRAMS.iter().enumerate();
    let programs = numbered.filter(|(number, _)| effort::tries(*number, 6));
    let programs: Vec<_> = programs.map(|(_, program)| program).collect();
    let plan = Plan {
        names: programs.iter().map(|program| program.name.into()).collect(),
        shrink: 1 << 10,
        rounds: 1,
        ..Plan::default()
    };
    let found = plan.run().expect("the command line is right");
    assert!(found.failures.is_empty(), "{:#?}", found.failures);
    let sizes: usize = programs.iter().map(|program| program.sizes.len()).sum();
    // The huge pages of a system may change while tests run.
    let of_pages = |what: &&String| what.contains(" pages: ");
    let kinds = Pages::ALL.len() - found.skipped.iter().filter(of_pages).count();
    let missing = found.skipped.len() - found.skipped.iter().filter(of_pages).count();
    assert_eq!(found.measurements.len() + missing * kinds, sizes * kinds);
}

#[test]
fn no_check_accepts_what_was_not_computed() {
    for program in PROGRAMS {
        let workload = (program.draw)(&mut Random::new(3), 4096);
        let mut output = Output::new(&workload.result, Pages::Small);
        output.clear();
        let verdict = (workload.check)(&output, Summation::Recursive);
        assert!(verdict.is_err(), "{}", program.name);
    }
}

#[test]
fn an_unknown_program_is_refused() {
    let plan = Plan {
        names: vec!["dott".into()],
        ..Plan::default()
    };
    let error = plan.run().expect_err("there is no such program");
    assert!(
        error.contains("no benchmark dott; there are bbox, "),
        "{error}"
    );
}
