//! `bench [--quick] [NAMES]`: measures the benchmark programs against C written by hand
//! (docs/benchmarks.md).

use clap::Parser;
use nova_tests::bench::run::{Found, Plan};
use nova_tests::bench::{plot, report};
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
    /// The folder for what is written.
    #[arg(long, short, default_value = "target/bench")]
    output: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let plan = Plan {
        names: arguments.names,
        shrink: if arguments.quick { 16 } else { 1 },
        rounds: arguments.rounds as usize,
    };
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
