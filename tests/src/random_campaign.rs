//! Campaigns of random programs at every stage, in processes ([`crate::processes`]).

use crate::processes::{Findings, Job, batch, campaign, say};
use crate::random::{self, PRELUDE, Program};
use crate::stages::{How, Loaded, Outcome, Passes, REFERENCE, Stages, disagreement};
use nova_core::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Number of programs that share a C file.
const BATCH: u64 = 16;

/// Time limit of the reference for a run. Nearly all runs take milliseconds. Interpreters of later stages take
/// up to ten times as long, and a program runs at six of them under each combination of passes.
const REFERENCE_TIME: Duration = Duration::from_secs(2);

/// Time limit for the file of a batch until its first program runs.
const TO_BUILD: Duration = Duration::from_secs(900);

/// Time limit of a program at all stages. The slowest of ten thousand takes three minutes alone on a
/// machine: most of it are interpreters, and launches of tiny kernels on a processor.
const TO_RUN: Duration = Duration::from_secs(1800);

/// One in this many programs may be left out, and one in any case. About one in five thousand is.
const LEFT_OUT: u64 = 100;

/// The optimisation levels of the C compiler for successive files.
pub const LEVELS_OF_C: [u8; 3] = [1, 1, 3];

/// The results of a campaign.
#[derive(Default)]
struct Tally {
    programs: u64,
    runs: u64,
    failing_runs: u64,
    failing_programs: u64,
    errors: BTreeMap<String, u64>,
    nodes: Vec<u64>,
    nested: u64,
    used: BTreeMap<String, u64>,
    /// Programs that the reference cannot run in time. Data that grow in a loop may become larger
    /// than memory.
    endless: Vec<String>,
    disagreements: Vec<String>,
}

