//! The benchmark command's work: which programs, what is built, what is shown meanwhile.

use super::build::{self, Peer, Side};
use super::limits::Limits;
use super::measure::{Contender, Measurement, Way, measure};
use super::workload::{Shape, Workload};
use super::workloads::{PROGRAMS, Program};
use crate::random::Random;
use indicatif::{ProgressBar, ProgressStyle};
use nova_driver::Options;

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
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            names: Vec::new(),
            shrink: 1,
            rounds: 11,
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
        let mut limits = Limits::new(folder.path(), bytes, &[1])?;
        let count: usize = programs.iter().map(|program| program.sizes.len()).sum();
        let bar = bar(count * self.rounds)?;
        let mut found = Found::default();
        for program in programs {
            if let Some(missing) = program.missing() {
                found.skipped.push(format!("{}: {missing}", program.name));
                continue;
            }
            if let Err(why) = self.measure(program, &mut limits, &bar, &mut found) {
                found.failures.push(format!("{}: {why}", program.name));
            }
        }
        bar.finish_and_clear();
        Ok(found)
    }

    fn measure(
        &self,
        program: &Program,
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
            let results = results(&workload);
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            let [nova, peer] = ["nova", "peer"].map(|name| folder.path().join(name));
            for part in [&nova, &peer] {
                std::fs::create_dir(part).map_err(|error| error.to_string())?;
            }
            let by_hand = Peer::c(program.peer);
            let sides = [
                Contender::nova("NOVA", Side::nova(&compiled, results, &nova)?),
                Contender::opponent("C", Side::peer(&compiled, &by_hand, results, &peer)?),
            ];
            bar.set_message(format!("{name}: {}", workload.size));
            let mut tick = || bar.inc(1);
            let way = Way::sequential(self.rounds);
            let measurement = measure(name, &sides, &workload, limits, way, &mut tick)?;
            found.measurements.push(measurement);
        }
        Ok(())
    }
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
