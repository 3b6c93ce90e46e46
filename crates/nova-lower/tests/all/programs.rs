//! The programs of NOVA under `programs/`.

use crate::lines::programs;
use crate::stages::Stages;
use nova_core::ir::Program;
use nova_diag::SourceMap;

fn core(name: &str, text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add(format!("{name}.nova"), text);
    let (tree, diagnostics) = nova_syntax::parse(text, file, &mut sources, name);
    assert!(
        !nova_syntax::has_errors(&diagnostics),
        "{name}: {diagnostics:#?}"
    );
    let checked = nova_infer::infer(&tree, &sources);
    checked
        .program
        .unwrap_or_else(|| panic!("{name}: {:#?}", checked.diagnostics))
}

/// Returns the program as lowered, and after the passes.
fn stages(name: &str, core: Program) -> Stages {
    let lowered = nova_lower::lower(&core).unwrap();
    let mut tail_calls = lowered.clone();
    nova_opt::tail_calls::run(&mut tail_calls);
    let mut simplified = lowered.clone();
    nova_opt::simplify::run(&mut simplified);
    let mut all = simplified.clone();
    nova_opt::tail_calls::run(&mut all);
    nova_opt::outline::run(&mut all);
    let stages = vec![
        ("lowered", lowered),
        ("tail calls", tail_calls),
        ("simplified", simplified),
        ("all passes", all),
    ];
    Stages::new(name, core, stages)
}

#[test]
fn programs_mean_the_same_at_every_stage() {
    let programs = programs("tests/programs");
    let run = |(name, text): &(String, String)| stages(name, core(name, text)).run_lines(text);
    let count: usize = programs.iter().map(run).sum();
    assert!(count > 100);
}

/// A reduction of vectors whose operator reduces vectors, and so on.
fn nested_reductions(depth: usize) -> String {
    let operator = (0..depth).fold("(map +)".to_string(), |inner, k| {
        format!(
            "(lambda (a{k} b{k}) (map + a{k} (reduce {inner} (replicate (length a{k}) 0) [a{k} b{k}])))"
        )
    });
    format!("((X : vector (vector int)) (n : int)) (reduce {operator} (replicate n 0) X)")
}

#[test]
fn operators_in_operators_are_not_lowered_ever_more_often() {
    let variables = |depth| {
        let lowered = nova_lower::lower(&core("nested", &nested_reductions(depth))).unwrap();
        lowered.variables.len()
    };
    // Each is lowered to be read, with those inside; what grows by a factor for each level would be hundreds.
    let (few, many) = (variables(6), variables(12));
    assert!(many < 6 * few, "{few} and {many} variables");
}