/// Compares programs under all combinations of passes in turn, or only under the one with this
/// name. Returns true if they agree.
pub fn run(count: u64, first: u64, chosen: Option<&str>) -> bool {
    let combinations = match chosen {
        None => Some(Passes::combinations(first)),
        // Each batch draws its own.
        Some("planned") => Some((0..count).map(|k| Passes::Planned(first + k)).collect()),
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
    let tally: Tally = campaign((first, count, BATCH), |number, seeds| {
        let number = number as usize;
        let passes = combinations[number % combinations.len()];
        // The levels differ for each combination, from one round of all combinations to the next.
        let round = number / combinations.len();
        let level = LEVELS_OF_C[(number + round) % LEVELS_OF_C.len()];
        let job = |_: &[u64]| Job {
            way: format!("{passes}, C -O{level}"),
            arguments: vec!["--batch".to_string(), passes.name(), level.to_string()],
            environment: Vec::new(),
            to_build: TO_BUILD,
            to_run: TO_RUN,
        };
        let mut found: Tally = batch(&job, seeds);
        // Printed at once, since all of them may take long.
        for text in found.disagreements().iter().take(40) {
            let text: String = text.chars().take(600).collect();
            println!("DISAGREEMENT {text}");
        }
        found
    });
    tally.report();
    // With a slow reference all programs would be left out.
    let few = tally.endless.len() as u64 <= count.div_ceil(LEFT_OUT);
    tally.programs == count && few && tally.disagreements.is_empty()
}

/// Returns the inputs of an entry.
pub fn values(stages: &Stages, entry: usize, texts: &[String]) -> Result<Vec<Value>, String> {
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

/// Runs the work of one process: compares the programs of seeds, which share a file, and prints the results.
pub fn work(passes: &str, level: u8, seeds: &[u64]) -> bool {
    let Some(passes) = Passes::by_name(passes) else {
        return false;
    };
    let mut tally = Tally::default();
    match compare(seeds, (passes, level), &mut tally) {
        Ok(()) => tally.print(),
        Err(why) => {
            say("why", 0, &why);
            false
        }
    }
}

/// Compares programs that share a file. An error means that the file was refused.
fn compare(seeds: &[u64], (passes, level): (Passes, u8), tally: &mut Tally) -> Result<(), String> {
    let programs: Vec<Program> = seeds.iter().copied().map(random::program).collect();
    let Some(first) = programs.first() else {
        return Ok(());
    };
    let entries: Vec<&str> = programs.iter().map(|p| p.entry.as_str()).collect();
    let text = format!("{PRELUDE}{}", entries.concat());
    let stages = Stages::compile(&first.name, &text, How::strict(passes))?;
    let loaded = Loaded::new(&first.name, &stages, level)?;
    for (entry, (program, seed)) in programs.iter().zip(seeds).enumerate() {
        say("at", *seed, &passes.name());
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
                let word = error.kind.info().word.to_string();
                *tally.errors.entry(word).or_default() += 1;
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

impl Tally {
    /// Returns the counters, with their names.
    fn numbers(&mut self) -> [(&'static str, &mut u64); 5] {
        [
            ("programs", &mut self.programs),
            ("runs", &mut self.runs),
            ("failing runs", &mut self.failing_runs),
            ("failing programs", &mut self.failing_programs),
            ("nested", &mut self.nested),
        ]
    }

    fn count(&mut self, program: &Program) {
        self.programs += 1;
        self.nodes.push(program.nodes as u64);
        self.nested += u64::from(program.nesting >= 3);
        for name in program.used.keys() {
            // "partition .0" is partition too.
            let builtin = name.split(' ').next().unwrap_or(name);
            *self.used.entry(builtin.to_string()).or_default() += 1;
        }
    }

    /// Prints the lines from which [`Findings::note`] makes it.
    fn print(&mut self) -> bool {
        let numbers = self.numbers();
        let mut said = numbers.iter().all(|(name, n)| say("number", **n, name));
        said &= self.nodes.iter().all(|n| say("nodes", *n, ""));
        said &= self.errors.iter().all(|(kind, n)| say("error", *n, kind));
        said &= self.used.iter().all(|(name, n)| say("used", *n, name));
        said &= self.endless.iter().all(|name| say("endless", 0, name));
        said && self
            .disagreements
            .iter()
            .all(|text| say("differs", 0, text))
    }

    fn report(&self) {
        let mut nodes = self.nodes.clone();
        nodes.sort_unstable();
        let median = nodes.get(nodes.len() / 2).copied().unwrap_or(0);
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        println!(
            "programs: {} ({} runs each at 6 stages)",
            self.programs, self.runs
        );
        println!(
            "nodes: median {median}, largest {}",
            nodes.last().unwrap_or(&0)
        );
        println!(
            "second-order functions nested 3 deep or more: {:.1} %",
            percent(self.nested, self.programs)
        );
        println!(
            "ending in a run-time error: {:.1} % of runs, {:.1} % of programs in some run",
            percent(self.failing_runs, self.runs),
            percent(self.failing_programs, self.programs)
        );
        println!("errors by kind: {:?}", self.errors);
        let mut used: Vec<_> = self.used.iter().collect();
        used.sort_by_key(|(_, count)| **count);
        let rare: Vec<String> = used.iter().map(|(n, c)| format!("{n} {c}")).collect();
        println!(
            "programs that use each of {} forms, rarest first: {}",
            rare.len(),
            rare.join(", ")
        );
        let endless = &self.endless;
        println!(
            "left out, too long for the reference: {} {endless:?}",
            endless.len()
        );
        println!("disagreements: {}", self.disagreements.len());
    }
}

impl Findings for Tally {
    const WORD: &'static str = "random";

    fn note(&mut self, kind: &str, number: u64, text: &str) {
        match kind {
            "number" => {
                let numbers = self.numbers().into_iter();
                numbers
                    .filter(|(name, _)| *name == text)
                    .for_each(|(_, n)| *n += number);
            }
            "nodes" => self.nodes.push(number),
            "error" => *self.errors.entry(text.to_string()).or_default() += number,
            "used" => *self.used.entry(text.to_string()).or_default() += number,
            "endless" => self.endless.push(text.to_string()),
            "differs" => self.disagreements.push(text.to_string()),
            _unknown => {}
        }
    }

    fn add(&mut self, mut other: Tally) {
        for ((_, sum), (_, number)) in self.numbers().into_iter().zip(other.numbers()) {
            *sum += *number;
        }
        self.nodes.extend(other.nodes);
        for (kind, count) in other.errors {
            *self.errors.entry(kind).or_default() += count;
        }
        for (name, count) in other.used {
            *self.used.entry(name).or_default() += count;
        }
        self.endless.extend(other.endless);
        self.disagreements.extend(other.disagreements);
    }

    fn late(&mut self, program: String) {
        self.disagreements.push(format!("{program} does not end"));
    }

    fn disagreements(&mut self) -> &mut Vec<String> {
        &mut self.disagreements
    }
}
