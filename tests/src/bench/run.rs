//! The work of the benchmark command: the choice of programs, the builds, and the progress shown.

use super::build::{self, ORDERS, Peer, Side};
use super::limits::Limits;
use super::measure::{Contender, Measurement, Way, measure};
use super::memory::Pages;
use super::workload::{Shape, Workload};
use super::workloads::{PROGRAMS, Program};
use crate::random::Random;
use indicatif::{ProgressBar, ProgressStyle};
use nova_driver::Options;
use std::path::Path;

/// The limits are measured on data no smaller than this part of their full size, so that they are
/// limits of memory.
const LEAST_SHARE: usize = 4;

/// The plan of the measurements.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The names of the programs. Without names, all are run.
    pub names: Vec<String>,
    /// The divisor of the sizes of the data.
    pub shrink: usize,
    /// The number of rounds.
    pub rounds: usize,
    /// The pages that data lie on, one kind after the other.
    pub pages: Vec<Pages>,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            names: Vec::new(),
            shrink: 1,
            rounds: 11,
            pages: Pages::ALL.to_vec(),
        }
    }
}

/// The results: measurements, and failures with their reasons.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The measurements.
    pub measurements: Vec<Measurement>,
    /// The measurements that failed, with the reasons.
    pub failures: Vec<String>,
    /// The measurements that this machine cannot run, with what it lacks.
    pub skipped: Vec<String>,
}

impl Plan {
    /// Returns the programs of the plan.
    pub fn programs(&self) -> Result<Vec<&'static Program>, String> {
        let known = |name: &String| PROGRAMS.iter().any(|program| program.name == *name);
        if let Some(name) = self.names.iter().find(|name| !known(name)) {
            let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
            return Err(format!(
                "no benchmark {name}; there are {}",
                names.join(", ")
            ));
        }
        let wanted = |program: &&Program| {
            self.names.is_empty() || self.names.iter().any(|name| name == program.name)
        };
        Ok(PROGRAMS.iter().filter(wanted).collect())
    }

    /// Runs all measurements.
    pub fn run(&self) -> Result<Found, String> {
        let programs = self.programs()?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let bytes = (256 << 20) / self.shrink.clamp(1, LEAST_SHARE);
        let mut found = Found::default();
        let pages = given(&self.pages, &mut found.skipped);
        let mut limits = Limits::new(folder.path(), bytes, &[1], &pages)?;
        let count: usize = programs.iter().map(|program| program.sizes.len()).sum();
        let bar = bar(count * pages.len() * self.rounds)?;
        for program in programs {
            if let Some(missing) = program.missing() {
                found.skipped.push(format!("{}: {missing}", program.name));
                continue;
            }
            if let Err(why) = self.measure(program, &pages, &mut limits, &bar, &mut found) {
                found.failures.push(format!("{}: {why}", program.name));
            }
        }
        bar.finish_and_clear();
        Ok(found)
    }

    fn measure(
        &self,
        program: &Program,
        pages: &[Pages],
        limits: &mut Limits,
        bar: &ProgressBar,
        found: &mut Found,
    ) -> Result<(), String> {
        let name = program.name;
        bar.set_message(format!("{name}: compiling"));
        let compiled = build::compile(name, Options::default())?;
        for &size in program.sizes {
            bar.set_message(format!("{name}: data"));
            let workload = (program.draw)(&mut Random::new(1), size / self.shrink.max(1));
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            let sides = sides(program, &compiled, &workload, folder.path())?;
            for &pages in pages {
                bar.set_message(format!("{name}: {}, {} pages", workload.size, pages.name()));
                let mut tick = || bar.inc(1);
                let way = Way::sequential(self.rounds, pages);
                let measurement = measure(name, &sides, &workload, limits, way, &mut tick)?;
                found.measurements.push(measurement);
            }
        }
        Ok(())
    }
}

/// Returns the kinds of pages that this machine has. The others are noted in `skipped`.
pub fn given(pages: &[Pages], skipped: &mut Vec<String>) -> Vec<Pages> {
    let (given, missing): (Vec<Pages>, Vec<Pages>) =
        pages.iter().partition(|pages| pages.are_given());
    let note = |pages: Pages| format!("{} pages: this machine gives none", pages.name());
    skipped.extend(missing.into_iter().map(note));
    given
}

/// Returns the first kind of pages that this machine has.
pub fn first_given(pages: &[Pages]) -> Pages {
    let given = pages.iter().find(|pages| pages.are_given());
    given.copied().unwrap_or(Pages::Small)
}

/// Returns NOVA, and the C written by hand in each order of access that makes a difference.
fn sides(
    program: &Program,
    compiled: &build::Program,
    workload: &Workload,
    folder: &Path,
) -> Result<Vec<Contender>, String> {
    let results = results(workload);
    let folder_of = |name: &str| {
        let folder = folder.join(name);
        let made = std::fs::create_dir(&folder);
        made.map(|()| folder).map_err(|error| error.to_string())
    };
    let nova = Side::nova(compiled, results, &folder_of("nova")?)?;
    let mut sides = vec![Contender::nova("NOVA", nova)];
    let mut objects = Vec::new();
    for (order, define) in ORDERS {
        let name = format!("C{order}");
        let folder = folder_of(&name)?;
        let side = Side::peer(compiled, &Peer::c(program.peer, define), results, &folder)?;
        let object = std::fs::read(folder.join("peer.o")).map_err(|error| error.to_string())?;
        if !objects.contains(&object) {
            objects.push(object);
            sides.push(Contender::opponent(&name, side));
        }
    }
    Ok(sides)
}

/// Returns a bar that shows the progress of this many steps.
pub fn bar(steps: usize) -> Result<ProgressBar, String> {
    let style = "{elapsed_precise} [{bar:30}] {pos}/{len} {msg}";
    // The template is a constant.
    let style = ProgressStyle::with_template(style).map_err(|error| error.to_string())?;
    Ok(ProgressBar::new(steps as u64).with_style(style))
}

/// Returns the number of parameters of the result of a workload.
pub fn results(workload: &Workload) -> usize {
    match &workload.result {
        Shape::Value(_) => 1,
        Shape::Elements(extents, _) => extents.len() + 1,
    }
}
