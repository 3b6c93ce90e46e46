//! The command `bench [--quick] [--threads N] [--recursion] [--kernels] [--applications] [--compile] [NAMES]`. It
//! measures the benchmark programs against C written by hand, with one thread or with threads against more
//! opponents, programs on recursive data, kernels that libraries have, applications, or the time of
//! compilation (docs/benchmarks.md).

use clap::Parser;
use nova_tests::bench::applications;
use nova_tests::bench::compile;
use nova_tests::bench::hosted;
use nova_tests::bench::hosted::rows::Collection;
use nova_tests::bench::kernels::KERNELS;
use nova_tests::bench::memory::Pages;
use nova_tests::bench::recursion::RECURSION;
use nova_tests::bench::run::{Found, Plan};
use nova_tests::bench::threads::{self, PARTS, Part};
use nova_tests::bench::{passes, plot, report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Measures the benchmark programs against C written by hand, with one thread, and writes
/// benchmarks.md, benchmarks.json and benchmarks.svg; or with threads against OpenMP, Thrust and
/// OpenBLAS, and writes threads.md and threads.json; or programs on recursive data, and writes
/// recursion.md and recursion.json; or kernels, and writes kernels.md and kernels.json; or applications, and writes applications.md, .json and .svg.
#[derive(Parser)]
struct Arguments {
    /// The programs; all if none is named.
    names: Vec<String>,
    /// A sixteenth of the data, to see that everything works.
    #[arg(long)]
    quick: bool,
    /// How many rounds, in each of which both sides run once: 11 and more, with --recursion 5 and more,
    /// with --compile 1 and more.
    #[arg(long)]
    rounds: Option<u32>,
    /// Instead, what each optional pass is worth: the programs without it against the programs with
    /// all; writes passes.md.
    #[arg(long)]
    passes: bool,
    /// Instead, with so many threads; the processors available if no number is given.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = false)]
    threads: Option<Option<usize>>,
    /// Instead, programs on recursive data: lists, trees and foreach.
    #[arg(long, conflicts_with_all = ["passes", "threads"])]
    recursion: bool,
    /// Instead, kernels that libraries have: sort, gemm and stream, each with one thread and with two. These
    /// names need no option.
    #[arg(long, conflicts_with_all = ["passes", "recursion"])]
    kernels: bool,
    /// Instead, the applications of other collections; with --threads against OpenMP.
    #[arg(long, conflicts_with_all = ["passes", "recursion", "kernels"])]
    applications: bool,
    /// Instead, for all applications and examples the lines of generated C, the time of novac and of cc -O2,
    /// and that of a first run on an OpenCL device; in one round if no number is given.
    #[arg(long, conflicts_with_all = ["passes", "recursion", "kernels", "applications", "threads"])]
    compile: bool,
    /// With --compile, the command that runs programs on the device; else the one beside this command.
    #[arg(long, value_name = "NOVAC", requires = "compile")]
    novac: Option<PathBuf>,
    /// Instead of measuring applications, write their data into this folder, for novac run and novac tune.
    #[arg(long, value_name = "DIR", requires = "applications")]
    write_inputs: Option<PathBuf>,
    /// Of what is measured with threads only this: programs, curves, regions or shapes.
    #[arg(long, value_name = "PART", value_parser = part)]
    part: Vec<Part>,
    /// A folder of sparse matrices in the Matrix Market format, for spmv_csr with threads; else that
    /// which NOVA_MATRICES names.
    #[arg(long, value_name = "DIR")]
    matrices: Option<PathBuf>,
    /// The pages of memory that data lie on, huge or small; both, one after the other, if none is named.
    #[arg(long, value_name = "KIND", value_parser = pages)]
    pages: Vec<Pages>,
    /// The folder for what is written.
    #[arg(long, short, default_value = "target/bench")]
    output: PathBuf,
}

/// Measures the effect of each pass.
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

/// Returns a kind of pages by its name.
fn pages(name: &str) -> Result<Pages, String> {
    let found = Pages::ALL.into_iter().find(|pages| pages.name() == name);
    found.ok_or_else(|| format!("there are {}", Pages::ALL.map(Pages::name).join(", ")))
}

impl Arguments {
    /// Returns the kinds of pages to measure on.
    fn pages(&self) -> Vec<Pages> {
        match self.pages.is_empty() {
            true => Pages::ALL.to_vec(),
            false => self.pages.clone(),
        }
    }

    /// Returns the number of rounds, which is at least `least`, also the default.
    fn rounds(&self, least: u32) -> Result<usize, String> {
        match self.rounds {
            Some(rounds) if rounds < least => Err(format!("--rounds: {rounds} is below {least}")),
            rounds => Ok(rounds.unwrap_or(least) as usize),
        }
    }

    /// True if all names are those of kernels.
    fn names_kernels(&self) -> bool {
        let is_kernel = |name: &String| KERNELS.families.iter().any(|family| family.name == *name);
        !self.names.is_empty() && self.names.iter().all(is_kernel)
    }

    /// Returns the divisor of the sizes of the data.
    fn shrink(&self) -> usize {
        if self.quick { 16 } else { 1 }
    }
}

/// Returns a part by its name.
fn part(name: &str) -> Result<Part, String> {
    let found = PARTS.iter().find(|(_, other)| *other == name);
    found.map(|(part, _)| *part).ok_or_else(|| {
        let names = PARTS.map(|(_, name)| name);
        format!("there are {}", names.join(", "))
    })
}

/// Measures with threads.
fn with_threads(arguments: Arguments, threads: Option<usize>, rounds: usize) -> ExitCode {
    let available = || std::thread::available_parallelism().map_or(1, |n| n.get());
    let all = || PARTS.map(|(part, _)| part).to_vec();
    let (pages, shrink) = (arguments.pages(), arguments.shrink());
    let plan = threads::Plan {
        pages,
        names: arguments.names,
        parts: if arguments.part.is_empty() {
            all()
        } else {
            arguments.part
        },
        shrink,
        rounds,
        threads: threads.unwrap_or_else(available).max(1),
        matrices: arguments
            .matrices
            .or_else(|| std::env::var_os("NOVA_MATRICES").map(PathBuf::from)),
    };
    let outcome = plan.run().and_then(|found| {
        let table = threads::report::markdown(&found);
        print!("{table}");
        say(&found.skipped, &found.failures);
        let json = threads::json::json(&found);
        write_files(
            &arguments.output,
            [("threads.md", table), ("threads.json", json)],
        )?;
        Ok(found.failures.is_empty())
    });
    status(outcome)
}

/// Measures a collection of programs.
fn on_collection(arguments: Arguments, collection: &'static Collection, rounds: usize) -> ExitCode {
    let plan = hosted::Plan {
        collection,
        shrink: arguments.shrink(),
        rounds,
        names: arguments.names,
    };
    let outcome = plan.run().and_then(|found| {
        let table = hosted::report::markdown(collection, &found);
        print!("{table}");
        say(&found.skipped, &found.failures);
        let json = hosted::report::json(&found);
        let [markdown, data] = ["md", "json"].map(|kind| format!("{}.{kind}", collection.name));
        let files = [(markdown.as_str(), table), (data.as_str(), json)];
        write_files(&arguments.output, files)?;
        Ok(found.failures.is_empty())
    });
    status(outcome)
}

/// Measures compilation.
fn on_compilation(arguments: Arguments, rounds: usize) -> ExitCode {
    let plan = compile::Plan {
        shrink: arguments.shrink(),
        rounds,
        names: arguments.names,
        novac: arguments.novac.or_else(compile::built_novac),
    };
    let outcome = plan.run().and_then(|found| {
        let table = compile::report::markdown(&found);
        say(&found.skipped, &found.failures);
        print!("{table}");
        let json = compile::report::json(&found);
        let files = [("compile.md", table), ("compile.json", json)];
        write_files(&arguments.output, files)?;
        Ok(found.failures.is_empty())
    });
    status(outcome)
}

/// Measures the applications.
fn on_applications(arguments: Arguments, rounds: usize) -> ExitCode {
    let available = || std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = arguments.threads;
    let plan = applications::Plan {
        shrink: arguments.shrink(),
        rounds,
        names: arguments.names,
        threads: threads.map(|threads| threads.unwrap_or_else(available).max(1)),
    };
    if let Some(folder) = &arguments.write_inputs {
        return status(applications::inputs::write(&plan, folder).map(|()| true));
    }
    let outcome = plan.run().and_then(|found| {
        let table = applications::report::markdown(&found);
        print!("{table}");
        say(&found.skipped, &found.failures);
        let files = [
            ("applications.md", table),
            ("applications.json", applications::report::json(&found)),
            ("applications.svg", applications::report::svg(&found)),
        ];
        write_files(&arguments.output, files)?;
        Ok(found.failures.is_empty())
    });
    status(outcome)
}

/// Prints the skipped and the failed measurements.
fn say(skipped: &[String], failures: &[String]) {
    for skipped in skipped {
        eprintln!("skipped: {skipped}");
    }
    for failure in failures {
        eprintln!("error: {failure}");
    }
}

/// Writes files into a folder, which is created.
fn write_files<const N: usize>(folder: &Path, files: [(&str, String); N]) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Returns 0 if all went well, 1 if something was wrong, 2 if nothing could be measured or written.
fn status(outcome: Result<bool, String>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let least = match (arguments.recursion, arguments.compile) {
        (_, true) => 1,
        (true, _) => 5,
        _ => 11,
    };
    let rounds = match arguments.rounds(least) {
        Ok(rounds) => rounds,
        Err(why) => return status(Err(why)),
    };
    if arguments.compile {
        return on_compilation(arguments, rounds);
    }
    if arguments.applications {
        return on_applications(arguments, rounds);
    }
    if arguments.recursion {
        return on_collection(arguments, &RECURSION, rounds);
    }
    if arguments.kernels || arguments.names_kernels() {
        if arguments
            .threads
            .flatten()
            .is_some_and(|threads| threads != 2)
        {
            let why = "--threads: kernels are measured with one thread and with two";
            return status(Err(why.to_string()));
        }
        return on_collection(arguments, &KERNELS, rounds);
    }
    if let Some(threads) = arguments.threads {
        return with_threads(arguments, threads, rounds);
    }
    let plan = Plan {
        pages: arguments.pages(),
        shrink: arguments.shrink(),
        rounds,
        names: arguments.names,
    };
    if arguments.passes {
        return report_passes(&plan, &arguments.output);
    }
    let outcome = plan.run().and_then(|found| {
        write(&found, &arguments.output)?;
        Ok(found.failures.is_empty())
    });
    status(outcome)
}

/// Prints the table and the failures, and writes the files.
fn write(found: &Found, folder: &Path) -> Result<(), String> {
    let measurements = &found.measurements;
    let table = report::markdown(measurements);
    print!("{table}");
    say(&found.skipped, &found.failures);
    let files = [
        ("benchmarks.md", table),
        ("benchmarks.json", report::json(measurements)),
        ("benchmarks.svg", plot::svg(measurements)),
    ];
    write_files(folder, files)
}
