//! The command `conformance COUNT [FIRST]`: differential tests of random programs as users compile
//! them.
//!
//! The programs of the seeds from FIRST are drawn in files (`conformance/mod.rs`). Each file is
//! compiled for two or three targets with options chosen by its number, and called. The reference
//! interpreter must give the same values (`conformance/trial.rs`). All processors are used, and
//! each file has a process of its own. The command prints what was tried. It exits with 1 when
//! anything disagrees, is refused, crashes or does not end.
//!
//! `conformance --print SEED` prints a program with its inputs and its options. `conformance
//! --shrink SEED` prints the smallest part of it that still fails. `conformance --emit SEED FOLDER`
//! writes the output of the compiler at each stage for each of its settings. `conformance --defects
//! COUNT [WORDS]` seeds mistakes in the compiler, those whose names contain the words, and prints
//! the program that finds each. The processes run `conformance --work FIRST LAST`, and the
//! shrinking runs `conformance --try FILE SEED`.

use nova_tests::conformance::seeded;
use nova_tests::conformance::trial::{self, Plan, file_of};
use nova_tests::conformance::{File, Program, SHARED};
use nova_tests::shrink::shrink;
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time limit of one process.
const PATIENCE: Duration = Duration::from_secs(240);

fn main() {
    // The library that is preloaded into this process must not be preloaded into compilers of C.
    // SAFETY: no thread has been started yet.
    unsafe { std::env::remove_var("LD_PRELOAD") };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize| arguments.get(k).and_then(|a| a.parse::<u64>().ok());
    let passed = match (arguments.first().map(String::as_str), number(0), number(1)) {
        (Some("--work"), _, Some(first)) => {
            trial::run(file_of(first), first..number(2).unwrap_or(first + 1));
            true
        }
        (Some("--defects"), _, count) => {
            let words = arguments.get(2).map_or("", String::as_str);
            seeded::find(count.unwrap_or(300), words)
        }
        (Some("--try"), _, _) => try_file(&arguments[1..]),
        (Some("--print"), _, Some(seed)) => print(seed),
        (Some("--shrink"), _, Some(seed)) => show_smallest(seed),
        (Some("--emit"), _, Some(seed)) => emit(seed, arguments.get(2).map_or(".", String::as_str)),
        (_, Some(count), first) => compare(count, first.unwrap_or(0)),
        _ => {
            eprintln!(
                "usage: conformance COUNT [FIRST] | --print SEED | --shrink SEED | \
                 --emit SEED FOLDER | --defects COUNT [WORDS]"
            );
            std::process::exit(2);
        }
    };
    std::process::exit(i32::from(!passed));
}

/// The results of all processes.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<String, u64>,
    findings: Vec<String>,
}

/// Tries the programs of some seeds, on all processors.
fn compare(count: u64, first: u64) -> bool {
    let start = Instant::now();
    let (next, total) = (AtomicU64::new(first), Mutex::new(Tally::default()));
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    // A batch ends at the end of a file, or of all seeds.
                    let claim =
                        |from: u64| (from < first + count).then(|| (from / SHARED + 1) * SHARED);
                    let claimed = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim);
                    let Ok(from) = claimed else {
                        break;
                    };
                    let until = ((from / SHARED + 1) * SHARED).min(first + count);
                    let tally = try_seeds(from, until);
                    // Printed at once, since all of them may take hours.
                    tally
                        .findings
                        .iter()
                        .for_each(|text| println!("FOUND {text}"));
                    if let Ok(mut total) = total.lock() {
                        total.add(tally);
                    }
                }
            });
        }
    });
    let tally = total.into_inner().unwrap_or_default();
    let programs = tally.report();
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    println!("{:.0} programs a minute", programs as f64 / minutes);
    programs >= count && tally.findings.is_empty()
}

/// Tries the programs of one file. They run one by one if the process for all of them fails.
fn try_seeds(from: u64, until: u64) -> Tally {
    let plan = Plan::new(file_of(from));
    let range = [from.to_string(), until.to_string()];
    let (tally, ended) = process(&plan, &[&["--work".to_string()], &range[..]].concat());
    let Some(why) = ended else {
        return tally;
    };
    if until - from == 1 {
        let mut tally = tally;
        tally.findings.push(format!("p{from}: {why}"));
        return tally;
    }
    let mut all = Tally::default();
    (from..until).for_each(|seed| all.add(try_seeds(seed, seed + 1)));
    if all.findings.is_empty() {
        all.findings
            .push(format!("p{from} to p{until}, only together: {why}"));
    }
    all
}

