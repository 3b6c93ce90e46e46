//! Tests of the C written by hand for the applications: its results are those of the programs' test lines, with one
//! thread and with several, under sanitizers. Also tests the command that measures them, on little data.

use nova_driver::test_lines::{Expected, test_lines};
use nova_driver::{Compiler, Options, Source, interfaces};
use nova_exec::library::{Generated, Library};
use nova_tests::bench::applications::compare::compare;
use nova_tests::bench::applications::{APPLICATIONS, Application, Plan, report};
use nova_tests::bench::build::{C, FILLED_MEMORY, OPENMP, Toolchain, folder_of};
use nova_tests::bench::peer_library::{load_peer, shared};
use nova_tests::effort;

/// The warnings that C written by hand compiles without, and a stop at what is undefined.
const FLAGS: &[&str] = &[
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unknown-pragmas",
    "-O1",
    "-fsanitize=undefined",
    "-fsanitize-undefined-trap-on-error",
];

/// The programs whose C is still to be written.
const WITHOUT_C: &[&str] = &[];

/// Returns the test lines that the C written by hand for a program gets wrong.
fn differences(application: &Application, toolchain: Toolchain) -> Result<Vec<String>, String> {
    let name = application.name;
    let folder = folder_of(name);
    let path = folder.join(format!("{name}.nova"));
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    let compiler = Compiler::new(Options::default());
    let checked = compiler.check(Source::File(path));
    let mut checked = checked.map_err(|failure| failure.to_string())?;
    let generated = compiler.compile(&mut checked);
    let generated = generated.map_err(|failure| failure.to_string())?;
    let program = Generated {
        name,
        header: &generated.files.header,
        source: &generated.files.source,
        entries: interfaces(&generated.program, ""),
        foreigns: Vec::new(),
        sums: &generated.program.sums,
    };
    let build = tempfile::tempdir().map_err(|error| error.to_string())?;
    let flags = [FLAGS, &FILLED_MEMORY].concat();
    let library = shared(&program, build.path(), toolchain, &flags)?;
    let library: Library = load_peer(&program, name, library)?;
    let mut wrong = Vec::new();
    for line in test_lines(&text) {
        let test = line.read(&checked, &folder)?;
        let Expected::Value(expected) = &test.expected else {
            continue;
        };
        let verdict = match library.call(0, &test.inputs) {
            Ok(value) => compare(&value, expected, application.tolerance),
            Err(error) => Err(error.to_string()),
        };
        wrong.extend(
            verdict
                .err()
                .map(|why| format!("{name}:{}: {why}", test.line)),
        );
    }
    Ok(wrong)
}

/// Checks all programs, or for each change those whose numbers have this remainder.
fn check(toolchain: Toolchain, remainder: usize) {
    let wrong = |application: &Application| {
        differences(application, toolchain)
            .unwrap_or_else(|why| vec![format!("{}: {why}", application.name)])
    };
    let numbered = APPLICATIONS.iter().enumerate();
    let tried = numbered.filter(|(number, _)| effort::tries(number + remainder, 2));
    let written = tried.map(|(_, one)| one).filter(|one| one.has_peer());
    let wrong: Vec<String> = written.flat_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_thread_gives_the_expected_values() {
    check(C, 0);
}

#[test]
fn openmp_gives_the_expected_values() {
    check(OPENMP, 1);
}

#[test]
fn every_program_has_a_row_and_c_by_hand() {
    let folder = folder_of("attention");
    let listed = std::fs::read_dir(&folder).expect("the folder is there");
    let paths = listed.map(|entry| entry.expect("an entry").path());
    let programs = paths.filter(|path| path.extension().is_some_and(|e| e == "nova"));
    let mut names: Vec<String> = programs
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_string()))
        .collect();
    names.sort();
    let rows: Vec<&str> = APPLICATIONS.iter().map(|one| one.name).collect();
    assert_eq!(names, rows);
    let without = APPLICATIONS.iter().filter(|one| !one.has_peer());
    let without: Vec<&str> = without.map(|one| one.name).collect();
    assert_eq!(without, WITHOUT_C);
}

#[test]
fn they_are_measured() {
    for threads in [None, Some(2)] {
        let plan = Plan {
            names: vec!["hotspot".into(), "pathfinder".into()],
            shrink: 64,
            rounds: 1,
            threads,
        };
        let found = plan.run().expect("the plan is right");
        assert!(found.failures.is_empty(), "{:#?}", found.failures);
        assert_eq!(found.measured.len(), 4);
        let text = report::markdown(&found);
        assert!(text.contains("| hotspot | 8 rows |"), "{text}");
        let json: serde_json::Value = serde_json::from_str(&report::json(&found)).expect("JSON");
        assert_eq!(json["measurements"].as_array().map(Vec::len), Some(4));
        assert!(report::svg(&found).contains("pathfinder"));
    }
}

#[test]
fn an_unknown_application_is_refused() {
    let plan = Plan {
        names: vec!["dot".into()],
        shrink: 1,
        rounds: 1,
        threads: None,
    };
    let error = plan.run().expect_err("there is no such program");
    assert!(
        error.contains("no application dot; there are attention, "),
        "{error}"
    );
}
