//! Tables of nodes: the programs under `nodes/`, which are texts of Core, and random data and tables of
//! random types.

use crate::lines::programs;
use crate::random_nodes::Random;
use crate::stages::{Outcome, Stages};
use nova_core::ir::Program;
use nova_core::{ScalarValue, Value, parse, verify};
use nova_diag::SourceMap;

fn core(name: &str, text: &str) -> Program {
    let mut sources = SourceMap::new();
    let text: String = text
        .lines()
        .map(|line| if line.starts_with(';') { "" } else { line })
        .flat_map(|line| [line, "\n"])
        .collect();
    let file = sources.add(name, text.as_str());
    let program = parse::parse(&text, file)
        .unwrap_or_else(|diagnostics| panic!("{name}: {}", diagnostics[0].message));
    verify::verify(&program).unwrap_or_else(|error| panic!("{name}: {error}"));
    program
}

/// Returns the program as lowered, simplified, and both with operations on nodes.
fn stages(name: &str, core: Program) -> Stages {
    let expand = |program: &nova_flat::ir::Program| {
        let mut expanded = program.clone();
        nova_lower::expand_tables(&mut expanded)
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        expanded
    };
    let lowered = nova_lower::lower(&core).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let mut simplified = lowered.clone();
    nova_opt::simplify::run(&mut simplified);
    let lowered_nodes = expand(&lowered);
    let simplified_nodes = expand(&simplified);
    let mut all = simplified_nodes.clone();
    nova_opt::simplify::run(&mut all);
    let stages = vec![
        ("lowered", lowered),
        ("simplified", simplified),
        ("lowered, nodes", lowered_nodes),
        ("simplified, nodes", simplified_nodes),
        ("simplified, nodes, simplified", all),
    ];
    Stages::new(name, core, stages)
}

#[test]
fn programs_mean_the_same() {
    let programs = programs("tests/nodes");
    let run = |(name, text): &(String, String)| stages(name, core(name, text)).run_lines(text);
    let count: usize = programs.iter().map(run).sum();
    assert!(count > 40, "{count}");
}

/// Values are equal, and errors in kind and place: any of several wrong links may be reported.
fn same_kind(left: &Outcome, right: &Outcome) -> bool {
    match (left, right) {
        (Ok(a), Ok(b)) => a.same(b),
        (Err(a), Err(b)) => a.kind == b.kind && a.place == b.place,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

#[test]
fn random_tables_mean_the_same() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let stages = stages(&format!("seed {seed}"), random.program());
        let root = random.root(30);
        let mut runs = vec![(0, vec![root.clone()]), (2, vec![root])];
        for wrong in [0, 0, 5, 20] {
            let first = Value::Scalar(ScalarValue::I32(0));
            runs.push((1, vec![first, random.tables(wrong)]));
        }
        for (entry, inputs) in runs {
            stages.run(entry, &inputs, same_kind);
        }
    }
}
