//! What threads are worth: the programs on pthreads against OpenMP by hand, Thrust and OpenBLAS, how
//! they scale, from which size on threads pay, what an empty region costs, and irregular rows.
//!
//! [`opponents`] knows what NOVA is measured against, [`programs`], [`curves`], [`regions`] and
//! [`shapes`] measure a part each, [`report`] and [`json`] write what was found.

pub mod curves;
pub mod json;
pub mod matrices;
pub mod opponents;
pub mod programs;
pub mod regions;
pub mod report;
pub mod shapes;
#[cfg(test)]
mod tests;

use super::limits::Limits;
use super::measure::Way;
use super::memory::Pages;
use super::run::{bar, given};
use indicatif::ProgressBar;
use opponents::{OPPONENTS, Opponent};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to rest before another side runs: longer than threads of libraries wait awake.
const REST: Duration = Duration::from_millis(50);

/// A part of what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The programs against opponents and with fewer threads.
    Programs,
    /// The programs on vectors of every size.
    Curves,
    /// Empty regions.
    Regions,
    /// Rows of every shape.
    Shapes,
}

/// All parts, with their names.
pub const PARTS: [(Part, &str); 4] = [
    (Part::Programs, "programs"),
    (Part::Curves, "curves"),
    (Part::Regions, "regions"),
    (Part::Shapes, "shapes"),
];

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The names of the programs; none means all.
    pub names: Vec<String>,
    /// Which parts.
    pub parts: Vec<Part>,
    /// What the sizes of the data are divided by.
    pub shrink: usize,
    /// How many rounds.
    pub rounds: usize,
    /// How many threads.
    pub threads: usize,
    /// A folder of sparse matrices, if there is one.
    pub matrices: Option<PathBuf>,
    /// The pages that data lie on: the programs on one kind after the other, the rest on the first.
    pub pages: Vec<Pages>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// How many threads there were at most.
    pub threads: usize,
    /// The programs.
    pub programs: Vec<programs::Comparison>,
    /// The programs on vectors of every size.
    pub curves: Vec<curves::Curve>,
    /// Empty regions.
    pub regions: Vec<regions::Region>,
    /// Rows of every shape.
    pub shapes: Vec<shapes::Shaped>,
    /// What could not be measured, and why.
    pub failures: Vec<String>,
    /// What this machine lacks something for, and what.
    pub skipped: Vec<String>,
}

impl Found {
    /// Keeps what was found, or why it was not.
    fn keep<T>(&mut self, what: &str, found: Result<T, String>) -> Option<T> {
        found
            .map_err(|why| self.failures.push(format!("{what}: {why}")))
            .ok()
    }
}

/// What the parts share while they measure.
struct Bench<'a> {
    plan: &'a Plan,
    /// The opponents whose tools this machine has.
    opponents: Vec<Opponent>,
    /// The numbers of threads that are tried; the last is the plan's.
    counts: Vec<usize>,
    /// The pages that this machine gives.
    pages: Vec<Pages>,
    limits: Limits,
    bar: ProgressBar,
}

impl Bench<'_> {
    /// How sides with threads are timed, on the first kind of pages.
    fn way(&self) -> Way {
        Way {
            rounds: self.plan.rounds,
            shortest: 0.02 / self.plan.shrink.min(20) as f64,
            rest: Some(REST / self.plan.shrink.min(50) as u32),
            cached: false,
            pages: self.pages.first().copied().unwrap_or(Pages::Small),
        }
    }
}

/// The numbers of threads that are tried: all where they are few, else powers of two and the last.
fn counts(threads: usize) -> Vec<usize> {
    let tried = |&count: &usize| threads <= 8 || count.is_power_of_two() || count == threads;
    (1..=threads.max(1)).filter(tried).collect()
}

impl Plan {
    /// Measures everything.
    pub fn run(&self) -> Result<Found, String> {
        let programs = programs::named(&self.names)?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let counts = counts(self.threads);
        let bytes = (256 << 20) / self.shrink.clamp(1, 64);
        let mut found = Found {
            threads: self.threads,
            ..Found::default()
        };
        let pages = given(&self.pages, &mut found.skipped);
        let mut bench = Bench {
            plan: self,
            opponents: available(folder.path(), &mut found.skipped),
            limits: Limits::new(folder.path(), bytes, &counts, &pages)?,
            pages,
            counts,
            bar: bar(self.parts.len())?,
        };
        for part in &self.parts {
            match part {
                Part::Programs => programs::run(&mut bench, &programs, &mut found),
                Part::Curves => curves::run(&mut bench, &mut found),
                Part::Regions => regions::run(&mut bench, &mut found),
                Part::Shapes => shapes::run(&mut bench, &mut found),
            }
            bench.bar.inc(1);
        }
        bench.bar.finish_and_clear();
        Ok(found)
    }
}

/// The opponents whose tools are there; the others are noted.
fn available(folder: &Path, skipped: &mut Vec<String>) -> Vec<Opponent> {
    let mut there = Vec::new();
    for opponent in OPPONENTS {
        match opponent.missing(folder) {
            None => there.push(opponent),
            Some(missing) => skipped.push(format!("{}: {missing}", opponent.name())),
        }
    }
    there
}
