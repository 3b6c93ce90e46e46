//! The command `scale [--target T] [--up-to NODES] [NOVAC] [TABLE …]`. It times `novac` on large
//! and deep programs and prints tables in Markdown: `programs`, `benchmarks`, `random`, `function`,
//! `operations`. Without names it prints all. The times are not asserted. It asserts that each run
//! ends with the expected status and, for errors, the expected place.

mod compile_time;
mod texts;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Instant;
use texts::{conditionals, functions, nested_lets, statements};

/// The subject and the folder of the measurements.
struct Setting {
    novac: String,
    /// The target of the code.
    target: String,
    /// The maximum number of nodes of growing programs.
    most: usize,
    /// The folder of the files.
    folder: PathBuf,
}

/// A table: its name in the command and the function that prints it.
type Table = (&'static str, fn(&Setting));

const TABLES: [Table; 5] = [
    ("programs", programs),
    ("benchmarks", compile_time::benchmarks),
    ("random", compile_time::random),
    ("function", compile_time::function),
    ("operations", compile_time::operations),
];

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut setting = Setting {
        novac: "target/release/novac".into(),
        target: "seq".into(),
        most: usize::MAX,
        folder: folder.path().to_path_buf(),
    };
    let mut chosen = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("a value behind the option");
        match argument.as_str() {
            "--target" => setting.target = value(),
            "--up-to" => setting.most = value().parse().expect("a number of nodes"),
            table if TABLES.iter().any(|(name, _)| *name == table) => {
                chosen.push(table.to_string());
            }
            _ if argument.contains(std::path::is_separator) => setting.novac = argument,
            _ => panic!(
                "no table {argument}; there are {}",
                TABLES.map(|(table, _)| table).join(", ")
            ),
        }
    }
    for (name, print) in TABLES {
        if chosen.is_empty() || chosen.iter().any(|c| c == name) {
            print(&setting);
            println!();
        }
    }
}

/// Runs deep, wide and long programs with every command.
fn programs(setting: &Setting) {
    let runs = Runs(setting);
    println!("| program | command | seconds | outcome |");
    println!("| --- | --- | --- | --- |");
    runs.deep();
    runs.wide();
    runs.growth();
    runs.statements();
}

struct Runs<'a>(&'a Setting);

impl Runs<'_> {
    /// Runs novac on a program, and prints a row. The status must be `status` and the messages must
    /// contain `place`.
    fn row(&self, what: &str, text: &str, arguments: &[&str], status: i32, place: &str) -> Output {
        let path = self.0.folder.join("scale.nova");
        std::fs::write(&path, text).expect("a program written");
        let started = Instant::now();
        let output = Command::new(&self.0.novac)
            .args(["--target", &self.0.target])
            .args(&arguments[..1])
            .arg(&path)
            .args(&arguments[1..])
            .output()
            .expect("novac runs");
        let seconds = started.elapsed().as_secs_f64();
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        let first = messages
            .lines()
            .find(|l| l.contains("error") || l.contains("-->"))
            .unwrap_or("");
        let printed = String::from_utf8_lossy(&output.stdout)
            .lines()
            .next()
            .unwrap_or("")
            .to_string();
        let shown: String = format!("{printed}{first}").chars().take(60).collect();
        println!(
            "| {what} | {} | {seconds:.2} | {} {shown} |",
            arguments.join(" "),
            output.status
        );
        assert_eq!(
            output.status.code(),
            Some(status),
            "{what}: {messages:.2000}"
        );
        assert!(
            messages.contains(place),
            "{what}: no '{place}' in {messages:.2000}"
        );
        output
    }

    fn deep(&self) {
        let n = 100_000;
        let grouped = format!("() {}1{}", "(".repeat(n), ")".repeat(n));
        self.row("100,000 grouping parentheses", &grouped, &["eval"], 0, "");
        let unclosed = format!("() {}1", "(".repeat(n));
        self.row(
            "100,000 unclosed parentheses",
            &unclosed,
            &["check"],
            1,
            "scale.nova:1:",
        );
        let sums = format!("() {}0{}", "(+ 1 ".repeat(n), ")".repeat(n));
        self.row("100,000 nested applications", &sums, &["eval"], 0, "");
        let lets = nested_lets(10_000);
        self.row("10,000 nested lets", &lets, &["eval", "x=1"], 0, "");
        self.row("10,000 nested lets", &lets, &["run", "x=1"], 0, "");
    }

    fn wide(&self) {
        let mut large = String::from("((x : int))\n(define\n");
        let mut k = 0;
        while large.len() < 10_000_000 {
            let _ = writeln!(
                large,
                "  (f{k} (lambda (a : int) (+ (* a {k}) (if (< a {k}) 1 2))))"
            );
            k += 1;
        }
        large.push_str(")\n(f0 x)\n");
        self.row("a 10 MB source", &large, &["check"], 0, "");
        self.row("a 10 MB source", &large, &["fmt", "--check"], 1, "");
        let mut error = String::from("((x : int))\n(let\n");
        for k in 0..5_000 {
            let before = if k == 0 {
                "x".into()
            } else {
                format!("a{}", k - 1)
            };
            let value = if k == 4_990 {
                "(and true 7u8)".into()
            } else {
                format!("(+ {before} 1)")
            };
            let _ = writeln!(error, "  (a{k} {value})");
        }
        error.push_str("in x)\n");
        self.row(
            "a type error at line 4993, column 20",
            &error,
            &["check"],
            1,
            "scale.nova:4993:20",
        );
    }

    fn growth(&self) {
        for nodes in [1_000, 10_000, 100_000] {
            let what = format!("about {nodes} nodes");
            self.row(&what, &statements(nodes / 4), &["check"], 0, "");
        }
    }

    fn statements(&self) {
        let n = 20_000;
        for (what, text) in [
            ("one function", conditionals(n)),
            ("many functions", functions(n)),
        ] {
            let what = format!("{n} dependent statements, {what}");
            let source = self.0.folder.join("scale.c");
            let out = self.0.folder.display().to_string();
            self.row(&what, &text, &["-O2", "-o", &out], 0, "");
            let started = Instant::now();
            let object = self.0.folder.join("scale.o");
            let gcc = Command::new("gcc")
                .args(["-std=c11", "-O2", "-c", "-o"])
                .args([&object, &source])
                .status()
                .expect("gcc runs");
            println!(
                "| {what} | gcc -O2 | {:.2} | {gcc} |",
                started.elapsed().as_secs_f64()
            );
            assert!(gcc.success());
        }
    }
}
