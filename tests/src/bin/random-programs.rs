//! The command `random-programs COUNT [FIRST [PASSES]]`: random well-typed programs at every stage.
//!
//! Each program is read, typed, lowered, optimised, placed in memory, translated and compiled, with
//! every verifier on. This is done with all passes, with none, with each switched off, and with
//! several switched off that are drawn. It is evaluated under `--fp strict` by the interpreters of
//! Core, Flat (before and after the optimiser), Mem and Loop, and as C. All must agree to the last
//! bit, including errors with their place, except that the optimiser may make another of several
//! errors come first. The command prints the distribution of what was tried. It exits with 1 when
//! anything disagrees. PASSES is one of these combinations: `all`, `divided`, `-O3`, `--no-fuse`,
//! `several` (all drawn), `several 12` …
//!
//! `random-programs --defects COUNT [WORDS]` seeds each of the compiler bugs of `defects.rs` in
//! turn, or those whose names contain the words, and prints the program that finds it. C is left
//! out, except for bugs of the C emitter. It exits with 1 when COUNT programs that a bug changes do
//! not find it. `random-programs --groups COUNT [FIRST]` compares programs of work-groups whose
//! threads make arrays in loops (`random/groups.rs`) on each available device, or an emulation of
//! one. They run in processes (`--groups-of DEVICE SEED ...`) with a time limit. `--group SEED`
//! prints one of them. `random-programs --shrink SEED [PASSES]` prints the smallest part of a program that
//! still disagrees.

use nova_core::Value;
use nova_tests::defects::{Defect, named};
use nova_tests::group_campaign;
use nova_tests::random::{self, PRELUDE, Program};
use nova_tests::shrink::shrink;
use nova_tests::stages::{
    How, Loaded, Outcome, Passes, REFERENCE, SMALL_TILES, Stages, disagreement,
};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Number of programs that share a C file.
const BATCH: u64 = 16;

/// Maximum number of programs that are drawn for each in which a seeded bug changes something.
const DRAWN_FOR_EACH: u64 = 20;

/// Time limit of the reference for a run. Nearly all runs take milliseconds.
const REFERENCE_TIME: Duration = Duration::from_secs(20);

/// One in this many programs may be left out. About one in five thousand is.
const LEFT_OUT: u64 = 100;

/// The optimisation levels of the C compiler for successive files.
const LEVELS_OF_C: [u8; 3] = [1, 1, 3];

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize| arguments.get(k).and_then(|a| a.parse::<u64>().ok());
    let passed = match arguments.first().map(String::as_str) {
        Some("--defects") => {
            let words = arguments.get(2).map_or("", String::as_str);
            find_defects(number(1).unwrap_or(2000), words)
        }
        Some("--groups") => group_campaign::run(number(1).unwrap_or(200), number(2).unwrap_or(0)),
        Some("--groups-of") => {
            let seeds: Vec<u64> = (2..arguments.len()).filter_map(number).collect();
            group_campaign::work(&arguments[1], &seeds)
        }
        Some("--group") => {
            let program = random::groups::program(number(1).unwrap_or(0));
            println!("{}; inputs {:?}", program.entry, program.inputs);
            true
        }
        Some("--print") => {
            let program = random::program(number(1).unwrap_or(0));
            println!("{PRELUDE}{}", program.entry);
            for inputs in &program.inputs {
                println!(";; inputs {}", inputs.join(" ; "));
            }
            true
        }
        Some("--shrink") => {
            let chosen = arguments.get(2).map(String::as_str);
            show_smallest(number(1).unwrap_or(0), chosen)
        }
        Some(_) if number(0).is_some() => {
            let chosen = arguments.get(2).map(String::as_str);
            compare(number(0).unwrap_or(0), number(1).unwrap_or(0), chosen)
        }
        _ => {
            eprintln!(
                "usage: random-programs COUNT [FIRST [PASSES]] | --groups COUNT [FIRST] | --group SEED | \
                 --defects COUNT [WORDS] | --print SEED | --shrink SEED [PASSES]"
            );
            std::process::exit(2);
        }
    };
    std::process::exit(i32::from(!passed));
}

