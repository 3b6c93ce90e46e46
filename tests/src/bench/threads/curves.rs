//! A map, a reduction and a scan of vectors of 1 to 2²⁷ elements, with threads against sequential
//! NOVA and OpenMP by hand. They show the size from which on threads pay. Data stay in the cache
//! that they fit into.

use super::opponents::Opponent;
use super::programs::{compile, sequential, with_threads};
use super::{Bench, Found};
use crate::bench::limits::Limits;
use crate::bench::measure::{Contender, Measurement, Way, measure};
use crate::bench::run::results;
use crate::bench::workload::Workload;
use crate::bench::workloads::curves;
use crate::random::Random;
use nova_driver::Target;

/// The binary logarithm of the number of elements of the largest vectors.
const LARGEST: u32 = 27;

/// A program, and the function that draws its data.
type Program = (&'static str, fn(&mut Random, usize) -> Workload);

/// The programs.
const PROGRAMS: [Program; 3] = [
    ("map", curves::map),
    ("reduce", curves::reduce),
    ("scan", curves::scan),
];

/// One program on vectors of every size.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The program.
    pub name: String,
    /// True if OpenMP is available, as the third side.
    pub openmp: bool,
    /// The times for each size: sequential NOVA, NOVA with threads, OpenMP.
    pub points: Vec<(usize, Measurement)>,
}

/// The index of sequential NOVA among the sides.
pub const SEQUENTIAL: usize = 0;
/// The index of NOVA with threads.
pub const THREADS: usize = 1;
/// The index of OpenMP by hand.
pub const OPENMP: usize = 2;

impl Curve {
    /// Returns the smallest size from which on a side is faster than sequential NOVA at all sizes.
    pub fn wins_from(&self, side: usize) -> Option<usize> {
        let wins = |point: &&(usize, Measurement)| point.1.ratio(side, SEQUENTIAL).median < 1.0;
        let winning = self.points.iter().rev().take_while(wins);
        winning.map(|(size, _)| *size).last()
    }
}

/// Measures the curves.
pub(super) fn run(bench: &mut Bench<'_>, found: &mut Found) {
    for (name, draw) in PROGRAMS {
        let curve = curve(bench, name, draw);
        let curve = found.keep(name, curve);
        found.curves.extend(curve);
    }
}

fn curve(
    bench: &mut Bench<'_>,
    name: &str,
    draw: fn(&mut Random, usize) -> Workload,
) -> Result<Curve, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let results = results(&draw(&mut Random::new(1), 1));
    let program = compile(name, Target::Pthreads)?;
    let counts = [bench.plan.threads];
    let mut sides = vec![sequential(name, results, folder.path())?];
    sides.extend(with_threads(&program, &counts, results, folder.path())?);
    let openmp = bench.opponents.contains(&Opponent::OpenMp);
    if openmp {
        let [threads] = counts;
        let side = Opponent::OpenMp.side(&program, threads, results, folder.path())?;
        sides.extend(side.map(|side| Contender::opponent("OpenMP", side)));
    }
    // The limits are not needed, so their data are small.
    let way = Way {
        cached: true,
        ..bench.way()
    };
    let mut limits = Limits::new(folder.path(), 1 << 16, &counts, &[way.pages])?;
    let mut points = Vec::new();
    for power in 0..=LARGEST - bench.plan.shrink.ilog2().min(LARGEST) {
        let size = 1usize << power;
        bench.bar.set_message(format!("{name}: {size}"));
        let workload = draw(&mut Random::new(1), size);
        let measurement = measure(name, &sides, &workload, &mut limits, way, &mut || {})?;
        points.push((size, measurement));
    }
    Ok(Curve {
        name: name.to_string(),
        openmp,
        points,
    })
}
