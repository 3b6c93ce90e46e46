//! Campaigns of programs of work-groups ([`crate::group_programs`]): each batch has a process of
//! its own, which is killed if a program takes too long. PoCL 3.1 does not finish compiling some
//! kernels of a few hundred lines, with conditions and returns after barriers in loops. It is deep
//! in a recursion of its own, in which it finds the loops of the kernel again and again. Such
//! programs are named, and the others of their batch go on.

use crate::group_programs::{BATCH, Compared, compare};
use crate::stages::Passes;
use nova_driver::Target;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
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
    let say = |text: String| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush()).is_ok()
    };
    let found = compare(seeds, passes, &mut |seed| {
        say(format!("at\t{seed}"));
    });
    for (name, number) in found.numbers() {
        say(format!("number\t{number}\t{name}"));
    }
    for (name, times) in found.used {
        say(format!("used\t{times}\t{name}"));
    }
    for (name, times) in found.reasons {
        say(format!("reason\t{times}\t{name}"));
    }
    for text in found.disagreements {
        say(format!("differs\t0\t{}", text.escape_debug()));
    }
    say("done".to_string())
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
    let next = AtomicU64::new(first);
    let total = Mutex::new(Compared::default());
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let from = next.fetch_add(BATCH, Ordering::Relaxed);
                    if from >= first + count {
                        break;
                    }
                    let found = batch(device, (from..(from + BATCH).min(first + count)).collect());
                    // Printed at once, since all of them may take long.
                    for text in &found.disagreements {
                        println!("DISAGREEMENT {text}");
                    }
                    total
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .add(found);
                }
            });
        }
    });
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Compares the programs of seeds in a process. Repeats it without one that does not end.
fn batch(device: &str, mut seeds: Vec<u64>) -> Compared {
    let mut endless = Vec::new();
    loop {
        let (mut found, ended) = process(device, &seeds);
        match ended {
            Ended::Well => {}
            // A program that did not end leaves the others uncounted.
            Ended::Late(Some(seed)) if seeds.len() > 1 => {
                endless.push(format!("groups{seed}"));
                seeds.retain(|other| *other != seed);
                continue;
            }
            Ended::Late(Some(seed)) => endless.push(format!("groups{seed}")),
            Ended::Late(None) => found.disagreements.push(format!(
                "the file from groups{} was not built in time",
                seeds[0]
            )),
            Ended::Badly(why) if seeds.len() > 1 => {
                let mut alone = Compared::default();
                seeds
                    .iter()
                    .for_each(|seed| alone.add(batch(device, vec![*seed])));
                if alone.disagreements.is_empty() {
                    let text = format!("only together, from groups{}: {why}", seeds[0]);
                    alone.disagreements.push(text);
                }
                found = alone;
            }
            Ended::Badly(why) => found
                .disagreements
                .push(format!("groups{}: {why}", seeds[0])),
        }
        found.endless.extend(endless);
        return found;
    }
}

/// The way in which a process ended.
enum Ended {
    Well,
    /// It took too long, with the program of this seed.
    Late(Option<u64>),
    Badly(String),
}

/// Runs this program for the seeds of a batch.
fn process(device: &str, seeds: &[u64]) -> (Compared, Ended) {
    let run = || -> std::io::Result<(Compared, Ended)> {
        let first = seeds.first().copied().unwrap_or_default();
        let order = ORDERS[(first / BATCH) as usize % ORDERS.len()];
        let mut child = Command::new(std::env::current_exe()?)
            .env("NOVA_EMULATION_ORDER", order)
            .env("NOVA_EMULATION_SEED", (first + 1).to_string())
            .args(["--groups-of", device])
            .args(seeds.iter().map(u64::to_string))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let (send, lines) = mpsc::channel();
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut all = BufReader::new(out).lines().map_while(Result::ok);
                all.try_for_each(|line| send.send(line))
            });
        }
        let mut found = Compared::default();
        let (mut at, mut done) = (None, false);
        loop {
            match lines.recv_timeout(if at.is_none() { TO_BUILD } else { TO_RUN }) {
                Ok(line) => note(&line, &mut at, &mut done, &mut found),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    child.kill()?;
                    child.wait()?;
                    return Ok((found, Ended::Late(at)));
                }
            }
        }
        let status = child.wait()?;
        let ended = match done && status.success() {
            true => Ended::Well,
            false => Ended::Badly(format!("{status} at {at:?}")),
        };
        Ok((found, ended))
    };
    run().unwrap_or_else(|error| (Compared::default(), Ended::Badly(error.to_string())))
}

/// Adds a line of the output of a process.
fn note(line: &str, at: &mut Option<u64>, done: &mut bool, found: &mut Compared) {
    *done |= line == "done";
    let Some((kind, rest)) = line.split_once('\t') else {
        return;
    };
    let (number, name) = rest.split_once('\t').unwrap_or((rest, ""));
    let number: u64 = number.parse().unwrap_or_default();
    match kind {
        "at" => *at = Some(number),
        "number" => found.count(name, number),
        "used" => *found.used.entry(name.to_string()).or_default() += number,
        "reason" => *found.reasons.entry(name.to_string()).or_default() += number,
        "differs" => found.disagreements.push(name.to_string()),
        _unknown => {}
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
