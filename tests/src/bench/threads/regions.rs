//! The cost of an empty parallel region, and the time saved by running two halves of some work in
//! parallel. NOVA's pool runs against OpenMP's, in a process of their own
//! (`runtime-c/tests/pool_benchmark.c`). It runs alone and together with a process that keeps one
//! processor busy.

use super::{Bench, Found};
use crate::bench::build::gcc;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// One line of the output of the process: what was measured, and its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// True if another process kept a processor busy.
    pub busy: bool,
    /// `pool`, `OpenMP`, or `work` for both pools on two halves of some work.
    pub what: String,
    /// The pause before each region, in microseconds. It is 0 where regions follow each other at
    /// once.
    pub pause: f64,
    /// The numbers, as the process names them.
    pub numbers: Vec<(String, f64)>,
}

impl Region {
    /// Returns a number by its name.
    pub fn number(&self, name: &str) -> Option<f64> {
        let found = self.numbers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| *value)
    }
}

/// A process that ends when this is dropped.
struct Busy(Child);

impl Drop for Busy {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures empty regions.
pub(super) fn run(bench: &mut Bench<'_>, found: &mut Found) {
    bench.bar.set_message("empty regions");
    let folder = tempfile::tempdir().map_err(|error| error.to_string());
    let outcome = folder.and_then(|folder| {
        let program = build(folder.path())?;
        let mut regions = measure(&program, bench, false)?;
        let _busy = busy(&program)?;
        regions.extend(measure(&program, bench, true)?);
        Ok(regions)
    });
    if let Some(regions) = found.keep("empty regions", outcome) {
        found.regions.extend(regions);
    }
}

fn build(folder: &Path) -> Result<PathBuf, String> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime-c/tests");
    let source = std::fs::canonicalize(tests.join("pool_benchmark.c"))
        .map_err(|error| format!("pool_benchmark.c: {error}"))?;
    let flags = ["-std=c11", "-O2", "-fopenmp", "-pthread", "-w"];
    gcc(folder, &[&flags], &[&source], "pool_benchmark")?;
    Ok(folder.join("pool_benchmark"))
}

/// Keeps a processor busy.
fn busy(program: &Path) -> Result<Busy, String> {
    let child = Command::new(program).arg("busy").spawn();
    child.map(Busy).map_err(|error| error.to_string())
}

fn measure(program: &Path, bench: &Bench<'_>, busy: bool) -> Result<Vec<Region>, String> {
    let output = Command::new(program)
        .arg(bench.plan.threads.to_string())
        .arg(bench.plan.shrink.to_string())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("pool_benchmark: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(|line| read(line, busy).ok_or_else(|| format!("not understood: {line}")))
        .collect()
}

/// Parses a line: the kind, the pause, then names and numbers, separated by blanks.
fn read(line: &str, busy: bool) -> Option<Region> {
    let mut words = line.split_whitespace();
    let what = words.next()?.to_string();
    let words: Vec<&str> = words.collect();
    let number = |pair: &[&str]| match pair {
        [name, value] => Some((name.to_string(), value.parse().ok()?)),
        _ => None,
    };
    let mut numbers: Vec<(String, f64)> = words.chunks(2).map(number).collect::<Option<_>>()?;
    let first = (!numbers.is_empty()).then(|| numbers.remove(0));
    let (_, pause) = first.filter(|(name, _)| name == "pause")?;
    Some(Region {
        busy,
        what,
        pause,
        numbers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_names_and_numbers() {
        let region = read("OpenMP  pause 1000  median 350  max 9000", true).expect("a line");
        assert_eq!((region.what.as_str(), region.pause), ("OpenMP", 1000.0));
        assert_eq!(region.number("median"), Some(350.0));
        assert_eq!(region.number("mean"), None);
        assert_eq!(read("OpenMP pause", true), None);
        assert_eq!(read("OpenMP median 3", true), None);
    }
}
