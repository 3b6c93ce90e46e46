//! `bench [--quick] [NAMES]`: measures the benchmark programs against C written by hand
//! (docs/benchmarks.md).

use clap::Parser;
use nova_tests::bench::run::{Found, Plan};
use nova_tests::bench::{passes, plot, report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Measures the benchmark programs against C written by hand, with one thread, and writes
/// benchmarks.md, benchmarks.json and benchmarks.svg.
#[derive(Parser)]
struct Arguments {
    /// The programs; all if none is named.
    names: Vec<String>,
    /// A sixteenth of the data, to see that everything works.
    #[arg(long)]
    quick: bool,
    /// How many rounds, in each of which both sides run once.
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(11..))]
    rounds: u32,
    /// Instead, what each optional pass is worth: the programs without it against the programs with
    /// all; writes passes.md.
    #[arg(long)]
    passes: bool,
    /// The folder for what is written.
    #[arg(long, short, default_value = "target/bench")]
    output: PathBuf,
}

/// Measures what each pass is worth.
fn report_passes(plan: &Plan, folder: &Path) -> ExitCode {
    let written = passes::run(plan).and_then(|found| {
        let text = passes::markdown(&found);
        print!("{text}");
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        std::fs::write(folder.join("passes.md"), text).map_err(|error| error.to_string())
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(1)
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let plan = Plan {
        names: arguments.names,
        shrink: if arguments.quick { 16 } else { 1 },
        rounds: arguments.rounds as usize,
    };
    if arguments.passes {
        return report_passes(&plan, &arguments.output);
    }
    let outcome = plan.run().and_then(|found| {
        write(&found, &arguments.output)?;
        Ok(found)
    });
    match outcome {
        Ok(found) if found.failures.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Prints the table and what failed; writes the files.
fn write(found: &Found, folder: &Path) -> Result<(), String> {
    let measurements = &found.measurements;
    let table = report::markdown(measurements);
    print!("{table}");
    for skipped in &found.skipped {
        eprintln!("skipped: {skipped}");
    }
    for failure in &found.failures {
        eprintln!("error: {failure}");
    }
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (name, text) in [
        ("benchmarks.md", table),
        ("benchmarks.json", report::json(measurements)),
        ("benchmarks.svg", plot::svg(measurements)),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
