//! `parfors COUNT [FILE …]`: how many parallel loops there are, and how many the interference checker
//! accepts.
//!
//! Compiles each file and so many random programs, with operations divided into small parts, for the
//! target with threads and without, and finds witnesses for every parallel loop. Prints the number of
//! loops by level, of blocks by the reasons that keep iterations apart, of loops that are refused by
//! rule, and these loops. Exits with 1 where a program does not compile or a check takes long.

use nova_loop::interference::{Findings, Reason, check, find};
use nova_loop::ir::{Command, Program};
use nova_loop::print::print_variable;
use nova_loop::walk::each_command;
use nova_tests::random::{self, PRELUDE};
use nova_tests::stages::{How, Passes, SMALL_TILES, Stages};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A check that takes longer is reported.
const LONG: Duration = Duration::from_secs(5);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(count) = arguments.next().and_then(|a| a.parse::<u64>().ok()) else {
        eprintln!("usage: parfors COUNT [FILE …]");
        std::process::exit(2);
    };
    let files: Vec<String> = arguments.collect();
    let mut tally = Tally::default();
    for passes in [Passes::Divided, Passes::Threads(2), Passes::All] {
        for file in &files {
            match std::fs::read_to_string(file) {
                Ok(text) => tally.compile(file, &text, passes, false),
                Err(error) => tally.failures.push(format!("{file}: {error}")),
            }
        }
        for seed in 0..count {
            let program = random::program(seed);
            let text = format!("{PRELUDE}{}", program.entry);
            tally.compile(&format!("random {seed}"), &text, passes, true);
        }
    }
    tally.print();
    std::process::exit(i32::from(!tally.failures.is_empty()));
}

/// What was found.
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
    fn compile(&mut self, name: &str, text: &str, passes: Passes, strict: bool) {
        let how = How {
            strict,
            passes,
            verify: false,
            defect: None,
            tiles: SMALL_TILES,
        };
        match Stages::compile(name, text, how) {
            Ok(stages) => self.check(&format!("{name} ({})", passes.name()), &stages.imperative),
            Err(why) => self.failures.push(format!("{name}: {why:.200}")),
        }
    }

    fn check(&mut self, name: &str, program: &Program) {
        let start = Instant::now();
        let found = find(program);
        let took = start.elapsed();
        self.longest = self.longest.max(took);
        if took > LONG {
            self.failures.push(format!("{name}: {took:?}"));
        }
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
        println!("longest search: {:?}", self.longest);
        for text in &self.refused {
            println!("REFUSED {text}");
        }
        for text in &self.failures {
            println!("FAILURE {text}");
        }
    }
}
