//! The time of a compilation: the milliseconds of novac and those of gcc on the C that novac
//! writes, both at -O2. It is measured for the benchmarks and for programs of growing size, with
//! the exponent at which each grows.

use crate::Setting;
use crate::texts::{conditionals, operations as operations_text};
use nova_tests::random::{self, PRELUDE};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The sizes of the growing programs, in nodes of the expressions.
const SIZES: [usize; 5] = [1_000, 3_000, 10_000, 30_000, 100_000];

/// Nodes of a statement of [`conditionals`]: a conditional, a comparison, two operations and their
/// operands.
const NODES_OF_A_STATEMENT: usize = 10;

/// Nodes of a statement of [`operations_text`]: an operation, its operator, which is mostly a
/// lambda with two operations, and its operands.
const NODES_OF_AN_OPERATION: usize = 8;

/// Number of runs of a short compilation, of which the fastest counts, and its limit in
/// milliseconds.
const RUNS: usize = 5;
const SHORT: f64 = 1_000.0;

/// The milliseconds of each of the two compilers.
#[derive(Clone, Copy)]
struct Times {
    novac: f64,
    gcc: f64,
}

/// Measures the benchmark programs of the repository.
pub fn benchmarks(setting: &Setting) {
    println!("| benchmark | novac ms | gcc ms |");
    println!("| --- | ---: | ---: |");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nova-examples/benchmarks");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(programs)
        .expect("the benchmark programs")
        .map(|entry| entry.expect("a folder's entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "nova")
        })
        .collect();
    paths.sort();
    for path in paths {
        let times = compile(setting, &path);
        println!(
            "| {} | {:.1} | {:.1} |",
            stem(&path),
            times.novac,
            times.gcc
        );
    }
}

/// Measures random programs, joined until they have enough nodes.
pub fn random(setting: &Setting) {
    growth("random programs", setting, |size| {
        let mut text = String::from(PRELUDE);
        let (mut nodes, mut seed) = (0, 0);
        while nodes < size {
            let program = random::program(seed);
            if is_accepted(setting, &program.entry) {
                text.push_str(&program.entry);
                nodes += program.nodes;
            }
            seed += 1;
        }
        (nodes, text)
    });
}

/// True if `novac` compiles a random program for the target. The target may not honour its strategies.
fn is_accepted(setting: &Setting, entry: &str) -> bool {
    let path = setting.folder.join("one.nova");
    std::fs::write(&path, format!("{PRELUDE}{entry}")).expect("the folder can be written");
    let mut check = Command::new(&setting.novac);
    check
        .args(["check", "--target", &setting.target])
        .arg(&path);
    check.output().expect("the command runs").status.success()
}

/// Measures one function of dependent statements.
pub fn function(setting: &Setting) {
    growth("one function", setting, |size| {
        let statements = size / NODES_OF_A_STATEMENT;
        (size, conditionals(statements))
    });
}

/// Measures one function of array operations, each over the results of those before it.
pub fn operations(setting: &Setting) {
    growth("operations", setting, |size| {
        let statements = size / NODES_OF_AN_OPERATION;
        (size, operations_text(statements))
    });
}

/// Compiles a program of each size, given with its exact number of nodes. Prints the times and the
/// exponents.
fn growth(what: &str, setting: &Setting, program: impl Fn(usize) -> (usize, String)) {
    println!("| {what}, nodes | bytes | novac ms | gcc ms |");
    println!("| ---: | ---: | ---: | ---: |");
    let mut measured = Vec::new();
    for size in SIZES.into_iter().filter(|size| *size <= setting.most) {
        let (nodes, text) = program(size);
        let path = setting.folder.join("growth.nova");
        std::fs::write(&path, &text).expect("a program written");
        let times = compile(setting, &path);
        println!(
            "| {nodes} | {} | {:.1} | {:.1} |",
            text.len(),
            times.novac,
            times.gcc
        );
        measured.push((nodes as f64, times));
    }
    let of = |part: fn(&Times) -> f64| {
        exponent(
            &measured
                .iter()
                .map(|(n, t)| (*n, part(t)))
                .collect::<Vec<_>>(),
        )
    };
    println!(
        "| exponent | | {:.2} | {:.2} |",
        of(|t| t.novac),
        of(|t| t.gcc)
    );
}

/// Returns the slope of the least-squares line through the logarithms of points.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let logarithms: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean_x = logarithms.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logarithms.iter().map(|(_, y)| y).sum::<f64>() / count;
    let together: f64 = logarithms
        .iter()
        .map(|(x, y)| (x - mean_x) * (y - mean_y))
        .sum();
    let of_x: f64 = logarithms.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    together / of_x
}

/// Compiles a program to an object file, by novac and then gcc.
fn compile(setting: &Setting, path: &Path) -> Times {
    let folder = &setting.folder;
    let (source, object) = (
        folder.join(format!("{}.c", stem(path))),
        folder.join("compiled.o"),
    );
    Times {
        novac: fastest(
            Command::new(&setting.novac)
                .args(["-O2", "--target", &setting.target])
                .arg(path)
                .arg("-o")
                .arg(folder),
        ),
        gcc: fastest(
            Command::new("gcc")
                .args(["-std=c11", "-O2", "-c", "-o"])
                .args([&object, &source]),
        ),
    }
}

/// Returns the milliseconds of a command, which must succeed. If it is short, the fastest of
/// several runs counts.
fn fastest(command: &mut Command) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let started = Instant::now();
        let output = command.output().expect("the command runs");
        least = least.min(started.elapsed().as_secs_f64() * 1e3);
        assert!(
            output.status.success(),
            "{command:?}: {:.2000}",
            String::from_utf8_lossy(&output.stderr)
        );
        if least > SHORT {
            break;
        }
    }
    least
}

/// Returns a file's name without its extension.
fn stem(path: &Path) -> String {
    path.file_stem()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::exponent;

    #[test]
    fn the_exponent_of_a_power_is_found() {
        let points = [10.0, 100.0, 1_000.0].map(|x: f64| (x, 3.0 * x.powf(1.5)));
        assert!((exponent(&points) - 1.5).abs() < 1e-9);
    }
}
