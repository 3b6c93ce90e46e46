//! Comparison of programs of work-groups ([`crate::random::groups`]) on a device, or an emulation of one,
//! with the reference interpreter and that of Loop, many in a file.

use crate::random::{Program, groups};
use crate::stages::{How, Loaded, Outcome, Passes, Stages, disagreement};
use nova_diag::Severity;
use nova_driver::{Compiler, Failure, Source};
use nova_loop::ir::{Command, Level};
use nova_loop::walk::each_command;
use std::collections::BTreeMap;

/// Number of programs that share a file.
pub const BATCH: u64 = 24;

/// The results of comparing programs.
#[derive(Debug, Default)]
pub struct Compared {
    /// The number of programs.
    pub programs: u64,
    /// The number of their calls.
    pub runs: u64,
    /// Programs whose loop over work-groups is a kernel.
    pub kernels: u64,
    /// Loops shared by the threads of a group.
    pub shared: u64,
    /// Barriers.
    pub barriers: u64,
    /// Arrays that have one of several places.
    pub spares: u64,
    /// The number of times that each form was drawn.
    pub used: BTreeMap<String, u64>,
    /// The reasons why programs run on one thread, from the compiler that refuses them.
    pub reasons: BTreeMap<String, u64>,
    /// Programs that the device's own compiler did not finish.
    pub endless: Vec<String>,
    /// The disagreements.
    pub disagreements: Vec<String>,
}

impl Compared {
    /// Returns the counters, with their names.
    pub fn numbers(&self) -> [(&'static str, u64); 6] {
        [
            ("programs", self.programs),
            ("runs", self.runs),
            ("kernels", self.kernels),
            ("loops shared by threads", self.shared),
            ("barriers", self.barriers),
            ("arrays with several places", self.spares),
        ]
    }

    /// Adds to the counter of this name.
    pub fn count(&mut self, name: &str, number: u64) {
        match name {
            "programs" => self.programs += number,
            "runs" => self.runs += number,
            "kernels" => self.kernels += number,
            "loops shared by threads" => self.shared += number,
            "barriers" => self.barriers += number,
            "arrays with several places" => self.spares += number,
            _unknown => {}
        }
    }

    /// Counts the loops, barriers and arrays of a compiled program.
    fn look_at(&mut self, program: &Program, stages: &Stages, entry: usize, passes: Passes) {
        self.programs += 1;
        for (name, times) in &program.used {
            *self.used.entry((*name).to_string()).or_default() += *times as u64;
        }
        let mut is_kernel = false;
        let loops = &stages.imperative;
        let function = loops.entries[entry].function.index();
        each_command(&loops.functions[function].body, |command| match command {
            Command::For { level, .. } => {
                is_kernel |= *level == Level::Block;
                self.shared += u64::from(*level == Level::Thread);
            }
            Command::Barrier(_) => self.barriers += 1,
            Command::Spare { .. } => self.spares += 1,
            _others => {}
        });
        match is_kernel {
            true => self.kernels += 1,
            false => *self.reasons.entry(reason(program, passes)).or_default() += 1,
        }
    }
}

/// Returns the reason why a program whose strategies are not honoured is refused.
fn reason(program: &Program, passes: Passes) -> String {
    let compiler = Compiler::new(passes.options());
    let refused = |compiler: &Compiler| {
        let name = format!("{}.nova", program.name);
        match compiler.check(Source::text(&name, &program.entry)) {
            Ok(_) => None,
            Err(Failure::Program(report)) => {
                let mut all = report.diagnostics.into_iter();
                let first = all.find(|d| d.severity == Severity::Error);
                first.map(|d| format!("{}: {}", d.message, d.primary.text))
            }
            Err(other) => Some(other.to_string()),
        }
    };
    let nothing = || "nothing is refused: no array of a group is left".to_string();
    refused(&compiler).unwrap_or_else(nothing)
}

/// Compares the programs of seeds, which share a file. Calls `say` with each seed before its program runs. An
/// error means that the file was refused.
pub fn compare(
    seeds: &[u64],
    passes: Passes,
    say: &mut dyn FnMut(u64),
) -> Result<Compared, String> {
    let programs: Vec<(u64, Program)> = seeds.iter().map(|s| (*s, groups::program(*s))).collect();
    let mut found = Compared::default();
    let Some((_, first)) = programs.first() else {
        return Ok(found);
    };
    let entries: Vec<&str> = programs.iter().map(|(_, p)| p.entry.as_str()).collect();
    let how = How::strict(passes);
    let stages = Stages::compile(&first.name, &entries.concat(), how)?;
    let loaded = Loaded::new(&first.name, &stages, 0)?;
    for (entry, (seed, program)) in programs.iter().enumerate() {
        found.look_at(program, &stages, entry, passes);
        say(*seed);
        for texts in &program.inputs {
            found.runs += 1;
            if let Some(text) = difference(&stages, &loaded, entry, texts) {
                let text = format!("{} ({}): {text}", program.name, passes.name());
                found.disagreements.push(text);
                break;
            }
        }
    }
    Ok(found)
}

/// Returns the difference of a program from the reference interpreter, if it gives another value or
/// none.
fn difference(stages: &Stages, loaded: &Loaded, entry: usize, texts: &[String]) -> Option<String> {
    let inputs = crate::inputs::read(&stages.core, entry, texts);
    let mut outcomes = stages.evaluate(entry, &inputs);
    outcomes.push((loaded.stage(), loaded.call(entry, &inputs)));
    let failed = outcomes.iter().find_map(|(stage, outcome)| match outcome {
        Outcome::Value(_) => None,
        Outcome::Error(_) | Outcome::Internal(_) => Some(format!("{stage}: {outcome}")),
    });
    disagreement(&outcomes).or(failed)
}
