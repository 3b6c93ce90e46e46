//! Tests of the profiles of programs for processors. A host in C calls entries from several threads, with
//! empty arrays, loops inside loops and an operation that fails, under sanitizers. Names, counts and bytes
//! are compared, and how events enclose each other, never times.

use nova_driver::{Compiler, Options, Source, Target};
use nova_schedule::Parallelism;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The threads of the host, and the calls of each entry by each.
const CALLS: i64 = 4 * 5;
/// The number of elements.
const N: i64 = 300;

/// The programs, which the host calls both.
const PROGRAMS: [&str; 2] = ["five", "loops"];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("profiles")
        .join(name)
}

/// Writes the programs for a target, with operations in so small chunks that threads share short arrays.
fn write(target: Target, profile: bool, folder: &Path) {
    for name in PROGRAMS {
        let compiler = Compiler::new(Options {
            target,
            profile,
            parallelism: (target == Target::Pthreads).then_some(Parallelism::SMALL),
            ..Options::default()
        });
        let source = Source::File(data(&format!("{name}.nova")));
        let mut checked = compiler.check(source).expect("the program has no errors");
        let files = compiler.compile(&mut checked).expect("it compiles").files;
        std::fs::write(folder.join(format!("{name}.h")), &files.header).expect("written");
        std::fs::write(folder.join(format!("{name}.c")), &files.source).expect("written");
    }
}

/// Builds the host.
fn build(folder: &Path, sanitizers: &str) {
    let compiled = Command::new("gcc")
        .current_dir(folder)
        .args(["-std=c11", "-O1", "-g1", "-Wall", "-Wextra", "-Werror"])
        .args(["-pthread", "-I.", "-DNOVA_COPIED=1048576"])
        .args([sanitizers, "-fno-sanitize-recover=all", "-o", "host"])
        .arg(data("loops_host.c"))
        .args(["five.c", "loops.c", "-lm"])
        .status()
        .expect("the compiler runs");
    assert!(compiled.success(), "the host does not compile");
}

/// Returns the output of the host on its standard error where the user asks for a profile in this way.
fn run(folder: &Path, asked: Option<&str>) -> String {
    let mut host = Command::new("./host");
    host.current_dir(folder)
        .env_remove("NOVA_PROFILE")
        .env("NOVA_NUM_THREADS", "3");
    if let Some(asked) = asked {
        host.env("NOVA_PROFILE", asked);
    }
    let output = host.output().expect("the host runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "all right\n");
    errors
}

/// The calls, iterations, and bytes read and written of a row; -1 stands for bytes that are not known.
type Numbers = [i64; 4];

/// The rows that the programs have, by operation and place.
fn expected() -> BTreeMap<(&'static str, &'static str), Numbers> {
    let all = CALLS * N;
    let few = CALLS * (N / 16);
    BTreeMap::from([
        (("map", "five.nova:3:13"), [2 * CALLS, all, 0, 4 * all]),
        (
            ("scan", "five.nova:4:15"),
            [2 * CALLS, all, 4 * all, 4 * all],
        ),
        (
            ("histogram", "five.nova:5:14"),
            [2 * CALLS, all, 4 * all, 2 * CALLS * 4 * 256],
        ),
        (("sort", "five.nova:6:15"), [2 * CALLS, few, -1, -1]),
        (
            ("map", "five.nova:6:15"),
            // Positions are read, and an array in which they lie.
            [2 * CALLS, few, 4 * all + 8 * few, 4 * few],
        ),
        (
            ("map", "five.nova:7:15"),
            [2 * CALLS, 25 * CALLS, 4 * all, 4 * 25 * CALLS],
        ),
        (("loop", "loops.nova:3:3"), [2 * CALLS, 5 * CALLS, -1, -1]),
        (
            ("map", "loops.nova:3:14"),
            [5 * CALLS, 3 * all, 12 * all, 12 * all],
        ),
        (("loop", "loops.nova:5:3"), [CALLS, 4 * CALLS, -1, -1]),
        (
            ("map", "loops.nova:6:52"),
            [2 * CALLS, all, 8 * all, 4 * all],
        ),
        (
            ("map", "loops.nova:8:44"),
            [CALLS, 2 * CALLS, 4 * all + 32 * CALLS, 8 * CALLS],
        ),
        (
            ("filter", "loops.nova:9:32"),
            [CALLS, all, 4 * all, 4 * (all - 10 * CALLS)],
        ),
    ])
}

/// Reads the rows of a trace.
fn rows(trace: &Value) -> BTreeMap<(String, String), Numbers> {
    let list = trace["loops"].as_array().expect("rows");
    let number = |row: &Value, key: &str| row[key].as_i64().unwrap_or(-1);
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or("-").to_string();
    list.iter()
        .map(|row| {
            let keys = ["calls", "iterations", "bytes_read", "bytes_written"];
            let numbers = keys.map(|key| number(row, key));
            ((text(row, "operation"), text(row, "place")), numbers)
        })
        .collect()
}

/// Checks that the events of each thread enclose each other or do not meet, and returns how many there are
/// of each category.
fn check_events(trace: &Value) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut threads: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
    for event in trace["traceEvents"].as_array().expect("events") {
        if event["ph"] != "X" {
            continue;
        }
        let nanoseconds = |key: &str| (event[key].as_f64().expect("a time") * 1e3).round() as i64;
        let begin = nanoseconds("ts");
        let spans = threads.entry(event["tid"].as_i64().expect("a thread"));
        spans.or_default().push((begin, begin + nanoseconds("dur")));
        let category = event["cat"].as_str().expect("a category").to_string();
        *counts.entry(category).or_default() += 1;
    }
    for spans in threads.values_mut() {
        spans.sort_by_key(|(begin, end)| (*begin, -*end));
        let mut open: Vec<i64> = Vec::new();
        for (begin, end) in spans {
            open.retain(|outer| outer > begin);
            assert!(open.iter().all(|outer| outer >= end), "{begin} {end}");
            open.push(*end);
        }
    }
    counts
}

