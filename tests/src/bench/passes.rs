//! The effect of each pass: the programs compiled without one of them against the programs compiled
//! with all.

use super::build::{self, Program, Side};
use super::limits::Limits;
use super::measure::{Contender, Quartiles, Way, measure};
use super::report::machine;
use super::run::{Plan, bar, first_given, results};
use super::workload::Workload;
use crate::random::Random;
use nova_driver::Options;
use nova_driver::pipeline::optional_passes;
use std::fmt::Write as _;
use std::path::Path;

/// The change of the time of a program when a pass is left out.
#[derive(Clone, Debug)]
pub struct Worth {
    /// The program and the size of its data.
    pub name: String,
    /// The time of each variant over that with all passes. It is `None` where the C is the same.
    pub factors: Vec<Option<Quartiles>>,
}

/// Returns the variants: no optional pass at all, and each off.
fn variants() -> Vec<(String, Options)> {
    let none = Options {
        optimization: 0,
        ..Options::default()
    };
    let without = optional_passes().into_iter().map(|pass| {
        let options = Options {
            disabled: [pass.name.to_string()].into(),
            ..Options::default()
        };
        (pass.name.to_string(), options)
    });
    std::iter::once(("-O0".to_string(), none))
        .chain(without)
        .collect()
}

/// Measures all variants of the plan's programs, on the first size of each.
pub fn run(plan: &Plan) -> Result<Vec<Worth>, String> {
    let mut programs = plan.programs()?;
    // Programs with an opponent from a library repeat other programs.
    programs.retain(|program| program.library.is_none());
    let variants = variants();
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let pages = first_given(&plan.pages);
    let mut limits = Limits::new(folder.path(), 16 << 20, &[1], &[pages])?;
    let way = Way::sequential(plan.rounds, pages);
    let bar = bar(programs.len() * variants.len())?;
    let mut found = Vec::new();
    for program in programs {
        let size = program.sizes.first().copied().unwrap_or(1);
        let workload = (program.draw)(&mut Random::new(1), size / plan.shrink.max(1));
        let all = build::compile(program.name, Options::default())?;
        let mut factors = Vec::new();
        for (name, options) in &variants {
            bar.set_message(format!("{} without {name}", program.name));
            let other = build::compile(program.name, options.clone())?;
            factors.push(match other.source == all.source {
                true => None,
                false => Some(factor(&all, &other, &workload, &mut limits, way)?),
            });
            bar.inc(1);
        }
        found.push(Worth {
            name: format!("{}, {}", program.name, workload.size),
            factors,
        });
    }
    bar.finish_and_clear();
    Ok(found)
}

/// Returns the time of another version of a program over the time of this one.
fn factor(
    all: &Program,
    other: &Program,
    workload: &Workload,
    limits: &mut Limits,
    way: Way,
) -> Result<Quartiles, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let side = |program: &Program, name: &str| {
        let folder: &Path = &folder.path().join(name);
        std::fs::create_dir(folder).map_err(|error| error.to_string())?;
        Side::nova(program, results(workload), folder)
    };
    let sides = [
        Contender::nova("all passes", side(all, "all")?),
        Contender::nova("the variant", side(other, "other")?),
    ];
    let measurement = measure(&all.name, &sides, workload, limits, way, &mut || {})?;
    Ok(measurement.ratio(1, 0))
}

/// Returns the table: a row for each program, a column for each variant.
pub fn markdown(found: &[Worth]) -> String {
    let names: Vec<String> = variants().into_iter().map(|(name, _)| name).collect();
    let mut text = format!(
        "{}\n\nThe time without a pass over the time with all; – where the C is the same.\n\n",
        machine("one thread")
    );
    let rule = names.iter().map(|_| " --- |").collect::<String>();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "| program | {} |\n| --- |{rule}", names.join(" | "));
    for worth in found {
        let cells = worth.factors.iter().map(|factor| match factor {
            Some(factor) => format!(" {:.2} |", factor.median),
            None => " – |".to_string(),
        });
        let _ = writeln!(text, "| {} |{}", worth.name, cells.collect::<String>());
    }
    text
}
