//! Campaigns of random programs in processes. Each batch of programs has a process of its own, which is this
//! command with other arguments. It prints what it finds, a line each, and which program it is at. When it
//! crashes or takes too long, that program is named, and the others of its batch go on.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What a process does.
pub struct Job {
    /// The way in which programs are compiled, for people.
    pub way: String,
    /// The arguments of this command before the seeds.
    pub arguments: Vec<String>,
    pub environment: Vec<(&'static str, String)>,
    /// Time limit until the first program runs.
    pub to_build: Duration,
    /// Time limit of a program.
    pub to_run: Duration,
}

/// What processes find.
pub trait Findings: Default {
    /// The name of a program is this word and its seed.
    const WORD: &'static str;

    /// Adds a line of a process.
    fn note(&mut self, kind: &str, number: u64, text: &str);

    /// Adds the findings of another batch.
    fn add(&mut self, other: Self);

    /// Adds a program that takes too long.
    fn late(&mut self, program: String);

    /// Returns the disagreements.
    fn disagreements(&mut self) -> &mut Vec<String>;
}

/// Prints a line of a process.
pub fn say(kind: &str, number: u64, text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    let text = text.escape_debug();
    writeln!(out, "{kind}\t{number}\t{text}")
        .and_then(|()| out.flush())
        .is_ok()
}

/// Returns the results of `work` for the numbers below `count`, in their order. Each core takes one at a time.
pub fn on_all_cores<T: Send>(count: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(0);
    let results = Mutex::new(BTreeMap::new());
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let result = work(number);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.insert(number, result);
                }
            });
        }
    });
    let results = results.into_inner();
    results
        .unwrap_or_else(PoisonError::into_inner)
        .into_values()
        .collect()
}

/// Runs the batches of `count` seeds from `first`. `batch` receives the number of a batch and its seeds.
pub fn campaign<F: Findings + Send>(
    (first, count, size): (u64, u64, u64),
    batch: impl Fn(u64, Vec<u64>) -> F + Sync,
) -> F {
    let found = on_all_cores(count.div_ceil(size), |number| {
        let from = number * size;
        let seeds = first + from..first + count.min(from + size);
        batch(number, seeds.collect())
    });
    found.into_iter().fold(F::default(), |mut total, found| {
        total.add(found);
        total
    })
}

/// Runs the programs of seeds in a process: without those that take too long, and one by one if the process
/// fails.
pub fn batch<F: Findings>(job: &dyn Fn(&[u64]) -> Job, mut seeds: Vec<u64>) -> F {
    let way = job(&seeds).way;
    let name = |seed: u64| format!("{}{seed} ({way})", F::WORD);
    let mut all = F::default();
    while let Some(first) = seeds.first().copied() {
        let mut found = F::default();
        let ended = run(&job(&seeds), &seeds, &mut |kind, number, text| {
            found.note(kind, number, text);
        });
        match ended {
            Ended::Well => all.add(found),
            // It leaves the others uncounted.
            Ended::Late(Some(seed)) => {
                all.late(name(seed));
                seeds.retain(|other| *other != seed);
                continue;
            }
            Ended::Late(None) | Ended::Badly(_) if seeds.len() > 1 => {
                let mut alone = F::default();
                for seed in &seeds {
                    alone.add(batch(job, vec![*seed]));
                }
                if alone.disagreements().is_empty() {
                    let text = format!("only together, from {}: {ended}", name(first));
                    alone.disagreements().push(text);
                }
                all.add(alone);
            }
            Ended::Late(None) | Ended::Badly(_) => {
                all.disagreements()
                    .push(format!("{}: {ended}", name(first)));
            }
        }
        break;
    }
    all
}

/// The way in which a process ended.
pub enum Ended {
    Well,
    /// It took too long, with the program of this seed.
    Late(Option<u64>),
    Badly(String),
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::Well => f.write_str("it ended"),
            Ended::Late(_) => f.write_str("it did not end in time"),
            Ended::Badly(why) => f.write_str(why),
        }
    }
}

/// Runs this command for some seeds. `note` receives the kind, the number and the text of each line.
///
/// A line of the kind `at` gives the seed of the program that runs from then on. The kind `why` gives a reason
/// why the process fails.
pub fn run(job: &Job, seeds: &[u64], note: &mut dyn FnMut(&str, u64, &str)) -> Ended {
    let start = || -> std::io::Result<(Child, Receiver<String>)> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(&job.arguments)
            .args(seeds.iter().map(u64::to_string))
            .envs(job.environment.iter().map(|(name, value)| (name, value)))
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
        Ok((child, lines))
    };
    let (mut child, lines) = match start() {
        Ok(started) => started,
        Err(error) => return Ended::Badly(error.to_string()),
    };
    let (mut at, mut reason) = (None, None);
    loop {
        match lines.recv_timeout(if at.is_none() {
            job.to_build
        } else {
            job.to_run
        }) {
            Ok(line) => {
                let mut parts = line.splitn(3, '\t');
                let kind = parts.next().unwrap_or_default();
                let number = parts.next().and_then(|n| n.parse().ok());
                let text = parts.next().unwrap_or_default();
                match kind {
                    "at" => at = number,
                    "why" => reason = Some(text.to_string()),
                    _kind_of_the_findings => note(kind, number.unwrap_or_default(), text),
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let ended = child.kill().and_then(|()| child.wait());
                return ended.map_or_else(|e| Ended::Badly(e.to_string()), |_| Ended::Late(at));
            }
        }
    }
    match (child.wait(), reason) {
        (Ok(status), None) if status.success() => Ended::Well,
        (Ok(status), None) => Ended::Badly(format!("{status} at {at:?}")),
        (Ok(_), Some(why)) => Ended::Badly(why),
        (Err(error), _) => Ended::Badly(error.to_string()),
    }
}
