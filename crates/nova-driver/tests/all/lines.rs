//! Tests of the cache of loaded programs: what is unchanged but for its lines is found there, and its
//! messages name the new lines.

use nova_driver::{
    CallError, Compiler, Elements, Failure, Library, Loaded, Options, Position, ProgramBuilder,
    Source, Target, Typed, Value, runtime_error,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Returns a compiler with a cache of its own.
fn compiler(folder: &Path) -> Compiler {
    compiler_with(folder, Options::default())
}

fn compiler_with(folder: &Path, options: Options) -> Compiler {
    let options = Options {
        verify: false,
        ..options
    };
    Compiler::new(options).with_cache(folder.join("cache"))
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Returns what a front end prints that traces a program of a few steps from this line on.
fn traced(file: &str, line: u32, steps: u32) -> String {
    let mut text = String::from("((v : vector double))\n(let\n");
    for k in 0..steps {
        let before = match k {
            0 => "v".to_string(),
            _ => format!("t{}", k - 1),
        };
        let (line, factor) = (line + k, 1 + k % 7);
        text.push_str(&format!(
            "(t{k} (at \"{file}\" {line} 5 (map (lambda (x) (+ (* x {factor}.5) {k}.25)) {before})))\n"
        ));
    }
    let (line, last) = (line + steps, steps.saturating_sub(1));
    text.push_str(&format!(
        "in (at \"{file}\" {line} 1 {line} 9 \"pick\" (t{last} ! 7)))\n"
    ));
    text
}

fn open(compiler: &Compiler, text: &str) -> Loaded {
    let source = Source::text("traced.nova", text);
    compiler
        .open(source, &[])
        .unwrap_or_else(|failure| panic!("{failure}"))
}

/// Returns the number that a call gives.
fn number(library: &Library, inputs: &[Value]) -> f64 {
    let value = library.call(0, inputs).expect("it runs");
    f64::from_value(&value).expect("a number")
}

/// Returns the message of a call that fails.
fn failed(loaded: &Loaded, inputs: &[Value]) -> String {
    match loaded.library.call(0, inputs) {
        Err(CallError::Failed { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn new_lines_are_found_and_named() {
    let folder = folder();
    let compiler = compiler(folder.path());
    let short = [vec![1.0f64, 2.0].into_value()];
    let long = [vec![1.0f64; 8].into_value()];
    let first = open(&compiler, &traced("a.py", 10, 5));
    assert!(!first.is_cached);
    assert_eq!(
        failed(&first, &short),
        "a.py:15:1: index 7 is out of range for length 2"
    );
    let value = number(&first.library, &long);
    for (file, line) in [("a.py", 12), ("folder/b.py", 3)] {
        let again = open(&compiler, &traced(file, line, 5));
        assert!(again.is_cached, "{file} {line}");
        let base = file.rsplit('/').next().unwrap_or(file);
        let expected = format!(
            "{base}:{}:1: index 7 is out of range for length 2",
            line + 5
        );
        assert_eq!(failed(&again, &short), expected);
        assert_eq!(number(&again.library, &long), value);
        // The program that is loaded already keeps its own places.
        assert!(failed(&first, &short).starts_with("a.py:15:1:"));
    }
    let shown = runtime_error::render(&failed(&first, &short), &first.report.sources);
    assert!(shown.starts_with("error: a.py:15:1: index 7"), "{shown}");
}

#[test]
fn other_programs_and_options_are_not_found() {
    let folder = folder();
    let text = traced("a.py", 10, 3);
    open(&compiler(folder.path()), &text);
    assert!(open(&compiler(folder.path()), &text).is_cached);
    for other in [
        text.replace("1.5", "1.75"),
        text.replace("(* x", "(/ x"),
        text.replace("! 7", "! 1"),
        text.replace("double", "float"),
        text.replace("(v :", "(w :").replace(") v)", ") w)"),
        traced("a.py", 10, 4),
    ] {
        let loaded = open(&compiler(folder.path()), &other);
        assert!(!loaded.is_cached, "{other}");
        let again = open(&compiler(folder.path()), &other);
        assert!(again.is_cached);
        assert_eq!(again.signatures(), loaded.signatures());
    }
    for options in [
        Options {
            optimization: 1,
            ..Options::default()
        },
        Options {
            strict: true,
            ..Options::default()
        },
        Options {
            target: Target::Pthreads,
            ..Options::default()
        },
        Options {
            disabled: ["fuse".to_string()].into(),
            ..Options::default()
        },
    ] {
        assert!(!open(&compiler_with(folder.path(), options), &text).is_cached);
    }
    let renamed = Source::text("other.nova", text.as_str());
    let renamed = compiler(folder.path())
        .open(renamed, &[])
        .expect("a program");
    assert!(!renamed.is_cached);
}

#[test]
fn the_passes_run_where_they_are_asked_for() {
    let folder = folder();
    let text = traced("a.py", 10, 3);
    for _ in 0..2 {
        for options in [
            Options {
                passes_run: true,
                ..Options::default()
            },
            Options {
                dump_after: Some("lower".to_string()),
                ..Options::default()
            },
            Options {
                check_races: true,
                target: Target::Pthreads,
                ..Options::default()
            },
        ] {
            assert!(!open(&compiler_with(folder.path(), options), &text).is_cached);
        }
        let verified = Compiler::new(Options {
            verify: true,
            ..Options::default()
        });
        assert!(!open(&verified.with_cache(folder.path().join("cache")), &text).is_cached);
    }
}

/// Entries whose types have names, and a program of several files.
#[test]
fn types_and_comments_come_from_the_record() {
    let folder = folder();
    let source = |line: u32| {
        let text = format!(
            "(types (Tree 'a : (+ (Leaf : 'a) (Node : ((Tree 'a), (Tree 'a)))))){}
             ; Adds {line}.\n(entry grown ((t : (Tree int)) (f : bool)) (at \"t.py\" {line} 1 (if f t (Node (t, t)))))
             (entry second ((m : vector#2 float)) (at \"t.py\" {line} 9 (m ! (1, 0))))",
            "\n".repeat(line as usize)
        );
        Source::text("trees.nova", text)
    };
    let compiler = compiler(folder.path());
    let first = compiler.open(source(1), &[]).expect("a program");
    let second = compiler.open(source(4), &[]).expect("a program");
    assert!(!first.is_cached && second.is_cached);
    assert_eq!(first.sums(), second.sums());
    let comments: Vec<String> = second
        .signatures()
        .into_iter()
        .map(|s| s.documentation)
        .collect();
    assert_eq!(comments, ["Adds 4.", ""]);
    let types = |loaded: &Loaded| -> Vec<_> {
        let signatures = loaded.signatures().into_iter();
        signatures.map(|s| (s.name, s.inputs, s.result)).collect()
    };
    assert_eq!(types(&first), types(&second));
    let checked = compiler.check(source(4)).expect("a program");
    assert_eq!(checked.signatures(), second.signatures());
}

/// Warnings are about the program as it is now, so a program with warnings is checked each time.
#[test]
fn warnings_are_not_lost() {
    let folder = folder();
    let compiler = compiler(folder.path());
    let warned = |text: &str| {
        let loaded = compiler
            .open(Source::text("w.nova", text), &[])
            .expect("a program");
        (loaded.is_cached, loaded.report.to_text())
    };
    let (cached, first) = warned("((x : int)) (let (unused 1) in (+ x 1))");
    assert!(!cached && first.contains("w.nova:1:19"), "{first}");
    let (cached, second) = warned("\n((x : int))\n(let (unused 1) in (+ x 1))");
    assert!(cached && second.contains("w.nova:3:7"), "{second}");
}

/// A program with an error is refused, although one like it is in the cache.
#[test]
fn errors_are_reported_in_new_places() {
    let folder = folder();
    let compiler = compiler(folder.path());
    for line in [3, 8] {
        let text = format!("() (at \"a.py\" {line} 2 {line} 9 \"blur\" (+ 1 true))");
        let Err(Failure::Program(report)) = compiler.open(Source::text("e.nova", text), &[]) else {
            panic!("it is accepted");
        };
        let text = report.to_text();
        assert!(
            text.contains(&format!("a.py:{line}:2")) && text.contains("in `blur`: "),
            "{text}"
        );
    }
}

#[test]
fn built_programs_are_found_too() {
    let folder = folder();
    let compiler = compiler(folder.path());
    let build = |line: u32| {
        let builder = ProgramBuilder::new("built");
        let file = builder.source(
            "sheet.calc",
            &format!("{}y = x / z\n", "\n".repeat(line as usize - 1)),
        );
        let quotient = Position {
            end: Some((line, 10)),
            construct: Some("ratio".into()),
            ..Position::start(line, 5)
        };
        let at = builder.at_position(file, quotient);
        let [x, z] = ["x", "z"].map(|name| at.input(name, at.named_type("int")));
        at.entry("built", at.call("/", &[x, z]));
        Source::Built(Box::new(builder))
    };
    for (line, is_cached) in [(1, false), (6, true), (2, true)] {
        let loaded = compiler.open(build(line), &[]).expect("a program");
        assert_eq!(loaded.is_cached, is_cached);
        let message = failed(&loaded, &[1i32.into_value(), 0i32.into_value()]);
        assert_eq!(message, format!("sheet.calc:{line}:5: division by zero"));
        let shown = runtime_error::render(&message, &loaded.report.sources);
        assert!(
            shown.ends_with(&format!("{line} | y = x / z\n  |     ^^^^^ in `ratio`")),
            "{shown}"
        );
    }
}

/// The code of a loaded program is that of a checked one.
#[test]
fn checked_programs_share_the_cache() {
    let folder = folder();
    let compiler = compiler(folder.path());
    let mut checked = compiler
        .check(Source::text("traced.nova", traced("a.py", 1, 2)))
        .expect("a program");
    let library = compiler.load(&mut checked, &[]).expect("it compiles");
    assert!(
        checked
            .trace
            .times
            .iter()
            .any(|(name, _)| *name == "C compiler")
    );
    let inputs = [Value::Vector(Elements::F64(vec![1.0; 9].into()))];
    let value = number(&library, &inputs);
    let mut moved = compiler
        .check(Source::text("traced.nova", traced("a.py", 5, 2)))
        .expect("a program");
    let library = compiler.load(&mut moved, &[]).expect("it is there");
    assert!(
        moved
            .trace
            .times
            .iter()
            .all(|(name, _)| *name != "C compiler" && *name != "lower")
    );
    assert_eq!(number(&library, &inputs), value);
    // Its own places are those of its text.
    let text = compiler
        .emit(&mut moved, nova_driver::Stage::Core)
        .expect("its text");
    assert!(text.contains("a.py:5:5") && !text.contains("@:"), "{text}");
    assert!(open(&compiler, &traced("a.py", 7, 2)).is_cached);
}

/// Damaged records and records whose code is gone are no programs.
#[test]
fn what_is_wrong_in_the_cache_is_made_anew() {
    let folder = folder();
    let compiler = compiler(folder.path());
    let text = traced("a.py", 10, 2);
    let entries = |ending: &str| -> Vec<_> {
        let listing = fs::read_dir(folder.path().join("cache"))
            .expect("a folder")
            .flatten();
        let paths = listing.map(|entry| entry.path());
        paths
            .filter(|path| path.extension().is_some_and(|e| e == ending))
            .collect()
    };
    open(&compiler, &text);
    for ending in ["so", "program"] {
        let found = entries(ending);
        assert_eq!(found.len(), 1);
        fs::write(&found[0], "damaged").expect("a file");
        let loaded = open(&compiler, &text);
        assert!(!loaded.is_cached, "{ending}");
        assert!(open(&compiler, &text).is_cached);
        fs::remove_file(&entries(ending)[0]).expect("a file");
        assert!(!open(&compiler, &text).is_cached, "{ending}");
    }
}

/// The number of lines of the file to which [`COUNTED`] writes.
const COUNTED: &str = "#!/bin/sh\necho \"$*\" >>\"$NOVA_COUNTED\"\nexec cc \"$@\"\n";

/// Runs [`opens_two_versions`] in a process whose compiler of C counts its calls.
#[test]
fn no_compiler_of_c_is_called() {
    let folder = folder();
    let counted = folder.path().join("counted-cc");
    fs::write(&counted, COUNTED).expect("a file");
    fs::set_permissions(&counted, fs::Permissions::from_mode(0o755)).expect("an own file");
    let log = folder.path().join("calls");
    let test = std::env::current_exe().expect("this test");
    let output = Command::new(test)
        .args(["lines::opens_two_versions", "--exact", "--ignored"])
        .env("CC", &counted)
        .env("NOVA_COUNTED", &log)
        .env("NOVA_LINES", folder.path())
        .output()
        .expect("it starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let calls = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    assert!(
        calls("calls-of-first").contains("-shared"),
        "{}",
        calls("calls-of-first")
    );
    assert_eq!(calls("calls"), "");
}

#[test]
#[ignore = "a part of no_compiler_of_c_is_called"]
fn opens_two_versions() {
    let Some(folder) = std::env::var_os("NOVA_LINES") else {
        return;
    };
    let folder = Path::new(&folder);
    let compiler = compiler(folder);
    assert!(!open(&compiler, &traced("a.py", 10, 3)).is_cached);
    fs::rename(folder.join("calls"), folder.join("calls-of-first")).expect("calls");
    assert!(open(&compiler, &traced("a.py", 11, 3)).is_cached);
}

/// Prints how long it takes to open a program of 10,000 nodes that differs in its lines, after a first time.
/// Run it in a release build.
#[test]
#[ignore = "it measures"]
fn time_of_ten_thousand_nodes() {
    let folder = folder();
    let compiler = compiler(folder.path());
    let nodes = |text: &str| {
        let parsed = nova_driver::source::load(Source::text("traced.nova", text));
        parsed.expect("a program").program.arena.len()
    };
    let text = traced("a.py", 10, 1100);
    println!("{} nodes, {} bytes", nodes(&text), text.len());
    open(&compiler, &text);
    for line in 20..30 {
        let text = traced("a.py", line, 1100);
        let start = std::time::Instant::now();
        let source = Source::text("traced.nova", text.as_str());
        let loaded = compiler.open(source, &[]).expect("a program");
        let time = start.elapsed();
        assert!(loaded.is_cached);
        let start = std::time::Instant::now();
        let parsed = nova_driver::source::load(Source::text("traced.nova", text.as_str()));
        println!("{time:?}, of which {:?} to read it", start.elapsed());
        drop(parsed);
    }
}
