//! Tests of the table that shows the schedules of a program on several targets.

use nova_driver::{Compiler, Options, Source, Target, side_by_side};

/// Returns the table for these targets.
fn table(text: &str, targets: &[Target]) -> String {
    let schedules: Vec<_> = targets
        .iter()
        .map(|target| {
            let compiler = Compiler::new(Options {
                target: *target,
                ..Options::default()
            });
            let mut checked = compiler
                .check(Source::text("p", text))
                .unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
            compiler
                .schedule(&mut checked)
                .unwrap_or_else(|failure| panic!("{text}: {failure:?}"))
        })
        .collect();
    side_by_side(&schedules)
}

/// Returns the words that stand below a target, column by column, in the rows from `first` on to
/// the next row.
fn columns(table: &str, first: &str) -> Vec<String> {
    let header = table.lines().next().unwrap_or_default();
    let mut starts: Vec<usize> = header
        .match_indices(|c: char| !c.is_whitespace())
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || header.as_bytes()[*at - 1] == b' ')
        .collect();
    starts.push(usize::MAX);
    let rows = table.lines().skip_while(|line| !line.contains(first));
    let is_next = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with("p:");
    let mut found = vec![String::new(); starts.len() - 1];
    for (k, line) in rows.enumerate() {
        if k > 0 && is_next(&line) {
            break;
        }
        for (column, cells) in starts.windows(2).zip(&mut found) {
            let (from, to) = (column[0].min(line.len()), column[1].min(line.len()));
            *cells = format!("{cells} {}", line[from..to].trim())
                .trim()
                .to_string();
        }
    }
    found
}

#[test]
fn each_target_has_a_column() {
    let sum = "((X : vector float)) (reduce + 0.0f (map (lambda (x : float) (* x x)) X))";
    let targets = [Target::Sequential, Target::Pthreads, Target::Cuda];
    let table = table(sum, &targets);
    let header: Vec<&str> = table
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    assert_eq!(header, ["target", "seq", "pthreads", "cuda"], "{table}");
    let found = columns(&table, "a loop of");
    assert_eq!(found[1], "in order", "{table}");
    for (parallelised, from) in found[2..]
        .iter()
        .zip(["from 131072 iterations on", "from 64 iterations on"])
    {
        assert!(parallelised.starts_with("parallelised"), "{table}");
        assert!(parallelised.contains(from), "{table}");
    }
}

#[test]
fn programs_without_loops_say_so() {
    let table = table(
        "((x : int)) (+ x 1)",
        &[Target::Sequential, Target::Pthreads],
    );
    assert!(table.contains("no loops, no arrays of its own"), "{table}");
}