/// Runs this program with other arguments and the environment of a plan. Returns its tally, and the
/// reason why it did not end well.
fn process(plan: &Plan, arguments: &[String]) -> (Tally, Option<String>) {
    let run = || -> std::io::Result<(Tally, Option<String>)> {
        let (mut out, mut errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(arguments)
            .env("CC", plan.compiler)
            .env("CFLAGS", plan.c_options)
            .env("NOVA_NUM_THREADS", plan.threads)
            .env("NOVA_CACHE", "")
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(errors.try_clone()?);
        if let (true, Some(library)) = (plan.sanitized, sanitizer()) {
            command.env("LD_PRELOAD", library);
        }
        let mut child = command.spawn()?;
        let start = Instant::now();
        let status = loop {
            match child.try_wait()? {
                Some(status) => break Some(status),
                None if start.elapsed() > PATIENCE => {
                    child.kill()?;
                    child.wait()?;
                    break None;
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let (mut text, mut said) = (Vec::new(), Vec::new());
        out.rewind()?;
        out.read_to_end(&mut text)?;
        errors.rewind()?;
        errors.read_to_end(&mut said)?;
        let (tally, at) = Tally::read(&String::from_utf8_lossy(&text));
        let said = complaint(&String::from_utf8_lossy(&said));
        let why = match status {
            Some(status) if status.success() => None,
            Some(status) => Some(format!("{status} in {at}: {said}")),
            None => Some(format!("did not end in {at}")),
        };
        Ok((tally, why))
    };
    run().unwrap_or_else(|error| (Tally::default(), Some(error.to_string())))
}

/// Returns the library of the address sanitizer, which must be loaded before all others.
fn sanitizer() -> Option<PathBuf> {
    let asked = Command::new("gcc")
        .arg("-print-file-name=libasan.so")
        .output();
    let text = String::from_utf8(asked.ok()?.stdout).ok()?;
    PathBuf::from(text.trim()).canonicalize().ok()
}

/// Returns the line of a standard error that states the error, and the first place in generated
/// code.
fn complaint(text: &str) -> String {
    let words = [
        "ERROR:",
        "runtime error",
        "panicked",
        "SUMMARY",
        "Assert",
        "terminate",
    ];
    let lines = text
        .lines()
        .filter(|line| words.iter().any(|word| line.contains(word)));
    let lines: Vec<&str> = lines.take(3).collect();
    match lines.is_empty() {
        true => text
            .lines()
            .last()
            .unwrap_or("nothing was said")
            .to_string(),
        false => lines.join(" | "),
    }
}

impl Tally {
    /// Parses the output of a process. Returns its tally, and the last program that it tried.
    fn read(text: &str) -> (Tally, String) {
        let (mut tally, mut at) = (Tally::default(), "its start".to_string());
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("count", rest)) => {
                    if let Some((number, what)) = rest.split_once(' ') {
                        let count = tally.counts.entry(what.to_string()).or_default();
                        *count += number.parse::<u64>().unwrap_or(0);
                    }
                }
                Some(("found", rest)) => tally.findings.push(rest.to_string()),
                Some(("at", rest)) => at = rest.to_string(),
                Some(_) | None => {}
            }
        }
        (tally, at)
    }

    fn add(&mut self, other: Tally) {
        for (what, count) in other.counts {
            *self.counts.entry(what).or_default() += count;
        }
        self.findings.extend(other.findings);
    }

    /// Prints all results. Returns the number of programs.
    fn report(&self) -> u64 {
        let (forms, others): (Vec<_>, Vec<_>) = self
            .counts
            .iter()
            .partition(|(what, _)| what.starts_with("form "));
        for (what, count) in &others {
            println!("{what}: {count}");
        }
        let mut forms: Vec<(u64, &str)> = forms
            .into_iter()
            .map(|(what, count)| (*count, what.trim_start_matches("form ")))
            .collect();
        forms.sort_unstable();
        let texts: Vec<String> = forms
            .iter()
            .map(|(n, what)| format!("{what} {n}"))
            .collect();
        println!("forms, rarest first: {}", texts.join(", "));
        println!("disagreements: {}", self.findings.len());
        self.counts.get("programs").copied().unwrap_or(0)
    }
}

/// Returns the plan, the text and the inputs of a seed.
fn program_of(seed: u64) -> (Plan, String, Program) {
    let plan = Plan::new(file_of(seed));
    let file = File::new(file_of(seed), plan.strict);
    let program = file.program(seed);
    (plan, format!("{}{}", file.head, program.text), program)
}

fn print(seed: u64) -> bool {
    let (plan, text, program) = program_of(seed);
    println!("{text}");
    for run in &program.runs {
        println!("; inputs {run:?}");
    }
    for setting in &plan.settings {
        println!("; {setting}");
    }
    let Plan {
        compiler,
        c_options,
        threads,
        strict,
        ..
    } = plan;
    println!("; strict {strict}; CC={compiler} CFLAGS='{c_options}' NOVA_NUM_THREADS={threads}");
    true
}

/// Writes the text of a program and its stages for each setting.
fn emit(seed: u64, folder: &str) -> bool {
    let (plan, text, program) = program_of(seed);
    let folder = PathBuf::from(folder);
    let write = |name: String, text: &str| {
        let written = std::fs::write(folder.join(&name), text);
        written
            .inspect_err(|error| eprintln!("{name}: {error}"))
            .is_ok()
    };
    let stages = plan.settings.iter().enumerate();
    let stages = stages.flat_map(|(k, setting)| {
        let emitted = trial::emit(&text, setting, plan.strict);
        let named = move |(stage, text)| (format!("p{seed}.{k}.{stage}"), text);
        emitted.into_iter().map(named)
    });
    let source = [(format!("{}.nova", program.name), text.clone())];
    source
        .into_iter()
        .chain(stages)
        .all(|(name, text)| write(name, &text))
}

/// Runs `--try FILE SEED`: the text of a file with the inputs and the plan of a seed.
fn try_file(arguments: &[String]) -> bool {
    let [path, seed] = arguments else {
        return false;
    };
    let (Ok(text), Ok(seed)) = (std::fs::read_to_string(path), seed.parse()) else {
        return false;
    };
    let (plan, _, program) = program_of(seed);
    trial::try_text(
        &text,
        &[(&program.name, &program.runs)],
        &plan,
        &plan.settings,
        true,
    );
    true
}

/// Returns the failure of a text, as a message that stays the same while it shrinks. Returns `None`
/// if it does not fail.
fn failure(plan: &Plan, text: &str, seed: u64) -> Option<String> {
    let file = tempfile::NamedTempFile::new().ok()?;
    std::fs::write(file.path(), text).ok()?;
    let path = file.path().to_string_lossy().into_owned();
    let (tally, ended) = process(plan, &["--try".to_string(), path, seed.to_string()]);
    let found = tally.findings.into_iter().next().or(ended)?;
    let kinds = [
        "refused: internal",
        "refused: ",
        "eval gives",
        "did not end",
        "runtime error",
        "Sanitizer",
        "signal",
    ];
    let kind = kinds
        .iter()
        .find(|kind| found.contains(*kind))
        .copied()
        .unwrap_or("");
    let settings = found.split("): ").next().unwrap_or("");
    // A text that is no longer a program fails in another way.
    let wrong = found.contains("error[N") || found.contains("an input cannot be read");
    let part = found
        .split("pass `")
        .nth(1)
        .and_then(|rest| rest.split('`').next());
    Some(format!("{settings} {kind} {} {wrong}", part.unwrap_or("")))
}

fn show_smallest(seed: u64) -> bool {
    let (plan, text, program) = program_of(seed);
    let Some(why) = failure(&plan, &text, seed) else {
        println!("seed {seed}: agrees");
        return true;
    };
    let small = shrink(&text, 4000, &mut |text| {
        failure(&plan, text, seed).is_some_and(|other| other == why)
    });
    println!("; seed {seed}: {why}\n{small}");
    for run in &program.runs {
        let run = format!("{run:?}");
        println!("; inputs {:.2000}", run);
    }
    false
}
