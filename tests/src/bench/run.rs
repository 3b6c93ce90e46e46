//! The benchmark command's work: which programs, what is built, what is shown meanwhile.

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

/// The limits are measured on no less than this part of their data, so that they are of memory.
const LEAST_SHARE: usize = 4;

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The names of the programs; none means all.
    pub names: Vec<String>,
    /// What the sizes of the data are divided by.
    pub shrink: usize,
    /// How many rounds.
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

/// What was found: measurements, and what failed, with its reason.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// What was measured.
    pub measurements: Vec<Measurement>,
    /// What was not, and why.
    pub failures: Vec<String>,
    /// What this machine lacks something for, and what.
    pub skipped: Vec<String>,
}

impl Plan {
    /// The programs that are meant.
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

    /// Measures everything.
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

/// The kinds of pages that this machine gives; the others are noted.
pub fn given(pages: &[Pages], skipped: &mut Vec<String>) -> Vec<Pages> {
    let (given, missing): (Vec<Pages>, Vec<Pages>) =
        pages.iter().partition(|pages| pages.are_given());
    let note = |pages: Pages| format!("{} pages: this machine gives none", pages.name());
    skipped.extend(missing.into_iter().map(note));
    given
}

/// The first kind of pages that this machine gives.
pub fn first_given(pages: &[Pages]) -> Pages {
    let given = pages.iter().find(|pages| pages.are_given());
    given.copied().unwrap_or(Pages::Small)
}

/// NOVA, and the C written by hand in each order of access that makes a difference.
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

/// A bar that shows the progress of this many steps.
pub fn bar(steps: usize) -> Result<ProgressBar, String> {
    let style = "{elapsed_precise} [{bar:30}] {pos}/{len} {msg}";
    // The template is a constant of ours.
    let style = ProgressStyle::with_template(style).map_err(|error| error.to_string())?;
    Ok(ProgressBar::new(steps as u64).with_style(style))
}

/// How many parameters the result of a workload has.
pub fn results(workload: &Workload) -> usize {
    match &workload.result {
        Shape::Value(_) => 1,
        Shape::Elements(extents, _) => extents.len() + 1,
    }
}