/// The counts of the run.
#[derive(Default)]
struct Tally {
    programs: u64,
    runs: u64,
    failing_runs: u64,
    failing_programs: u64,
    errors: BTreeMap<&'static str, u64>,
    nodes: Vec<usize>,
    nested: u64,
    used: BTreeMap<&'static str, u64>,
    /// Programs that the reference cannot run in time. Data that grow in a loop may become larger
    /// than memory.
    endless: Vec<String>,
    disagreements: Vec<String>,
}

/// Compares programs under all combinations of passes in turn, or only under the one with this
/// name.
fn compare(count: u64, first: u64, chosen: Option<&str>) -> bool {
    let combinations = match chosen {
        None => Some(Passes::combinations(first)),
        // Each batch draws its own.
        Some("several") => Some((0..count).map(|k| Passes::Several(first + k)).collect()),
        Some(name) => Passes::by_name(name).map(|passes| vec![passes]),
    };
    let combinations: Vec<Passes> = combinations.unwrap_or_default();
    let combinations: Vec<Passes> = combinations
        .into_iter()
        .filter(|passes| passes.is_present())
        .collect();
    if combinations.is_empty() {
        eprintln!("no combination of passes has this name");
        return false;
    }
    let next = AtomicU64::new(0);
    let total = Mutex::new(Tally::default());
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut tally = Tally::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let start = number * BATCH;
                    if start >= count {
                        break;
                    }
                    let seeds = first + start..first + count.min(start + BATCH);
                    let passes = combinations[number as usize % combinations.len()];
                    // The levels differ for each combination, from one round of all combinations to
                    // the next.
                    let round = number as usize / combinations.len();
                    let level = LEVELS_OF_C[(number as usize + round) % LEVELS_OF_C.len()];
                    compare_batch(seeds, (passes, level), &mut tally);
                }
                if let Ok(mut total) = total.lock() {
                    total.add(tally);
                }
            });
        }
    });
    let tally = total.into_inner().unwrap_or_default();
    report(&tally);
    // With a slow reference all programs would be left out.
    let few = tally.endless.len() as u64 <= count / LEFT_OUT;
    tally.programs == count && few && tally.disagreements.is_empty()
}

/// Runs the programs of some seeds together. If the file is refused, runs them one by one.
fn compare_batch(seeds: std::ops::Range<u64>, way: (Passes, u8), tally: &mut Tally) {
    let programs: Vec<Program> = seeds.map(random::program).collect();
    let Err(why) = batch(&programs, way, tally) else {
        return;
    };
    let before = tally.disagreements.len();
    for program in &programs {
        if let Err(one) = batch(std::slice::from_ref(program), way, tally) {
            let text = format!("{} ({}): {one}", program.name, way.0);
            tally.disagreements.push(text);
        }
    }
    if tally.disagreements.len() == before {
        let text = format!("only together, from {}: {why}", programs[0].name);
        tally.disagreements.push(text);
    }
}

fn strict(passes: Passes) -> How<'static> {
    How {
        strict: true,
        passes,
        verify: true,
        defect: None,
        tiles: SMALL_TILES,
    }
}

/// Runs programs that share a file. An error means that the file was refused.
fn batch(
    programs: &[Program],
    (passes, level): (Passes, u8),
    tally: &mut Tally,
) -> Result<(), String> {
    let name = &programs[0].name;
    let entries: Vec<&str> = programs.iter().map(|p| p.entry.as_str()).collect();
    let text = format!("{PRELUDE}{}", entries.concat());
    let stages = Stages::compile(name, &text, strict(passes))?;
    let loaded = Loaded::new(name, &stages, level)?;
    for (entry, program) in programs.iter().enumerate() {
        tally.count(program);
        let mut fails = false;
        for texts in &program.inputs {
            let inputs = values(&stages, entry, texts)?;
            let Some(reference) = stages.reference_within(REFERENCE_TIME, entry, &inputs) else {
                tally.endless.push(program.name.clone());
                break;
            };
            let mut outcomes = vec![(REFERENCE, reference)];
            outcomes.extend(stages.evaluate_compiled(entry, &inputs));
            outcomes.push((loaded.stage(), loaded.call(entry, &inputs)));
            tally.runs += 1;
            if let Outcome::Error(error) = &outcomes[0].1 {
                fails = true;
                tally.failing_runs += 1;
                *tally.errors.entry(error.kind.info().word).or_default() += 1;
            }
            if let Some(text) = disagreement(&outcomes) {
                tally
                    .disagreements
                    .push(format!("{} ({passes}, C -O{level}): {text}", program.name));
                break;
            }
        }
        tally.failing_programs += u64::from(fails);
    }
    Ok(())
}

