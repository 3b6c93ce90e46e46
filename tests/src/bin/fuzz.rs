//! `fuzz reader|checker SECONDS [SEED]`: mutated programs through the reader and formatter, or
//! through the whole front end, for a bounded time. A panic or a run of over ten seconds is a
//! finding: the input is written to `fuzz-finding.nova` and the exit status is 1.

use nova_diag::SourceMap;
use nova_tests::mutate::mutate;
use nova_tests::random::{self, Random};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// A run that takes longer counts as a hang.
const HANG: Duration = Duration::from_secs(10);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(target), Some(seconds)) = (arguments.first(), arguments.get(1)) else {
        eprintln!("usage: fuzz reader|checker SECONDS [SEED]");
        std::process::exit(2);
    };
    let run: fn(&[u8]) = match target.as_str() {
        "reader" => read,
        "checker" => check,
        other => {
            eprintln!("no fuzz target '{other}': reader or checker");
            std::process::exit(2);
        }
    };
    let limit = Duration::from_secs(seconds.parse().unwrap_or(60));
    let seed = arguments.get(2).and_then(|s| s.parse().ok()).unwrap_or(1);
    let corpus = corpus();
    let mut random = Random::new(seed);
    let started = Instant::now();
    let (mut executions, mut slowest) = (0u64, Duration::ZERO);
    while started.elapsed() < limit {
        let (a, b) = (random.below(corpus.len()), random.below(corpus.len()));
        let input = mutate(&mut random, &corpus[a], &corpus[b]);
        let one = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&input)));
        slowest = slowest.max(one.elapsed());
        executions += 1;
        if outcome.is_err() || one.elapsed() > HANG {
            let what = if outcome.is_err() { "panic" } else { "hang" };
            let _ = std::fs::write("fuzz-finding.nova", &input);
            println!("{target}: {what} after {executions} executions; see fuzz-finding.nova");
            std::process::exit(1);
        }
    }
    println!("{target}: {executions} executions, 0 crashes, 0 hangs, slowest {slowest:.1?}");
}

/// Every example and test program, and a hundred random ones.
fn corpus() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."));
    let mut corpus = Vec::new();
    let mut folders = vec![root.join("nova-examples"), root.join("tests")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "nova")
                && let Ok(text) = std::fs::read(&path)
            {
                corpus.push(text);
            }
        }
    }
    for seed in 0..100 {
        let program = random::program(seed);
        corpus.push(format!("{}{}", random::PRELUDE, program.entry).into_bytes());
    }
    corpus
}

fn read(input: &[u8]) {
    let text = String::from_utf8_lossy(input).into_owned();
    let mut sources = SourceMap::new();
    let file = sources.add("fuzz.nova", text.as_str());
    let (_, diagnostics) = nova_syntax::parse::parse(&text, file, &mut sources, "fuzz");
    for diagnostic in &diagnostics {
        nova_diag::render_text(&sources, diagnostic);
        nova_diag::render_json(&sources, diagnostic);
    }
    if let Ok(once) = nova_syntax::format::format(&text)
        && let Ok(twice) = nova_syntax::format::format(&once)
    {
        assert_eq!(once, twice, "the formatter is not idempotent");
    }
}

fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input).into_owned();
    let mut sources = SourceMap::new();
    let file = sources.add("fuzz.nova", text.as_str());
    let (program, mut diagnostics) = nova_syntax::parse::parse(&text, file, &mut sources, "fuzz");
    let checked = nova_infer::infer(&program, &sources);
    diagnostics.extend(checked.diagnostics);
    for diagnostic in &diagnostics {
        nova_diag::render_text(&sources, diagnostic);
    }
    if let Some(core) = checked.program
        && diagnostics
            .iter()
            .all(|d| d.severity != nova_diag::Severity::Error)
    {
        assert!(
            nova_core::verify::verify(&core).is_ok(),
            "the verifier of Core refuses the result"
        );
    }
}
