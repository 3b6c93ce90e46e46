//! Measurements by hosts written by hand. Each program of a collection is linked with a host in C, which
//! runs NOVA and its opponents in turn in one process, checks every result, and prints its times and figures.
//!
//! [`rows`] says what a row of a collection is: what is measured and what is wanted. [`build`] compiles the programs.
//! [`lines`] reads the output of a process. [`figures`] makes figures of the times. [`report`]
//! writes the results.

pub mod build;
pub mod figures;
pub mod lines;
pub mod report;
pub mod rows;

use super::run::bar;
use figures::Figure;
use lines::Output;
use rows::{Collection, Family, Group};
use std::path::Path;
use std::process::Command;

/// The status of a host that lacks a library, which it names on standard error.
const MISSING: i32 = 77;

/// The plan of the measurements.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is measured.
    pub collection: &'static Collection,
    /// The names of the families. Without names, all are run.
    pub names: Vec<String>,
    /// The divisor of the sizes of the data.
    pub shrink: usize,
    /// The number of rounds. In each of them every side runs once.
    pub rounds: usize,
}

/// One process of a family: its data and what it printed.
#[derive(Clone, Debug)]
pub struct Run {
    /// The name of the family.
    pub family: &'static str,
    /// The kind of data.
    pub kind: &'static str,
    /// The number of nodes or elements.
    pub size: usize,
    /// The times and values.
    pub output: Output,
}

/// The results.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The processes.
    pub runs: Vec<Run>,
    /// The figures.
    pub figures: Vec<Figure>,
    /// What failed, with the reasons.
    pub failures: Vec<String>,
    /// What this machine cannot run, with what it lacks.
    pub skipped: Vec<String>,
    /// The load of the machine before and after.
    pub load: [String; 2],
}

impl Plan {
    /// Returns the families of the plan.
    pub fn families(&self) -> Result<Vec<&'static Family>, String> {
        let Collection { what, families, .. } = self.collection;
        let known = |name: &String| families.iter().any(|family| family.name == *name);
        if let Some(name) = self.names.iter().find(|name| !known(name)) {
            let names: Vec<&str> = families.iter().map(|family| family.name).collect();
            return Err(format!(
                "no benchmark {name} {what}; there are {}",
                names.join(", ")
            ));
        }
        let wanted = |family: &&Family| {
            self.names.is_empty() || self.names.iter().any(|name| name == family.name)
        };
        Ok(families.iter().filter(wanted).collect())
    }

    /// Runs all measurements.
    pub fn run(&self) -> Result<Found, String> {
        let families = self.families()?;
        let bar = bar(families.iter().map(|family| family.runs()).sum())?;
        let mut found = Found::default();
        found.load[0] = load();
        for family in families {
            bar.set_message(format!("{}: compiling", family.name));
            let outcome = self.measure(family, &mut found, &mut |text| {
                bar.set_message(format!("{}: {text}", family.name));
                bar.inc(1);
            });
            if let Err(why) = outcome {
                found.failures.push(format!("{}: {why}", family.name));
            }
        }
        found.load[1] = load();
        bar.finish_and_clear();
        Ok(found)
    }

    /// Builds a family and runs all of its groups.
    fn measure(
        &self,
        family: &'static Family,
        found: &mut Found,
        tick: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        build::build(self.collection, family, folder.path())?;
        for group in family.groups {
            for kind in group.kinds {
                let mut runs = Vec::new();
                for &size in group.sizes {
                    tick(&format!("{size}, {kind}"));
                    match self.start(family, group, kind, size, folder.path()) {
                        Ok(Ok(run)) => runs.push(run),
                        Ok(Err(missing)) => {
                            found.skipped.push(format!("{}: {missing}", family.name));
                        }
                        Err(why) => found.failures.push(format!("{}: {why}", family.name)),
                    }
                }
                let (figures, failures) = figures::of(group.wanted, &runs);
                found.figures.extend(figures);
                found.failures.extend(failures);
                found.runs.extend(runs);
            }
        }
        Ok(())
    }

    /// Runs a family on data of one kind and size, in a process of its own. The inner error says what this
    /// machine lacks.
    fn start(
        &self,
        family: &'static Family,
        group: &Group,
        kind: &'static str,
        size: usize,
        folder: &Path,
    ) -> Result<Result<Run, String>, String> {
        let shrink = self.shrink.max(1);
        let size = (size / shrink).max(self.collection.least_size);
        let least_rounds = group.least_rounds / shrink;
        let rounds = if group.is_timed {
            self.rounds.max(least_rounds)
        } else {
            1
        };
        let program = folder.join(family.name);
        let result = Command::new(&program)
            .args([&size.to_string(), kind, &rounds.to_string()])
            .env("NOVA_NUM_THREADS", "2")
            .output()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let why = String::from_utf8_lossy(&result.stderr);
        if result.status.code() == Some(MISSING) {
            return Ok(Err(why.trim().to_string()));
        }
        if !result.status.success() {
            return Err(format!("{size} {kind}: {}: {}", result.status, why.trim()));
        }
        let output = lines::read(&String::from_utf8_lossy(&result.stdout))?;
        Ok(Ok(Run {
            family: family.name,
            kind,
            size: output.size.unwrap_or(size),
            output,
        }))
    }
}

/// Returns the load of the machine over the last minute.
pub fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("?").to_string()
}