fn values(stages: &Stages, entry: usize, texts: &[String]) -> Result<Vec<Value>, String> {
    let core = &stages.core;
    let inputs = &core.entries[entry].inputs;
    inputs
        .iter()
        .zip(texts)
        .map(|(input, text)| {
            nova_core::text::read_value(text, &core.variable(*input).ty, &core.sums)
                .map_err(|e| format!("the input {text:.60}: {e:?}"))
        })
        .collect()
}

impl Tally {
    /// Adds the counts of another tally.
    fn add(&mut self, other: Tally) {
        self.programs += other.programs;
        self.runs += other.runs;
        self.failing_runs += other.failing_runs;
        self.failing_programs += other.failing_programs;
        self.nodes.extend(other.nodes);
        self.nested += other.nested;
        for (kind, count) in other.errors {
            *self.errors.entry(kind).or_default() += count;
        }
        for (name, count) in other.used {
            *self.used.entry(name).or_default() += count;
        }
        self.endless.extend(other.endless);
        self.disagreements.extend(other.disagreements);
    }

    fn count(&mut self, program: &Program) {
        self.programs += 1;
        self.nodes.push(program.nodes);
        self.nested += u64::from(program.nesting >= 3);
        for name in program.used.keys() {
            // "partition .0" is partition too.
            let builtin = name.split(' ').next().unwrap_or(name);
            *self.used.entry(builtin).or_default() += 1;
        }
    }
}

fn report(tally: &Tally) {
    let mut nodes = tally.nodes.clone();
    nodes.sort_unstable();
    let median = nodes.get(nodes.len() / 2).copied().unwrap_or(0);
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    println!(
        "programs: {} ({} runs each at 6 stages)",
        tally.programs, tally.runs
    );
    println!(
        "nodes: median {median}, largest {}",
        nodes.last().unwrap_or(&0)
    );
    println!(
        "second-order functions nested 3 deep or more: {:.1} %",
        percent(tally.nested, tally.programs)
    );
    println!(
        "ending in a run-time error: {:.1} % of runs, {:.1} % of programs in some run",
        percent(tally.failing_runs, tally.runs),
        percent(tally.failing_programs, tally.programs)
    );
    println!("errors by kind: {:?}", tally.errors);
    let mut used: Vec<_> = tally.used.iter().collect();
    used.sort_by_key(|(_, count)| **count);
    let rare: Vec<String> = used.iter().map(|(n, c)| format!("{n} {c}")).collect();
    println!(
        "programs that use each of {} forms, rarest first: {}",
        rare.len(),
        rare.join(", ")
    );
    for text in tally.disagreements.iter().take(40) {
        println!(
            "DISAGREEMENT {}",
            text.chars().take(600).collect::<String>()
        );
    }
    let endless = &tally.endless;
    println!(
        "left out, too long for the reference: {} {endless:?}",
        endless.len()
    );
    println!("disagreements: {}", tally.disagreements.len());
}

/// Returns the reason why a program fails with a seeded bug or without, as a text that stays the
/// same while shrinking.
fn failure(text: &str, inputs: &[Vec<String>], how: How) -> Option<String> {
    failure_of(Stages::compile("shrunk", text, how), inputs, how)
}

