//! The sixteen programs with threads, in each round against sequential NOVA, fewer threads and
//! every opponent.

use super::opponents::{OF_PROGRAMS, Opponent};
use super::{Bench, Found};
use crate::bench::build::{self, Program, Side};
use crate::bench::measure::{Contender, Measurement, Quartiles, Way, measure};
use crate::bench::run::results;
use crate::bench::workloads::{self, PROGRAMS};
use crate::random::Random;
use crate::reference::BENCHMARKS;
use nova_driver::{Options, Target};
use std::path::Path;

/// One program on data of one size.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The numbers of threads that were tried.
    pub counts: Vec<usize>,
    /// The opponents, in the order of their sides.
    pub opponents: Vec<Opponent>,
    /// The times: sequential NOVA, NOVA with each number of threads, each opponent.
    pub measurement: Measurement,
}

/// The index of sequential NOVA among the sides.
pub const SEQUENTIAL: usize = 0;

impl Comparison {
    /// Returns the index of NOVA with the `k`th number of threads.
    pub fn threads(&self, k: usize) -> usize {
        1 + k
    }

    /// Returns the index of NOVA with most threads.
    pub fn nova(&self) -> usize {
        self.counts.len()
    }

    /// Returns the index of an opponent.
    pub fn side(&self, opponent: Opponent) -> Option<usize> {
        let place = self.opponents.iter().position(|&other| other == opponent)?;
        Some(self.counts.len() + 1 + place)
    }

    /// Returns the time of NOVA over that of an opponent. Below 1 NOVA is faster.
    pub fn ratio(&self, opponent: Opponent) -> Option<Quartiles> {
        let side = self.side(opponent)?;
        Some(self.measurement.ratio(self.nova(), side))
    }

    /// Returns the largest of these ratios, which is that to the best opponent.
    pub fn to_best(&self) -> Option<f64> {
        let ratios = self.opponents.iter().filter_map(|&other| self.ratio(other));
        ratios.map(|ratio| ratio.median).max_by(f64::total_cmp)
    }

    /// Returns the speed-up of the `k`th number of threads over sequential NOVA.
    pub fn speed_up(&self, k: usize) -> Quartiles {
        self.measurement.ratio(SEQUENTIAL, self.threads(k))
    }

    /// Returns the rate of arithmetic of the `k`th number of threads over that of one.
    pub fn peak_speed_up(&self, k: usize) -> f64 {
        let rounds = self.measurement.rounds.iter();
        let ratio = |peaks: &Vec<f64>| Some(peaks.get(k)? / peaks.first()?);
        Quartiles::of(rounds.filter_map(|round| ratio(&round.peaks))).median
    }

    /// Returns the speed-up of the `k`th number of threads over NOVA with one thread, divided by
    /// the speed-up of peak arithmetic in the same round.
    pub fn of_peak_speed_up(&self, k: usize) -> f64 {
        let (one, many) = (self.threads(0), self.threads(k));
        let rounds = self.measurement.rounds.iter();
        let ratio = rounds.filter_map(|round| {
            let peak = round.peaks.get(k)? / round.peaks.first()?;
            Some(round.seconds.get(one)? / round.seconds.get(many)? / peak)
        });
        Quartiles::of(ratio).median
    }
}

/// Returns the programs of these names, or all if there are none.
pub fn named(names: &[String]) -> Result<Vec<&'static workloads::Program>, String> {
    let sixteen = |name: &str| BENCHMARKS.iter().any(|benchmark| benchmark.name == name);
    if let Some(name) = names.iter().find(|name| !sixteen(name)) {
        let all: Vec<&str> = BENCHMARKS.iter().map(|benchmark| benchmark.name).collect();
        return Err(format!(
            "no benchmark {name} with threads; there are {}",
            all.join(", ")
        ));
    }
    let wanted = |program: &&workloads::Program| {
        sixteen(program.name) && (names.is_empty() || names.iter().any(|name| name == program.name))
    };
    Ok(PROGRAMS.iter().filter(wanted).collect())
}

/// Measures the programs.
pub(super) fn run(bench: &mut Bench<'_>, programs: &[&workloads::Program], found: &mut Found) {
    for program in programs {
        let outcome = compare(bench, program, found);
        found.keep(program.name, outcome);
    }
}

fn compare(
    bench: &mut Bench<'_>,
    program: &workloads::Program,
    found: &mut Found,
) -> Result<(), String> {
    let name = program.name;
    for &size in program.sizes {
        bench.bar.set_message(format!("{name}: compiling"));
        let workload = (program.draw)(&mut Random::new(1), size / bench.plan.shrink);
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (sides, opponents) = sides(bench, name, results(&workload), folder.path())?;
        for pages in bench.pages.clone() {
            let message = format!("{name}: {}, {} pages", workload.size, pages.name());
            bench.bar.set_message(message);
            let way = Way {
                pages,
                ..bench.way()
            };
            let limits = &mut bench.limits;
            let measurement = measure(name, &sides, &workload, limits, way, &mut || {})?;
            found.programs.push(Comparison {
                counts: bench.counts.clone(),
                opponents: opponents.clone(),
                measurement,
            });
        }
    }
    Ok(())
}

/// Returns sequential NOVA, NOVA with each number of threads, and the available opponents.
fn sides(
    bench: &Bench<'_>,
    name: &str,
    results: usize,
    folder: &Path,
) -> Result<(Vec<Contender>, Vec<Opponent>), String> {
    let mut sides = vec![sequential(name, results, folder)?];
    let program = compile(name, Target::Pthreads)?;
    sides.extend(with_threads(&program, &bench.counts, results, folder)?);
    let mut present = Vec::new();
    for opponent in OF_PROGRAMS {
        if !bench.opponents.contains(&opponent) {
            continue;
        }
        if let Some(side) = opponent.side(&program, bench.plan.threads, results, folder)? {
            sides.push(Contender::opponent(opponent.name(), side));
            present.push(opponent);
        }
    }
    Ok((sides, present))
}

/// Compiles a program for a target.
pub(super) fn compile(name: &str, target: Target) -> Result<Program, String> {
    let options = Options {
        target,
        ..Options::default()
    };
    build::compile(name, options)
}

/// Returns sequential NOVA.
pub(super) fn sequential(name: &str, results: usize, folder: &Path) -> Result<Contender, String> {
    let program = compile(name, Target::Sequential)?;
    let folder = folder.join("seq");
    std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
    let side = Side::nova(&program, results, &folder)?;
    Ok(Contender::nova("NOVA sequential", side))
}

/// Returns NOVA with each of these numbers of threads, as copies of one library, since each library
/// has a pool of its own.
pub(super) fn with_threads(
    program: &Program,
    counts: &[usize],
    results: usize,
    folder: &Path,
) -> Result<Vec<Contender>, String> {
    let folder = folder.join("pthreads");
    std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
    Side::build_nova(program, results, &folder)?;
    let load = |&threads: &usize| {
        let copy = folder.join(format!("side{threads}.so"));
        std::fs::copy(folder.join("side.so"), &copy).map_err(|error| error.to_string())?;
        let name = format!("NOVA with {threads} threads");
        Ok(Contender {
            threads: Some(threads),
            ..Contender::nova(&name, Side::load(&copy)?)
        })
    };
    counts.iter().map(load).collect()
}
