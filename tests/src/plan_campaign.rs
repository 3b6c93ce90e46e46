//! Campaigns of random programs by random plans, in processes ([`crate::processes`]). The commands of a program
//! by each plan must give the reference's value to the last bit, or an error where the reference gives one.
//! C is left out, so that there is time for many plans.

use crate::passes::Passes;
use crate::processes::{Findings, Job, batch, campaign, say};
use crate::random::{self, PRELUDE};
use crate::random_campaign::values;
use crate::stages::{How, Outcome, Stages};
use std::collections::BTreeMap;
use std::time::Duration;

/// The number of plans for each program.
const PLANS: u64 = 8;

/// The number of programs of a process.
const BATCH: u64 = 64;

/// The time limit of the reference for a run, and that of a program with all its plans.
const REFERENCE_TIME: Duration = Duration::from_secs(2);
const TO_RUN: Duration = Duration::from_secs(600);

/// The results of a campaign.
#[derive(Default)]
struct Tally {
    pairs: u64,
    runs: u64,
    /// The number of times that each choice was made otherwise than without a plan.
    choices: BTreeMap<String, u64>,
    late: Vec<String>,
    disagreements: Vec<String>,
}

/// Compares programs by random plans. Returns true if they agree with the reference.
pub fn run(count: u64, first: u64) -> bool {
    let found: Tally = campaign((first, count, BATCH), |_, seeds| {
        let job = |_: &[u64]| Job {
            way: "by random plans".to_string(),
            arguments: vec!["--plans-of".to_string()],
            environment: Vec::new(),
            to_build: TO_RUN,
            to_run: TO_RUN,
        };
        let mut found: Tally = batch(&job, seeds);
        for text in found.disagreements().iter().take(40) {
            let text: String = text.chars().take(600).collect();
            println!("DISAGREEMENT {text}");
        }
        found
    });
    println!("pairs of a program and a plan: {}", found.pairs);
    println!("runs: {}", found.runs);
    println!("choices made otherwise: {:?}", found.choices);
    println!("left out, too long: {} {:?}", found.late.len(), found.late);
    println!("disagreements: {}", found.disagreements.len());
    let few = found.late.len() as u64 <= count.div_ceil(100);
    found.pairs > 0 && few && found.disagreements.is_empty()
}

/// Runs the work of one process: compares the programs of seeds and prints the results.
pub fn work(seeds: &[u64]) -> bool {
    seeds.iter().all(|seed| {
        say("at", *seed, "");
        (0..PLANS).all(|k| match compare(*seed, seed.wrapping_mul(PLANS) + k) {
            Ok(choices) => {
                say("pair", 1, "") && choices.iter().all(|(name, n)| say("choice", *n, name))
            }
            Err(why) => say(
                "differs",
                0,
                &format!(
                    "{}{seed} (planned {}): {why}",
                    Tally::WORD,
                    seed.wrapping_mul(PLANS) + k
                ),
            ),
        })
    })
}

/// Compares a program by a plan. Returns how often each choice was made otherwise than without a plan.
fn compare(seed: u64, plan: u64) -> Result<BTreeMap<String, u64>, String> {
    let program = random::program(seed);
    let text = format!("{PRELUDE}{}", program.entry);
    let stages = Stages::compile(&program.name, &text, How::strict(Passes::Planned(plan)))?;
    for texts in &program.inputs {
        let inputs = values(&stages, 0, texts)?;
        let Some(reference) = stages.reference_within(REFERENCE_TIME, 0, &inputs) else {
            break;
        };
        let found = stages.evaluate_loop(0, &inputs);
        let both_fail = matches!((&reference, &found), (Outcome::Error(_), Outcome::Error(_)));
        if !both_fail && !reference.same(&found) {
            return Err(format!("core gives {reference}, loop gives {found}"));
        }
        say("run", 1, "");
    }
    let mut choices: BTreeMap<String, u64> = BTreeMap::new();
    for (_, choice) in stages.plan().departures().into_keys() {
        *choices.entry(choice.name().to_string()).or_default() += 1;
    }
    Ok(choices)
}

impl Findings for Tally {
    const WORD: &'static str = "random";

    fn note(&mut self, kind: &str, number: u64, text: &str) {
        match kind {
            "pair" => self.pairs += number,
            "run" => self.runs += number,
            "choice" => *self.choices.entry(text.to_string()).or_default() += number,
            "differs" => self.disagreements.push(text.to_string()),
            _kind_of_other_campaigns => {}
        }
    }

    fn add(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.runs += other.runs;
        for (name, number) in other.choices {
            *self.choices.entry(name).or_default() += number;
        }
        self.late.extend(other.late);
        self.disagreements.extend(other.disagreements);
    }

    fn late(&mut self, program: String) {
        self.late.push(program);
    }

    fn disagreements(&mut self) -> &mut Vec<String> {
        &mut self.disagreements
    }
}
