//! The command `random-programs COUNT [FIRST [PASSES]]`: random well-typed programs at every stage.
//!
//! Each program is read, typed, lowered, optimised, placed in memory, translated and compiled, with
//! every verifier on. This is done with all passes, with none, with each switched off, and with
//! several switched off that are drawn. It is evaluated under `--fp strict` by the interpreters of
//! Core, Flat (before and after the optimiser), Mem and Loop, and as C. All must agree to the last
//! bit, including errors with their place, except that the optimiser may make another of several
//! errors come first. The command prints the distribution of what was tried. It exits with 1 when
//! anything disagrees. PASSES is one of these combinations: `all`, `divided`, `-O3`, `--no-fuse`,
//! `several` (all drawn), `several 12`, `planned` (all drawn, by random plans), `planned 12` …
//!
//! `random-programs --plans COUNT [FIRST]` compares the commands of each program by several random plans with
//! the reference, without C.
//!
//! `random-programs --defects COUNT [WORDS]` seeds each of the compiler bugs of `defects.rs` in
//! turn, or those whose names contain the words, and prints the program that finds it. C is left
//! out, except for bugs of the C emitter. It exits with 1 when COUNT programs that a bug changes do
//! not find it. `random-programs --groups COUNT [FIRST]` compares programs of work-groups whose
//! threads make arrays in loops (`random/groups.rs`) on each available device, or an emulation of
//! one. `--group SEED` prints one of them. `random-programs --shrink SEED [PASSES]` prints the smallest part of
//! a program that still disagrees, or crashes. Programs run in processes with a time limit
//! (`--batch`, `--groups-of`, `--failure-of`), so that a program that crashes or does not end is reported as
//! one that disagrees.

use nova_tests::defects::{Defect, named};
use nova_tests::processes::{self, Ended, Job, on_all_cores, say};
use nova_tests::random::{self, PRELUDE};
use nova_tests::random_campaign::{self, LEVELS_OF_C, values};
use nova_tests::shrink::shrink;
use nova_tests::stages::{How, Loaded, Passes, Stages, disagreement};
use nova_tests::{group_campaign, plan_campaign};
use std::path::Path;
use std::time::Duration;

/// Maximum number of programs that are drawn for each in which a seeded bug changes something.
const DRAWN_FOR_EACH: u64 = 20;

/// Programs that have found a bug when few others did. They are tried first, so that not thousands are compiled
/// for each bug again and again.
const FINDERS: [u64; 19] = [
    21, 29, 32, 51, 54, 73, 117, 149, 152, 207, 211, 213, 272, 287, 308, 373, 2325, 3790, 10295,
];

/// The word that asks for the interpreters alone.
const INTERPRETERS: &str = "interpreters";

/// Time limit of a program that is made smaller.
const TO_FAIL: Duration = Duration::from_secs(300);

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize| arguments.get(k).and_then(|a| a.parse::<u64>().ok());
    let word = |k: usize| arguments.get(k).map_or("", String::as_str);
    let passed = match arguments.first().map(String::as_str) {
        Some("--defects") => find_defects(number(1).unwrap_or(2000), word(2)),
        Some("--groups") => group_campaign::run(number(1).unwrap_or(200), number(2).unwrap_or(0)),
        Some("--groups-of") => {
            let seeds: Vec<u64> = (2..arguments.len()).filter_map(number).collect();
            group_campaign::work(word(1), &seeds)
        }
        Some("--batch") => {
            let seeds: Vec<u64> = (3..arguments.len()).filter_map(number).collect();
            let level = number(2).and_then(|level| u8::try_from(level).ok());
            random_campaign::work(word(1), level.unwrap_or(1), &seeds)
        }
        Some("--failure-of") => {
            let runners = match word(3) {
                INTERPRETERS => Runners::Interpreters,
                _ => Runners::All,
            };
            tell_failure(word(1), Path::new(word(2)), runners)
        }
        Some("--plans") => plan_campaign::run(number(1).unwrap_or(1000), number(2).unwrap_or(0)),
        Some("--plans-of") => {
            let seeds: Vec<u64> = (1..arguments.len()).filter_map(number).collect();
            plan_campaign::work(&seeds)
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
            random_campaign::run(number(0).unwrap_or(0), number(1).unwrap_or(0), chosen)
        }
        _ => {
            eprintln!(
                "usage: random-programs COUNT [FIRST [PASSES]] | --plans COUNT [FIRST] | \
                 --groups COUNT [FIRST] | --group SEED | --defects COUNT [WORDS] | --print SEED | --shrink SEED [PASSES]"
            );
            std::process::exit(2);
        }
    };
    std::process::exit(i32::from(!passed));
}

