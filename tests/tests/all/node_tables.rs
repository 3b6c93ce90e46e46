//! Programs of Flat that number, reserve and fill nodes of whole tables have one value at every stage, level and
//! target.

use nova_core::Value;
use nova_core::text::read_value;
use nova_flat::ir::Program;
use nova_tests::passes::Passes;
use nova_tests::stages::{How, Loaded, Outcome, SMALL_TILES, Stages};
use std::path::Path;

/// The programs, by the names of their files in the tests of nova-flat.
const PROGRAMS: &[&str] = &[
    "reached",
    "reached_between",
    "reached_often",
    "reached_vectors",
    "stored",
    "stored_vectors",
];

const PASSES: &[Passes] = &[
    Passes::Level(0),
    Passes::Level(1),
    Passes::All,
    Passes::Level(3),
    Passes::Parallelised,
    Passes::Threads(3),
    Passes::Kernels(2),
    Passes::Kernels(3),
    Passes::Cuda(2),
];

fn text_of(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/nova-flat/tests/programs");
    std::fs::read_to_string(folder.join(format!("{name}.flat"))).unwrap()
}

fn compile(name: &str, text: &str, passes: Passes) -> (Stages, Loaded) {
    let how = How {
        strict: true,
        passes,
        verify: true,
        defect: None,
        tiles: SMALL_TILES,
    };
    let fail = |error: String| -> ! { panic!("{name} ({}): {error}", passes.name()) };
    let stages = Stages::compile_flat(name, text, how).unwrap_or_else(|e| fail(e));
    let loaded = Loaded::new(name, &stages, 1).unwrap_or_else(|e| fail(e));
    (stages, loaded)
}

/// Returns the inputs and the value of each test line.
fn cases(program: &Program, text: &str) -> Vec<(Vec<Value>, Value)> {
    let entry = &program.entries[0];
    let lines = text.lines().filter_map(|line| line.strip_prefix("; test "));
    let case = |line: &str| {
        let (inputs, value) = line.split_once(" => ").unwrap();
        let inputs = inputs.split(" | ").zip(&entry.inputs);
        let inputs = inputs.map(|(text, (_, ty))| read_value(text, ty, &program.sums).unwrap());
        let value = read_value(value, &entry.result, &program.sums).unwrap();
        (inputs.collect(), value)
    };
    lines.map(case).collect()
}

/// Checks one program for all passes.
fn check(name: &str) {
    let text = text_of(name);
    for passes in PASSES.iter().filter(|passes| passes.is_present()) {
        let (stages, loaded) = compile(name, &text, *passes);
        for (inputs, value) in cases(&stages.flat, &text) {
            let mut outcomes = stages.evaluate_compiled(0, &inputs);
            outcomes.push((loaded.stage(), loaded.call(0, &inputs)));
            for (stage, outcome) in outcomes {
                assert!(
                    outcome.same(&Outcome::Value(value.clone())),
                    "{name} ({}), {stage}: {inputs:?} => {outcome}",
                    passes.name()
                );
            }
        }
    }
}

#[test]
fn programs_have_their_values_on_every_target() {
    for name in PROGRAMS {
        check(name);
    }
}
