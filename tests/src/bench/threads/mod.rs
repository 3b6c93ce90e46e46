//! The benefit of threads. The programs on pthreads run against OpenMP by hand, Thrust and
//! OpenBLAS. The measurements show how they scale, from which size on threads pay, the cost of an
//! empty region, and irregular rows.
//!
//! [`opponents`] defines the opponents of NOVA. [`programs`], [`curves`], [`regions`] and
//! [`shapes`] measure a part each. [`report`] and [`json`] write the results.

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

/// The time for which a side runs before it is timed. It is longer than the time for which threads of
/// libraries spin.
const WARM_UP: Duration = Duration::from_millis(50);

/// A part of the measurements.
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

/// The plan of the measurements.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The names of the programs. Without names, all are run.
    pub names: Vec<String>,
    /// The parts that are run.
    pub parts: Vec<Part>,
    /// The divisor of the sizes of the data.
    pub shrink: usize,
    /// The number of rounds.
    pub rounds: usize,
    /// The number of threads.
    pub threads: usize,
    /// A folder of sparse matrices, if there is one.
    pub matrices: Option<PathBuf>,
    /// The pages that data lie on. The programs run on one kind after the other, the rest on the
    /// first.
    pub pages: Vec<Pages>,
}

/// The results.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The largest number of threads.
    pub threads: usize,
    /// The programs.
    pub programs: Vec<programs::Comparison>,
    /// The programs on vectors of every size.
    pub curves: Vec<curves::Curve>,
    /// Empty regions.
    pub regions: Vec<regions::Region>,
    /// Rows of every shape.
    pub shapes: Vec<shapes::Shaped>,
    /// The measurements that failed, with the reasons.
    pub failures: Vec<String>,
    /// The measurements that this machine cannot run, with what it lacks.
    pub skipped: Vec<String>,
}

impl Found {
    /// Records a result, or the reason of its failure.
    fn keep<T>(&mut self, what: &str, found: Result<T, String>) -> Option<T> {
        found
            .map_err(|why| self.failures.push(format!("{what}: {why}")))
            .ok()
    }
}

/// The state that the parts share while they measure.
struct Bench<'a> {
    plan: &'a Plan,
    /// The opponents whose tools this machine has.
    opponents: Vec<Opponent>,
    /// The numbers of threads that are tried. The last is the plan's.
    counts: Vec<usize>,
    /// The pages that this machine has.
    pages: Vec<Pages>,
    limits: Limits,
    bar: ProgressBar,
}

impl Bench<'_> {
    /// Returns the way to time sides with threads, on the first kind of pages.
    fn way(&self) -> Way {
        Way {
            rounds: self.plan.rounds,
            shortest: 0.02 / self.plan.shrink.min(20) as f64,
            warm_up: Some(WARM_UP / self.plan.shrink.min(50) as u32),
            cached: false,
            pages: self.pages.first().copied().unwrap_or(Pages::Small),
        }
    }
}

/// Returns the numbers of threads that are tried: all where they are few, else powers of two and
/// the last.
fn counts(threads: usize) -> Vec<usize> {
    let tried = |&count: &usize| threads <= 8 || count.is_power_of_two() || count == threads;
    (1..=threads.max(1)).filter(tried).collect()
}

impl Plan {
    /// Runs all measurements.
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

/// Returns the opponents whose tools are available. The others are noted in `skipped`.
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
