//! Comparison of programs of work-groups ([`crate::random::groups`]) on a device, or an emulation of one,
//! with the reference interpreter and that of Loop, many in a file.

use crate::random::{Program, groups};
use crate::stages::{How, Loaded, Outcome, Passes, SMALL_TILES, Stages, disagreement};
use nova_loop::ir::{Command, Level};
use nova_loop::walk::each_command;
use std::collections::BTreeMap;
use std::ops::Range;

/// How many programs share a file.
pub const BATCH: u64 = 24;

/// What comparing programs came to.
#[derive(Debug, Default)]
pub struct Compared {
    /// Programs.
    pub programs: u64,
    /// Calls of these.
    pub runs: u64,
    /// Loops over work-groups that are kernels.
    pub groups: u64,
    /// Loops that threads of a group share.
    pub shared: u64,
    /// Barriers.
    pub barriers: u64,
    /// Arrays that have one of several places.
    pub spares: u64,
    /// What was drawn.
    pub used: BTreeMap<&'static str, usize>,
    /// Where something differs.
    pub disagreements: Vec<String>,
}

impl Compared {
    /// Adds what was found elsewhere.
    pub fn add(&mut self, other: Compared) {
        self.programs += other.programs;
        self.runs += other.runs;
        self.groups += other.groups;
        self.shared += other.shared;
        self.barriers += other.barriers;
        self.spares += other.spares;
        for (name, times) in other.used {
            *self.used.entry(name).or_default() += times;
        }
        self.disagreements.extend(other.disagreements);
    }

    fn count(&mut self, stages: &Stages) {
        for function in &stages.imperative.functions {
            each_command(&function.body, |command| match command {
                Command::For { level, .. } => {
                    self.groups += u64::from(*level == Level::Block);
                    self.shared += u64::from(*level == Level::Thread);
                }
                Command::Barrier(_) => self.barriers += 1,
                Command::Spare { .. } => self.spares += 1,
                _others => {}
            });
        }
    }
}

/// Compares the programs of seeds; where their file is refused, one by one.
pub fn compare(seeds: Range<u64>, passes: Passes) -> Compared {
    let programs: Vec<Program> = seeds.map(groups::program).collect();
    let mut found = Compared::default();
    if let Err(why) = batch(&programs, passes, &mut found) {
        let before = found.disagreements.len();
        for program in &programs {
            if let Err(one) = batch(std::slice::from_ref(program), passes, &mut found) {
                let text = format!("{} ({}): {one}", program.name, passes.name());
                found.disagreements.push(text);
            }
        }
        if found.disagreements.len() == before {
            let text = format!("only together, from {}: {why}", programs[0].name);
            found.disagreements.push(text);
        }
    }
    found
}

/// Runs programs that share a file; an error says that the file was refused.
fn batch(programs: &[Program], passes: Passes, found: &mut Compared) -> Result<(), String> {
    let name = &programs[0].name;
    let entries: Vec<&str> = programs.iter().map(|p| p.entry.as_str()).collect();
    let how = How {
        strict: true,
        passes,
        verify: true,
        defect: None,
        tiles: SMALL_TILES,
    };
    let stages = Stages::compile(name, &entries.concat(), how)?;
    let loaded = Loaded::new(name, &stages, 0)?;
    found.count(&stages);
    for (entry, program) in programs.iter().enumerate() {
        found.programs += 1;
        for (name, times) in &program.used {
            *found.used.entry(name).or_default() += times;
        }
        for texts in &program.inputs {
            let inputs = crate::inputs::read(&stages.core, entry, texts);
            let mut outcomes = stages.evaluate(entry, &inputs);
            outcomes.push((loaded.stage(), loaded.call(entry, &inputs)));
            found.runs += 1;
            let failed = outcomes.iter().find_map(|(stage, outcome)| match outcome {
                Outcome::Value(_) => None,
                Outcome::Error(_) | Outcome::Internal(_) => Some(format!("{stage}: {outcome}")),
            });
            if let Some(text) = disagreement(&outcomes).or(failed) {
                let text = format!("{} ({}): {text}", program.name, passes.name());
                found.disagreements.push(text);
                break;
            }
        }
    }
    Ok(())
}