/// What runs a program that may fail.
#[derive(Clone, Copy, PartialEq)]
enum Runners {
    /// The interpreters alone, which takes a few milliseconds.
    Interpreters,
    /// The interpreters, and C where no bug is seeded or the bug is one of C's text.
    All,
}

/// Returns the reason why a program fails with a seeded bug or without, as a text that stays the
/// same while shrinking.
fn failure(text: &str, inputs: &[Vec<String>], how: How, runners: Runners) -> Option<String> {
    failure_of(Stages::compile("shrunk", text, how), inputs, how, runners)
}

/// Does the work of [`failure`] for a program that has been compiled.
fn failure_of(
    compiled: Result<Stages, String>,
    inputs: &[Vec<String>],
    how: How,
    runners: Runners,
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
    let has_c = runners == Runners::All && (how.defect.is_none() || of_text);
    let loaded = match has_c {
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
    let inputs = program.inputs.clone();
    let ways = [Runners::Interpreters, Runners::All]
        .into_iter()
        .flat_map(|runners| combinations.iter().map(move |passes| (*passes, runners)));
    let found = ways.into_iter().find_map(|(passes, runners)| {
        let why = failure_in_process(&text, &inputs, passes, runners)?;
        Some((passes, runners, why))
    });
    let Some((passes, runners, why)) = found else {
        println!("seed {seed}: all stages agree");
        return true;
    };
    let small = shrink(&text, 4000, &mut |text| {
        failure_in_process(text, &inputs, passes, runners).is_some_and(|other| other == why)
    });
    println!("seed {seed} ({passes}): {why}\n{small}\n; inputs {inputs:?}");
    false
}

/// Does the work of [`failure`] in a process, as a program may crash.
fn failure_in_process(
    text: &str,
    inputs: &[Vec<String>],
    passes: Passes,
    runners: Runners,
) -> Option<String> {
    let folder = tempfile::tempdir().ok()?;
    let file = folder.path().join("program.json");
    std::fs::write(&file, serde_json::json!([text, inputs]).to_string()).ok()?;
    let file = file.to_string_lossy().into_owned();
    let mut arguments = vec!["--failure-of".to_string(), passes.name(), file];
    if runners == Runners::Interpreters {
        arguments.push(INTERPRETERS.to_string());
    }
    let job = Job {
        way: passes.name(),
        arguments,
        environment: Vec::new(),
        to_build: TO_FAIL,
        to_run: TO_FAIL,
    };
    match processes::run(&job, &[], &mut |_, _, _| {}) {
        Ended::Well => None,
        ended @ (Ended::Late(_) | Ended::Badly(_)) => Some(ended.to_string()),
    }
}

/// Prints the reason why the program of a file fails, and returns false if it does.
fn tell_failure(passes: &str, file: &Path, runners: Runners) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let read: Option<(String, Vec<Vec<String>>)> = serde_json::from_str(&text).ok();
    let (Some((text, inputs)), Some(passes)) = (read, Passes::by_name(passes)) else {
        return false;
    };
    match failure(&text, &inputs, How::strict(passes), runners) {
        Some(why) => !say("why", 0, &why),
        None => true,
    }
}

/// Seeds each bug in turn, on all cores, and prints the program that finds it. Returns true if all
/// are found.
fn find_defects(count: u64, words: &str) -> bool {
    let defects = named(words);
    let found = on_all_cores(defects.len() as u64, |number| {
        found_by(defects[number as usize], count)
    });
    let mut missed = 0;
    for (defect, by) in defects.iter().zip(found) {
        match by {
            Some((seed, why)) => {
                println!("found    {:55} by program {seed}: {why}", defect.name);
            }
            None => {
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
        ..How::strict(Passes::All)
    };
    let changed = |seed| {
        let program = random::program(seed);
        let text = format!("{PRELUDE}{}", program.entry);
        let compiled = Stages::compile("shrunk", &text, how);
        let is_seeded = compiled.as_ref().map_or(true, Stages::is_seeded);
        is_seeded.then_some((seed, program, text, compiled))
    };
    let all = 0..count.saturating_mul(DRAWN_FOR_EACH);
    let drawn = FINDERS.into_iter().chain(all).filter_map(changed);
    let mut tried = drawn.take(usize::try_from(count).unwrap_or(usize::MAX));
    tried.find_map(|(seed, program, text, compiled)| {
        let why = failure_of(compiled, &program.inputs, how, Runners::All)?;
        // A program that fails without the bug does not count.
        let fair = How {
            defect: None,
            ..how
        };
        failure(&text, &program.inputs, fair, Runners::All)
            .is_none()
            .then_some((seed, why))
    })
}
