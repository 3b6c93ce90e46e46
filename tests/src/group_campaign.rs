//! Campaigns of programs of work-groups ([`crate::group_programs`]), in processes ([`crate::processes`]).
//! PoCL 3.1 does not finish compiling some kernels of a few hundred lines, with conditions and returns after
//! barriers in loops. It is deep in a recursion of its own, in which it finds the loops of the kernel again and
//! again. Such programs are named, and the others of their batch go on.

use crate::group_programs::{BATCH, Compared, compare};
use crate::processes::{Findings, Job, batch, campaign, say};
use crate::stages::Passes;
use nova_driver::Target;
use std::time::Duration;

/// Time limit for the file of a batch until its first program runs.
const TO_BUILD: Duration = Duration::from_secs(240);

/// Time limit of a program, with its kernel's compilation by PoCL.
const TO_RUN: Duration = Duration::from_secs(40);

/// The orders in which the emulation of CUDA runs threads, for successive batches.
const ORDERS: [&str; 3] = ["random", "descending", "interleaved"];

const DEVICES: [(&str, Target); 2] = [("opencl", Target::OpenCl), ("cuda", Target::Cuda)];

/// The levels of optimisation, for successive batches.
const LEVELS: [u8; 4] = [2, 0, 3, 1];

/// Compares programs on all devices. Returns true if they agree.
pub fn run(count: u64, first: u64) -> bool {
    let mut passed = true;
    for (device, target) in DEVICES {
        if passes(target, first).is_present() {
            let found = on_device(device, first, count);
            report(device, &found);
            // Only PoCL compiles kernels when a program runs.
            let all = found.programs + found.endless.len() as u64 == count;
            let ended = device == "opencl" || found.endless.is_empty();
            passed &= all && ended && found.disagreements.is_empty();
        }
    }
    passed
}

/// Runs the work of one process: compares the programs of seeds, and prints the results.
pub fn work(device: &str, seeds: &[u64]) -> bool {
    let known = DEVICES.into_iter().find(|(name, _)| *name == device);
    let (Some((_, target)), Some(first)) = (known, seeds.first()) else {
        return false;
    };
    let passes = passes(target, *first);
    if !passes.is_present() {
        return false;
    }
    let found = match compare(seeds, passes, &mut |seed| {
        say("at", seed, "");
    }) {
        Ok(found) => found,
        Err(why) => {
            say("why", 0, &format!("{}: {why}", passes.name()));
            return false;
        }
    };
    let numbers = found.numbers().into_iter();
    let numbers = numbers.map(|(name, number)| say("number", number, name));
    let used = found
        .used
        .iter()
        .map(|(name, times)| say("used", *times, name));
    let reasons = found
        .reasons
        .iter()
        .map(|(name, times)| say("reason", *times, name));
    let differ = found
        .disagreements
        .iter()
        .map(|text| say("differs", 0, text));
    numbers
        .chain(used)
        .chain(reasons)
        .chain(differ)
        .all(|said| said)
}

/// Returns the options of the batch with this program. The levels alternate between batches. From
/// one round of all levels to the next, the steps that honour groups alternate.
fn passes(target: Target, first: u64) -> Passes {
    let batch = (first / BATCH) as usize;
    let level = LEVELS[batch % LEVELS.len()];
    match batch / LEVELS.len() % 2 {
        0 => Passes::Honoured(target, level),
        _ if target == Target::Cuda => Passes::Cuda(level),
        _ => Passes::Kernels(level),
    }
}

fn on_device(device: &str, first: u64, count: u64) -> Compared {
    let job = |seeds: &[u64]| {
        let first = seeds.first().copied().unwrap_or_default();
        let order = ORDERS[(first / BATCH) as usize % ORDERS.len()];
        Job {
            way: device.to_string(),
            arguments: vec!["--groups-of".to_string(), device.to_string()],
            environment: vec![
                ("NOVA_EMULATION_ORDER", order.to_string()),
                ("NOVA_EMULATION_SEED", (first + 1).to_string()),
            ],
            to_build: TO_BUILD,
            to_run: TO_RUN,
        }
    };
    campaign((first, count, BATCH), |_, seeds| {
        let mut found: Compared = batch(&job, seeds);
        // Printed at once, since all of them may take long.
        for text in found.disagreements() {
            println!("DISAGREEMENT {text}");
        }
        found
    })
}

impl Findings for Compared {
    const WORD: &'static str = "groups";

    fn note(&mut self, kind: &str, number: u64, text: &str) {
        match kind {
            "number" => self.count(text, number),
            "used" => *self.used.entry(text.to_string()).or_default() += number,
            "reason" => *self.reasons.entry(text.to_string()).or_default() += number,
            "differs" => self.disagreements.push(text.to_string()),
            _unknown => {}
        }
    }

    fn add(&mut self, other: Compared) {
        for (name, number) in other.numbers() {
            self.count(name, number);
        }
        for (name, times) in other.used {
            *self.used.entry(name).or_default() += times;
        }
        for (reason, times) in other.reasons {
            *self.reasons.entry(reason).or_default() += times;
        }
        self.endless.extend(other.endless);
        self.disagreements.extend(other.disagreements);
    }

    fn late(&mut self, program: String) {
        self.endless.push(program);
    }

    fn disagreements(&mut self) -> &mut Vec<String> {
        &mut self.disagreements
    }
}

fn report(device: &str, found: &Compared) {
    let numbers = found
        .numbers()
        .map(|(name, number)| format!("{number} {name}"));
    println!("{device}: {}", numbers.join(", "));
    let used: Vec<String> = found
        .used
        .iter()
        .map(|(name, n)| format!("{name} {n}"))
        .collect();
    println!("  drawn: {}", used.join(", "));
    println!("  on one thread: {}", found.programs - found.kernels);
    for (reason, times) in &found.reasons {
        println!("    {times}: {reason}");
    }
    if !found.endless.is_empty() {
        let who = if device == "opencl" {
            "PoCL"
        } else {
            "the program"
        };
        println!("  {who} did not end: {}", found.endless.join(", "));
    }
    println!("  disagreements: {}", found.disagreements.len());
}
