//! Lines of the source in the generated code, for debuggers and profilers (`--line-directives`).

use nova_driver::{Compiler, Options, Source, Target};
use nova_tests::processes::on_all_cores;
use nova_tests::{effort, sources};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGETS: [Target; 3] = [Target::Sequential, Target::Pthreads, Target::Cuda];

/// Returns the C of a program, or `None` if it has no entries.
fn code(source: Source, target: Target, line_directives: bool) -> Option<String> {
    let compiler = Compiler::new(Options {
        target,
        line_directives,
        verify: false,
        ..Options::default()
    });
    let mut checked = compiler.check(source).ok()?;
    let generated = compiler.compile(&mut checked).expect("its code");
    Some(generated.files.source)
}

/// Returns the number and the file of a directive.
fn directive(line: &str) -> Option<(usize, &str)> {
    let (number, file) = line.strip_prefix("#line ")?.split_once(' ')?;
    Some((number.parse().expect("a number"), file.trim_matches('"')))
}

/// Returns what code says besides places: without directives, comments with places, blanks and braces. A
/// statement with a directive before it has braces.
fn meaning(code: &str) -> String {
    let is_place = |line: &str| line.trim_start().starts_with("/* ") && line.contains(".nova:");
    let lines = code
        .lines()
        .filter(|line| directive(line).is_none() && !is_place(line));
    let text: String = lines.flat_map(str::split_whitespace).collect();
    text.replace(['{', '}'], "")
}

/// Compares the code of a program with and without directives. Returns the number of directives.
fn compare(path: &Path, target: Target) -> Option<usize> {
    let source = || Source::File(path.to_path_buf());
    let plain = code(source(), target, false)?;
    let marked = code(source(), target, true)?;
    let what = format!("{}, {target}", path.display());
    assert!(!plain.contains("#line"), "{what}");
    // Kernels that differ in nothing but their places are one kernel without directives.
    let kernels = |code: &str| code.matches("__global__").count();
    if kernels(&plain) == kernels(&marked) {
        assert_eq!(meaning(&plain), meaning(&marked), "{what}");
    }
    let mut count = 0;
    for (above, line) in marked.lines().enumerate() {
        let Some((number, file)) = directive(line) else {
            continue;
        };
        count += 1;
        if !file.ends_with(".nova") {
            assert_eq!(number, above + 2, "{what}: {line}");
        }
    }
    Some(count)
}

#[test]
fn nothing_changes_but_the_lines() {
    let programs = sources::programs(&["nova-examples", "tests/classes"]);
    let numbered = programs.iter().enumerate();
    let tried = numbered.filter(|(number, _)| effort::tries(*number, 2));
    let programs: Vec<&PathBuf> = tried.map(|(_, path)| path).collect();
    let counts = on_all_cores(programs.len() as u64, |k| {
        let target = TARGETS[k as usize % TARGETS.len()];
        compare(programs[k as usize], target)
    });
    let counts: Vec<usize> = counts.into_iter().flatten().collect();
    assert!(counts.len() > 40, "{}", counts.len());
    assert!(counts.iter().filter(|n| **n > 0).count() > 35);
}

/// A program whose loops stand on lines 4 to 7, and a function without loops that begins on line 1.
const PROGRAM: &str = "(define (fib (mu (f : int -> int) (lambda (n : int) : int
  (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))))))
(entry smooth ((n : int) (X : vector float))
  (let (Y (iterate n
     (lambda (Y) (map (lambda (a b) (* 0.5 (+ a b))) Y (rotate 1 Y)))
     (map sqrt X)))
   in (reduce + 0.0 Y)))
(entry number ((n : int)) (fib n))
";

#[test]
fn compilers_note_the_lines_of_the_source() {
    for target in [Target::Sequential, Target::Pthreads] {
        let folder = tempfile::tempdir().expect("a folder");
        let compiler = Compiler::new(Options {
            target,
            line_directives: true,
            ..Options::default()
        });
        let source = Source::Text {
            name: "smooth.nova".into(),
            text: PROGRAM.into(),
            folder: folder.path().to_path_buf(),
        };
        let mut checked = compiler.check(source).expect("a program");
        let files = compiler.compile(&mut checked).expect("its code").files;
        std::fs::write(folder.path().join("smooth.h"), files.header).expect("a file");
        std::fs::write(folder.path().join("smooth.c"), files.source).expect("a file");
        let run = |command: &str, arguments: &[&str]| {
            let mut command = Command::new(command);
            let output = command.current_dir(folder.path()).args(arguments).output();
            let output = output.expect("a command");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{target}: {said}");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let options = "-std=c11 -Wall -Wextra -Wpedantic -Werror -g -O1 -c smooth.c";
        run("gcc", &options.split(' ').collect::<Vec<_>>());
        let decoded = run("objdump", &["--dwarf=decodedline", "smooth.o"]);
        let lines: BTreeSet<usize> = decoded
            .lines()
            .filter_map(|row| row.strip_prefix("smooth.nova "))
            .filter_map(|row| row.split_whitespace().next()?.parse().ok())
            .collect();
        assert_eq!(
            lines,
            BTreeSet::from([1, 4, 5, 6, 7]),
            "{target}\n{decoded}"
        );
    }
}
