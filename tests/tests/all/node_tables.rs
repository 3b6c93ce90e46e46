//! Programs of Flat that number, reserve and fill nodes of whole tables have one value at every stage, level and
//! target.

use nova_core::Value;
use nova_core::text::read_value;
use nova_flat::ir::Program;
use nova_tests::effort;
use nova_tests::passes::Passes;
use nova_tests::random::Random;
use nova_tests::stages::{How, Loaded, Outcome, Stages};
use std::path::Path;

/// The programs, by the names of their files in the tests of nova-flat.
const PROGRAMS: &[&str] = &[
    "reached",
    "reached_between",
    "reached_often",
    "reached_vectors",
    "stored",
    "stored_again",
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
    let how = How::strict(passes);
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

/// Checks the program with this number: for all passes, or for each change with a third of them.
fn check(number: usize, name: &str) {
    let text = text_of(name);
    for (way, passes) in PASSES.iter().enumerate() {
        if !effort::tries(way + number, 3) || !passes.is_present() {
            continue;
        }
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
    for (number, name) in PROGRAMS.iter().enumerate() {
        check(number, name);
    }
}

/// The value of `stored` for links of cells: a list, or `None` if a node contains itself.
fn stored(values: &[i32], links: &[i64], root: i64) -> String {
    // The cells from each one on, while they are new.
    let steps_from = |start: i64| {
        let mut at = start;
        let mut steps = 0;
        while at < values.len() as i64 && steps <= values.len() {
            at = links[at as usize];
            steps += 1;
        }
        steps
    };
    if (0..values.len()).any(|k| steps_from(k as i64) > values.len()) {
        return "None".to_string();
    }
    let mut cells = Vec::new();
    let mut at = root;
    while at < values.len() as i64 {
        cells.push(values[at as usize]);
        at = links[at as usize];
    }
    let list = cells.iter().rev().fold("Nil".to_string(), |rest, value| {
        format!("(Cons ({value}, {rest}))")
    });
    format!("(Some {list})")
}

#[test]
fn random_tables_of_lists_are_those_of_a_plain_search() {
    let text = text_of("stored");
    let (stages, loaded) = compile("stored", &text, Passes::All);
    let entry = &stages.flat.entries[0];
    let mut random = Random::new(7);
    let mut cyclic = 0;
    for _ in 0..2000 {
        let size = random.below(6);
        let values: Vec<i32> = (0..size).map(|_| random.below(100) as i32).collect();
        let links: Vec<i64> = (0..size).map(|_| random.below(size + 1) as i64).collect();
        let root = random.below(size + 1) as i64;
        let expected = stored(&values, &links, root);
        cyclic += usize::from(expected == "None");
        let show = |list: Vec<String>| format!("[{}]", list.join(" "));
        let inputs = [
            show(values.iter().map(i32::to_string).collect()),
            show(links.iter().map(i64::to_string).collect()),
            root.to_string(),
        ];
        let read = |text: &str, ty| read_value(text, ty, &stages.flat.sums).unwrap();
        let given: Vec<Value> = inputs
            .iter()
            .zip(&entry.inputs)
            .map(|(t, i)| read(t, &i.1))
            .collect();
        let outcome = loaded.call(0, &given);
        let wanted = Outcome::Value(read(&expected, &entry.result));
        assert!(
            outcome.same(&wanted),
            "{inputs:?} => {outcome}, not {expected}"
        );
    }
    assert!(cyclic > 200 && cyclic < 1800, "{cyclic}");
}