/// Checks the table: it has a line for each row, with calls and iterations.
fn check_table(table: &str, program: &str) {
    let rows = expected();
    let rows: Vec<_> = rows
        .iter()
        .filter(|((_, place), _)| place.starts_with(program))
        .collect();
    assert!(rows.len() > 5);
    for ((operation, place), [calls, iterations, ..]) in rows {
        let start = format!("{operation} {place} {calls} {iterations} ");
        let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let found = table.lines().any(|line| squeezed(line).starts_with(&start));
        assert!(found, "no line {start} in\n{table}");
    }
}

/// Runs the host without a profile, with a table and with a trace.
fn check(target: Target, sanitizers: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(target, true, folder.path());
    build(folder.path(), sanitizers);
    assert_eq!(run(folder.path(), None), "");
    assert_eq!(run(folder.path(), Some("0")), "");
    let tables = run(folder.path(), Some("1"));
    assert_eq!(tables.matches("profile of ").count(), 2, "{tables}");
    assert_eq!(tables.matches("GB/s by one thread").count(), 2, "{tables}");
    for program in PROGRAMS {
        check_table(&tables, program);
    }
    check_trace(folder.path(), target);
    // A trace that cannot be written is a table.
    let tables = run(folder.path(), Some("nowhere/trace.json"));
    assert_eq!(tables.matches("cannot be written").count(), 2, "{tables}");
    assert_eq!(tables.matches("profile of ").count(), 2, "{tables}");
}

/// Checks the traces of both programs, each in a file of its own.
fn check_trace(folder: &Path, target: Target) {
    assert_eq!(run(folder, Some("trace-%n.json")), "");
    for program in PROGRAMS {
        let path = folder.join(format!("trace-{program}.json"));
        let text = std::fs::read_to_string(path).expect("a trace");
        let trace: Value = serde_json::from_str(&text).expect("JSON");
        let found = rows(&trace);
        let mut executions = 0;
        for ((operation, place), numbers) in expected() {
            if place.starts_with(program) {
                let row = found.get(&(operation.to_string(), place.to_string()));
                assert_eq!(row, Some(&numbers), "{operation} {place} of {found:#?}");
                executions += numbers[0] as usize;
            }
        }
        let counts = check_events(&trace);
        let entries = found.iter().filter(|((_, place), _)| place == "-");
        let calls: i64 = entries.map(|(_, [calls, ..])| calls).sum();
        assert_eq!(counts["call"] as i64, calls);
        let failed = if program == "loops" {
            CALLS as usize
        } else {
            0
        };
        assert!(counts["loop"] >= executions - failed, "{counts:?}");
        let shares = counts.get("thread").copied().unwrap_or(0);
        assert_eq!(shares > 0, target == Target::Pthreads, "{counts:?}");
    }
}

#[test]
fn a_sequential_program_is_profiled() {
    check(Target::Sequential, "-fsanitize=address,undefined");
}

#[test]
fn a_program_with_threads_is_profiled() {
    check(Target::Pthreads, "-fsanitize=address,undefined");
}

#[test]
fn a_profile_of_threads_has_no_races() {
    check(Target::Pthreads, "-fsanitize=thread");
}

#[test]
fn a_program_without_a_profile_has_no_part_of_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for target in [Target::Sequential, Target::Pthreads] {
        write(target, false, folder.path());
        for program in PROGRAMS {
            let path = folder.path().join(format!("{program}.c"));
            let text = std::fs::read_to_string(path).expect("C");
            assert!(!text.contains("nova_begin_loop") && !text.contains("NOVA_PROFILE"));
        }
    }
}
