//! The command `parfors [--dump FOLDER] COUNT [FIRST] [FILE …]`. It counts the parallel loops of
//! programs, and those that the interference checker accepts.
//!
//! It compiles each file and the random programs of COUNT seeds from FIRST (0) on, with operations
//! parallelised in small chunks, for the target with threads, for OpenCL and for CUDA. It also
//! compiles them with the default parallelisation, and files for one thread. It finds witnesses for
//! every parallel loop. It prints the number of loops by level, of blocks by the reasons that keep
//! iterations apart, of loops that are refused by rule, and these loops. `--dump` writes the text
//! of Loop of each program with such a loop into a folder. All cores are used. The command exits
//! with 1 where a loop is refused, a program does not compile, or a check takes long.

use nova_loop::ir::Reason;
use nova_loop::ir::{Command, Program};
use nova_loop::print::{print, print_variable};
use nova_loop::walk::each_command;
use nova_race::{Findings, check, find};
use nova_tests::random::{self, PRELUDE};
use nova_tests::stages::{How, Passes, SMALL_TILES, Stages};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A compilation with its check that takes longer than this is reported.
const LONG: Duration = Duration::from_secs(10);
/// The parallelisations of all programs.
const SMALL: [Passes; 3] = [Passes::Parallelised, Passes::Kernels(2), Passes::Cuda(2)];
/// Further parallelisations of files.
const AS_THEY_ARE: [Passes; 2] = [Passes::Threads(2), Passes::All];

/// A program to be compiled.
enum Source {
    File(String),
    Seed(u64),
}

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let dump = arguments.next_if(|a| a == "--dump").is_some();
    let dump = dump.then(|| arguments.next().map(PathBuf::from)).flatten();
    let Some(count) = arguments.next().and_then(|a| a.parse::<u64>().ok()) else {
        eprintln!("usage: parfors [--dump FOLDER] COUNT [FIRST] [FILE …]");
        std::process::exit(2);
    };
    let first = arguments.peek().and_then(|a| a.parse::<u64>().ok());
    first.is_some().then(|| arguments.next());
    let first = first.unwrap_or(0);
    let files = arguments.map(Source::File);
    let sources: Vec<Source> = files
        .chain((first..first + count).map(Source::Seed))
        .collect();
    let total = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut tally = Tally::default();
                while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                    tally.source(source, dump.as_deref());
                }
                if let Ok(mut total) = total.lock() {
                    total.add(tally);
                }
            });
        }
    });
    let mut total = total.into_inner().unwrap_or_else(|e| e.into_inner());
    total.refused.sort();
    total.print();
    let is_fine = total.failures.is_empty() && total.refused.is_empty();
    std::process::exit(i32::from(!is_fine));
}

/// The results.
#[derive(Default)]
struct Tally {
    programs: u64,
    levels: BTreeMap<String, u64>,
    accepted: u64,
    reasons: BTreeMap<String, u64>,
    rules: BTreeMap<String, u64>,
    refused: Vec<String>,
    longest: Duration,
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        let sum = |to: &mut BTreeMap<String, u64>, from: BTreeMap<String, u64>| {
            from.into_iter()
                .for_each(|(name, n)| *to.entry(name).or_default() += n);
        };
        self.programs += other.programs;
        self.accepted += other.accepted;
        sum(&mut self.levels, other.levels);
        sum(&mut self.reasons, other.reasons);
        sum(&mut self.rules, other.rules);
        self.refused.extend(other.refused);
        self.failures.extend(other.failures);
        self.longest = self.longest.max(other.longest);
    }

    fn source(&mut self, source: &Source, dump: Option<&Path>) {
        match source {
            Source::File(file) => match std::fs::read_to_string(file) {
                Ok(text) => {
                    for passes in SMALL.into_iter().chain(AS_THEY_ARE) {
                        self.compile(file, &text, passes, false, dump);
                    }
                }
                Err(error) => self.failures.push(format!("{file}: {error}")),
            },
            Source::Seed(seed) => {
                let program = random::program(*seed);
                let text = format!("{PRELUDE}{}", program.entry);
                for passes in SMALL.into_iter().chain([Passes::Threads(2)]) {
                    self.compile(&format!("random {seed}"), &text, passes, true, dump);
                }
            }
        }
    }

    fn compile(
        &mut self,
        name: &str,
        text: &str,
        passes: Passes,
        strict: bool,
        dump: Option<&Path>,
    ) {
        let how = How {
            strict,
            passes,
            verify: false,
            defect: None,
            tiles: SMALL_TILES,
        };
        let start = Instant::now();
        match Stages::compile(name, text, how) {
            Ok(stages) => {
                let name = format!("{name} ({})", passes.name());
                let before = self.refused.len();
                self.check(&name, &stages.imperative);
                if let Some(folder) = dump
                    && self.refused.len() > before
                {
                    let file = name.replace(['/', ' ', '(', ')'], "_");
                    let text = print(&stages.imperative);
                    if let Err(error) = std::fs::write(folder.join(file), text) {
                        self.failures.push(format!("{name}: {error}"));
                    }
                }
            }
            Err(why) => self.failures.push(format!("{name}: {why:.200}")),
        }
        let took = start.elapsed();
        self.longest = self.longest.max(took);
        if took > LONG {
            self.failures
                .push(format!("{name} ({}): {took:?}", passes.name()));
        }
    }

    fn check(&mut self, name: &str, program: &Program) {
        let found = find(program);
        let refused: BTreeSet<_> = found.refusals.iter().map(|r| r.index).collect();
        let again = check(program, &found.witnesses, &BTreeSet::new());
        if again
            .iter()
            .any(|refusal| !refused.contains(&refusal.index))
        {
            self.failures
                .push(format!("{name}: a witness does not convince"));
        }
        self.programs += 1;
        self.accepted += (found.witnesses.len() - refused.len()) as u64;
        self.count(program, &found);
        let mut rules = BTreeMap::new();
        for refusal in &found.refusals {
            let loop_name = print_variable(program, refusal.index);
            let text = format!("{name}: {loop_name}: {}", refusal.message);
            if rules.insert(refusal.index, refusal.rule).is_none() {
                *self.rules.entry(format!("{:?}", refusal.rule)).or_default() += 1;
                self.refused.push(text);
            }
        }
    }

    fn count(&mut self, program: &Program, found: &Findings) {
        for function in &program.functions {
            each_command(&function.body, |command| {
                if let Command::For {
                    variable, level, ..
                } = command
                    && found.witnesses.contains_key(variable)
                {
                    *self.levels.entry(format!("{level:?}")).or_default() += 1;
                }
            });
        }
        for reasons in found.witnesses.values().flat_map(|w| w.blocks.values()) {
            let words: Vec<&str> = reasons.iter().copied().map(Reason::word).collect();
            *self.reasons.entry(words.join(" ")).or_default() += 1;
        }
    }

    fn print(&self) {
        println!("programs: {}", self.programs);
        println!("parallel loops by level: {:?}", self.levels);
        println!("accepted: {}", self.accepted);
        println!("blocks by reasons: {:?}", self.reasons);
        println!("refused by rule: {:?}", self.rules);
        println!("longest compilation: {:?}", self.longest);
        for text in &self.refused {
            println!("REFUSED {text}");
        }
        for text in &self.failures {
            println!("FAILURE {text}");
        }
    }
}
