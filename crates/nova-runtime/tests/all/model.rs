//! The model of the pool's protocol, tried in every order by spin; and mistakes seeded in it, each of
//! which spin must find.

use crate::compile::succeed;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One caller and one thread; the caller waits for help.
const ONE: &[&str] = &["MEET"];
/// Two threads that fall asleep and wake up while a caller waits for help.
const TWO_THREADS: &[&str] = &["MEET", "WORKERS=2"];
/// Two callers with a slot each, both waiting for help.
const TWO_CALLERS: &[&str] = &["MEET", "HOSTS=2", "SLOTS=2", "ROUNDS=1"];
/// Two callers that take turns with one slot, or do without.
const ONE_SLOT: &[&str] = &["HOSTS=2"];
/// The pool is stopped at any moment.
const STOPPED: &[&str] = &["STOP", "WORKERS=2", "ROUNDS=1"];
/// Any chunks fail.
const FAILING: &[&str] = &["FAIL", "WORKERS=2", "CLAIMS=3", "ROUNDS=1"];
/// A thread that waits for help inside of a chunk, where only the caller of the chunk can give it.
const INSIDE: &[&str] = &["INNER", "MEET", "SLOTS=2"];

/// Mistakes, and the circumstances in which they matter.
const MISTAKES: &[(&str, &[&str])] = &[
    ("NO_RECHECK", TWO_THREADS),
    ("ROUSE_BEFORE_OPEN", ONE),
    ("DELAYED_OPEN", ONE),
    ("EPOCH_LATE", ONE),
    ("COUNTED_LATE", ONE),
    ("OPEN_BEFORE_FILL", ONE_SLOT),
    ("READ_BEFORE_JOIN", ONE_SLOT),
    ("JOIN_CLOSED", TWO_THREADS),
    ("TORN_CLAIM", TWO_THREADS),
    ("NO_WAIT", ONE),
    ("FREE_BEFORE_WAIT", ONE_SLOT),
    ("BLIND_SLEEP", ONE),
    ("SILENT_LEAVE", ONE),
    ("STOP_UNSEEN", STOPPED),
    ("SILENT_STOP", STOPPED),
    ("SKIP_LOWER", FAILING),
    ("LAST_ERROR", FAILING),
    ("NO_RECALL", INSIDE),
    ("SILENT_RECALL", INSIDE),
    ("NO_LOOK", INSIDE),
];

/// Whether spin is there; says that a test is skipped if not.
fn has_spin(test: &str) -> bool {
    let found = Command::new("spin").arg("-V").output().is_ok();
    if !found {
        eprintln!("skipped: {test} (needs spin, Debian's package spin)");
    }
    found
}

/// Tries everything that can happen; gives what spin says, if it finds an error. The more there is to
/// try, the more the C that spin writes needs to be optimised.
fn find_error(macros: &[&str], optimise: &str) -> Option<String> {
    let folder = scratch(&macros.join("_"));
    let model =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime-c/pthreads/model/pool.pml");
    let defined = macros.iter().map(|name| format!("-D{name}"));
    let mut spin = Command::new("spin");
    succeed(
        spin.current_dir(&folder).args(defined).arg("-a").arg(model),
        "spin",
    );
    let mut compiler = Command::new("gcc");
    let flags = [optimise, "-w", "-DSAFETY", "-o", "pan", "pan.c"];
    succeed(compiler.current_dir(&folder).args(flags), "gcc");
    let mut pan = Command::new(folder.join("pan"));
    let output = succeed(pan.current_dir(&folder).arg("-m100000"), "pan");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let complete = !report.contains("error: max search depth") && report.contains(" errors: ");
    assert!(complete, "{macros:?}: {report}");
    (!report.contains(" errors: 0")).then_some(report)
}

/// An empty folder.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("model_{name}"));
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    folder
}

#[test]
fn no_order_of_steps_goes_wrong() {
    if !has_spin("the model of the pool") {
        return;
    }
    for macros in [
        ONE,
        TWO_THREADS,
        TWO_CALLERS,
        ONE_SLOT,
        STOPPED,
        FAILING,
        INSIDE,
    ] {
        if let Some(report) = find_error(macros, "-O2") {
            panic!("{macros:?}: {report}");
        }
    }
}

#[test]
fn seeded_mistakes_are_found() {
    if !has_spin("mistakes in the model of the pool") {
        return;
    }
    for (mistake, circumstances) in MISTAKES {
        let macros = [*circumstances, &[*mistake]].concat();
        assert!(
            find_error(&macros, "-O0").is_some(),
            "{macros:?}: not found"
        );
    }
}
