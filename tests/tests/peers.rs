//! The C written by hand that the benchmarks compare with, against the same independent references
//! as NOVA's programs, on random and adversarial input; and the benchmark command on little data.

use nova_driver::Options;
use nova_exec::compiler::CompilerOptions;
use nova_exec::library::{EntryInterface, Generated, Library};
use nova_tests::bench::build::{Program, compile, compile_peer};
use nova_tests::bench::run::Plan;
use nova_tests::bench::workload::Output;
use nova_tests::bench::workloads::PROGRAMS;
use nova_tests::random::Random;
use nova_tests::reference::{BENCHMARKS, MATMUL, compare};
use std::path::Path;

/// Loads the hand-written function of a program; it has the type of the program's entry.
fn load_peer(program: &Program, folder: &Path) -> Library {
    let name = &program.name;
    let (symbol, error) = (format!("peer_{name}"), format!("peer_{name}_error"));
    let object = compile_peer(name, name, folder).expect("the hand-written C compiles");
    let header = program
        .header
        .replace(&format!("int {name}("), &format!("int {symbol}("))
        .replace(&format!("{name}_error("), &format!("{error}("));
    let source = format!("const char *{error}(void)\n{{\n    return 0;\n}}\n");
    let entry = EntryInterface {
        name: program.entry.name.clone(),
        symbol,
        error,
        inputs: program.entry.inputs.clone(),
        result: program.entry.result.clone(),
    };
    let generated = Generated {
        name,
        header: &header,
        source: &source,
        entries: vec![entry],
        sums: &program.sums,
    };
    let options = CompilerOptions {
        optimization: 2,
        strict: false,
    };
    Library::load_with(&generated, options, &[object], None).expect("it loads")
}

#[test]
fn every_peer_agrees_with_its_reference() {
    let mut wrong = Vec::new();
    for benchmark in BENCHMARKS.iter().chain([&MATMUL]) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = compile(benchmark.name, Options::default()).expect("it compiles");
        let library = load_peer(&program, folder.path());
        for case in (benchmark.cases)(&mut Random::new(11)) {
            let verdict = match library.call(0, &case.inputs) {
                Ok(value) => compare(&value, &case.expected),
                Err(error) => Err(error.to_string()),
            };
            if let Err(difference) = verdict {
                wrong.push(format!("{} {}: {difference}", benchmark.name, case.what));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_program_is_measured() {
    let plan = Plan {
        shrink: 1 << 10,
        rounds: 1,
        ..Plan::default()
    };
    let found = plan.run().expect("the command line is right");
    assert!(found.failures.is_empty(), "{:#?}", found.failures);
    let sizes: usize = PROGRAMS.iter().map(|program| program.sizes.len()).sum();
    assert_eq!(found.measurements.len() + found.skipped.len(), sizes);
}

#[test]
fn no_check_accepts_what_was_not_computed() {
    for program in PROGRAMS {
        let workload = (program.draw)(&mut Random::new(3), 4096);
        let mut output = Output::new(&workload.result);
        output.clear();
        let verdict = (workload.check)(&output);
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