/// Does the work of [`failure`] for a program that has been compiled.
fn failure_of(
    compiled: Result<Stages, String>,
    inputs: &[Vec<String>],
    how: How,
) -> Option<String> {
    let stages = match compiled {
        Ok(stages) => stages,
        Err(why) if why.starts_with("check") => return None,
        Err(why) => {
            return Some(
                why.chars()
                    .filter(|c| !c.is_ascii_digit())
                    .take(80)
                    .collect(),
            );
        }
    };
    let of_text = how.defect.is_some_and(|defect| defect.of_text().is_some());
    if stages.core.entries.is_empty() {
        return None;
    }
    let loaded = match how.defect.is_none() || of_text {
        true => Loaded::new("shrunk", &stages, *LEVELS_OF_C.iter().max().unwrap_or(&1)).ok(),
        false => None,
    };
    for texts in inputs {
        let Ok(values) = values(&stages, 0, texts) else {
            continue;
        };
        let mut outcomes = stages.evaluate(0, &values);
        if let Some(loaded) = &loaded {
            outcomes.push((loaded.stage(), loaded.call(0, &values)));
        }
        if let Some(text) = disagreement(&outcomes) {
            let stage = text.split(" gives ").nth(1).unwrap_or("").to_string();
            let internal = text.split("INTERNAL").nth(1).unwrap_or("");
            let kind: String = internal
                .chars()
                .filter(|c| !c.is_ascii_digit())
                .take(60)
                .collect();
            return Some(format!("{}{kind}", stage.rsplit(' ').next().unwrap_or("")));
        }
    }
    None
}

/// Prints the smallest part of a program that fails under some combination of passes, or under the one with
/// this name.
fn show_smallest(seed: u64, chosen: Option<&str>) -> bool {
    let program = random::program(seed);
    let text = format!("{PRELUDE}{}", program.entry);
    let combinations = match chosen.and_then(Passes::by_name) {
        Some(passes) => vec![passes],
        None => Passes::combinations(seed),
    };
    let found = combinations.into_iter().find_map(|passes| {
        let why = failure(&text, &program.inputs, strict(passes))?;
        Some((passes, why))
    });
    let Some((passes, why)) = found else {
        println!("seed {seed}: all stages agree");
        return true;
    };
    let inputs = program.inputs.clone();
    let small = shrink(&text, 4000, &mut |text| {
        failure(text, &inputs, strict(passes)).is_some_and(|other| other == why)
    });
    println!("seed {seed} ({passes}): {why}\n{small}\n; inputs {inputs:?}");
    false
}

/// Seeds each bug in turn, on all cores, and prints the program that finds it. Returns true if all
/// are found.
fn find_defects(count: u64, words: &str) -> bool {
    let defects = named(words);
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeMap::new());
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(defect) = defects.get(number) else {
                        break;
                    };
                    let by = found_by(defect, count);
                    if let Ok(mut found) = found.lock() {
                        found.insert(number, by);
                    }
                }
            });
        }
    });
    let found = found.into_inner().unwrap_or_default();
    let mut missed = 0;
    for (number, defect) in defects.iter().enumerate() {
        match found.get(&number) {
            Some(Some((seed, why))) => {
                println!("found    {:55} by program {seed}: {why}", defect.name);
            }
            Some(None) | None => {
                missed += 1;
                println!("MISSED   {:55} by {count} programs", defect.name);
            }
        }
    }
    println!(
        "seeded bugs: {} found, {missed} missed",
        defects.len() - missed
    );
    missed == 0
}

/// Returns the program that finds a bug, and the reason why it fails. Returns `None` if that many
/// programs in which the bug changes something do not find it, or if it changes too few.
fn found_by(defect: &Defect, count: u64) -> Option<(u64, String)> {
    let how = How {
        verify: false,
        defect: Some(defect),
        ..strict(Passes::All)
    };
    let changed = |seed| {
        let program = random::program(seed);
        let text = format!("{PRELUDE}{}", program.entry);
        let compiled = Stages::compile("shrunk", &text, how);
        let is_seeded = compiled.as_ref().map_or(true, Stages::is_seeded);
        is_seeded.then_some((seed, program, text, compiled))
    };
    let drawn = (0..count.saturating_mul(DRAWN_FOR_EACH)).filter_map(changed);
    let mut tried = drawn.take(usize::try_from(count).unwrap_or(usize::MAX));
    tried.find_map(|(seed, program, text, compiled)| {
        let why = failure_of(compiled, &program.inputs, how)?;
        // A program that fails without the bug does not count.
        let fair = How {
            defect: None,
            ..how
        };
        failure(&text, &program.inputs, fair)
            .is_none()
            .then_some((seed, why))
    })
}
