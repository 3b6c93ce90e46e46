//! Tests of the work of programs on recursive data: how often the lines of the generated C are executed,
//! which neither caches nor other processes change. gcov counts them.

use nova_driver::{Compiler, Options, Source};
use nova_tests::bench::build::folder_of;
use nova_tests::bench::recursion::SHAPES;
use std::path::Path;
use std::process::Command;

/// Runs a program, which must succeed, and returns what it prints.
fn run(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Compiles the sequential C of a benchmark program with counters, together with a host of `tests/recursion`.
fn build(program: &str, host: &str, folder: &Path) {
    let compiler = Compiler::new(Options::default());
    let source = Source::File(folder_of(program).join(format!("{program}.nova")));
    let mut checked = compiler.check(source).expect("the program has no errors");
    let files = compiler.compile(&mut checked).expect("it compiles").files;
    for (ending, text) in [("h", &files.header), ("c", &files.source)] {
        std::fs::write(folder.join(format!("{program}.{ending}")), text).expect("written");
    }
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("recursion");
    let gcc = |flags: &str| {
        let mut gcc = Command::new("gcc");
        gcc.current_dir(folder).args(flags.split(' '));
        gcc
    };
    run(&mut gcc(&format!(
        "-std=c11 -O1 --coverage -c {program}.c -o counted.o"
    )));
    run(gcc("-std=gnu11 -O1 -I. -c -o host.o")
        .arg(format!("-I{}", hosts.display()))
        .arg(hosts.join(host)));
    run(&mut gcc("--coverage -pthread host.o counted.o -o host -lm"));
}

/// Returns the number of nodes of a tree of a shape, and how many lines are executed for its sum.
fn lines_for(shape: &str, nodes: u32, folder: &Path) -> (f64, f64) {
    let counts = folder.join("counted.gcda");
    if counts.exists() {
        std::fs::remove_file(&counts).expect("removed");
    }
    let size =
        run(Command::new("./host")
            .current_dir(folder)
            .args([&nodes.to_string(), shape, "1"]));
    let size = size.trim().split('\t').nth(1).expect("a size");
    let size: f64 = size.parse().expect("a number");
    // A line is `count:number:text`; counts of lines without code are `-` or `#####`.
    let text = run(Command::new("gcov")
        .current_dir(folder)
        .args(["--stdout", "counted.o"]));
    let lines = text.lines().filter_map(|line| {
        let count = line.split(':').next()?.trim().trim_end_matches('*');
        count.parse::<f64>().ok()
    });
    (size, lines.sum())
}

#[test]
fn rake_and_compress_takes_time_proportional_to_the_tree() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    build("tree_sum", "tree_work.c", folder);
    for shape in SHAPES {
        let [small, large] = [10_000, 1_000_000].map(|nodes| lines_for(shape, nodes, folder));
        let exponent = (large.1 / small.1).ln() / (large.0 / small.0).ln();
        let each = large.1 / large.0;
        println!("{shape}: {each:.1} lines a node, exponent {exponent:.4}");
        assert!(small.1 > 10.0 * small.0, "{shape}: {small:?}");
        assert!(exponent < 1.02, "{shape}: {small:?} {large:?}");
    }
}
