//! Models of the protocols between threads, which spin tries in every order. They cover the pool of
//! threads, the nodes that they append, and for devices failures before barriers, result buffers, node tables, the pool of memory,
//! and the ordered regions of work-groups. Mistakes are seeded in the models, and spin must find each
//! of them.

use crate::compile::{succeed, tries_all};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One caller and one thread; the caller waits for help.
const ONE: &[&str] = &["MEET"];
/// Two threads that fall asleep and wake up while a caller waits for help.
const TWO_THREADS: &[&str] = &["MEET", "WORKERS=2"];
/// Two callers with a slot each, both waiting for help.
const TWO_CALLERS: &[&str] = &["MEET", "HOSTS=2", "SLOTS=2", "ITERATIONS=1"];
/// Two callers that share one slot, or do without it.
const ONE_SLOT: &[&str] = &["HOSTS=2"];
/// The pool is stopped at any moment.
const STOPPED: &[&str] = &["STOP", "WORKERS=2", "ITERATIONS=1"];
/// Any chunks fail.
const FAILING: &[&str] = &["FAIL", "WORKERS=2", "CLAIMS=3", "ITERATIONS=1"];
/// A thread that waits for help inside of a chunk, where only the caller of the chunk can give it.
const INSIDE: &[&str] = &["INNER", "MEET", "SLOTS=2"];

const POOL: &str = "pthreads/model/pool.pml";
const SHARED_NODES: &str = "pthreads/model/shared_nodes.pml";
const FAILURES: &str = "device/model/failures.pml";
const RESULT_BUFFERS: &str = "device/model/result_buffers.pml";
const NODES: &str = "device/model/nodes.pml";
const MEMORY: &str = "device/model/pool.pml";
const ORDERED: &str = "cuda/model/ordered.pml";

/// The default size of a model.
const SMALL: &[&str] = &[];
/// Three threads with a task each.
const THREE_THREADS: &[&str] = &["THREADS=3", "TASKS=1", "NODES=2"];
/// Three threads of a group that synchronise at barriers.
const THREE: &[&str] = &["GROUPS=1", "THREADS=3"];
/// A table without room at first.
const NO_ROOM: &[&str] = &["ROOM=0"];
/// A table that always has room.
const ROOM: &[&str] = &["ROOM=6"];
/// Three calls, and memory for one of them.
const THREE_CALLS: &[&str] = &["CALLS=3", "ITERATIONS=1", "BLOCKS=1"];

/// One work-group at a time.
const ONE_GROUP: &[&str] = &["GROUPS=1"];
/// Work-groups that look at three iterations at a time.
const THREE_LANES: &[&str] = &["GROUPS=2", "LANES=3"];

/// The models in every circumstance.
const MODELS: &[(&str, &[&[&str]])] = &[
    (
        POOL,
        &[
            ONE,
            TWO_THREADS,
            TWO_CALLERS,
            ONE_SLOT,
            STOPPED,
            FAILING,
            INSIDE,
        ],
    ),
    (SHARED_NODES, &[SMALL, THREE_THREADS]),
    (FAILURES, &[SMALL, THREE]),
    (RESULT_BUFFERS, &[SMALL, NO_ROOM, ROOM]),
    (NODES, &[SMALL, NO_ROOM, ROOM]),
    (MEMORY, &[SMALL, THREE_CALLS]),
    (ORDERED, &[SMALL, ONE_GROUP, THREE_LANES]),
];

/// Mistakes, their models, and the circumstances in which they matter.
const MISTAKES: &[(&str, &str, &[&str])] = &[
    (POOL, "NO_RECHECK", TWO_THREADS),
    (POOL, "ROUSE_BEFORE_OPEN", ONE),
    (POOL, "DELAYED_OPEN", ONE),
    (POOL, "EPOCH_LATE", ONE),
    (POOL, "COUNTED_LATE", ONE),
    (POOL, "OPEN_BEFORE_FILL", ONE_SLOT),
    (POOL, "READ_BEFORE_JOIN", ONE_SLOT),
    (POOL, "JOIN_CLOSED", TWO_THREADS),
    (POOL, "TORN_CLAIM", TWO_THREADS),
    (POOL, "NO_WAIT", ONE),
    (POOL, "FREE_BEFORE_WAIT", ONE_SLOT),
    (POOL, "BLIND_SLEEP", ONE),
    (POOL, "SILENT_LEAVE", ONE),
    (POOL, "STOP_UNSEEN", STOPPED),
    (POOL, "SILENT_STOP", STOPPED),
    (POOL, "SKIP_LOWER", FAILING),
    (POOL, "LAST_ERROR", FAILING),
    (POOL, "LEAVE_FAILED", FAILING),
    (POOL, "NO_STEAL", ONE_SLOT),
    (POOL, "NO_RECALL", INSIDE),
    (POOL, "SILENT_RECALL", INSIDE),
    (POOL, "NO_LOOK", INSIDE),
    (SHARED_NODES, "TAKE_APART", SMALL),
    (SHARED_NODES, "NO_END", SMALL),
    (SHARED_NODES, "NO_MEMORY", SMALL),
    (SHARED_NODES, "NO_LOCK", SMALL),
    (SHARED_NODES, "GIVE_BLINDLY", SMALL),
    (SHARED_NODES, "GIVE_APART", SMALL),
    (SHARED_NODES, "KEEP_COUNT", SMALL),
    (FAILURES, "TAKE_APART", SMALL),
    (FAILURES, "NO_FIRST_BARRIER", SMALL),
    (FAILURES, "ASK_FLAG", SMALL),
    (FAILURES, "LEAVE_AT_ONCE", SMALL),
    (FAILURES, "ANY_FAILURE", SMALL),
    (RESULT_BUFFERS, "NO_LIMIT", SMALL),
    (RESULT_BUFFERS, "ASK_OWN", SMALL),
    (RESULT_BUFFERS, "TAKE_APART", SMALL),
    (RESULT_BUFFERS, "KEEP_FAILURE", SMALL),
    (RESULT_BUFFERS, "KEEP_USED", SMALL),
    (NODES, "NO_LIMIT", SMALL),
    (NODES, "ASK_OWN", SMALL),
    (NODES, "TAKE_APART", SMALL),
    (NODES, "KEEP_FAILURE", SMALL),
    (NODES, "KEEP_NEXT", SMALL),
    (NODES, "FORGET_OLD", SMALL),
    (MEMORY, "NO_LOCK", SMALL),
    (MEMORY, "GIVE_TO_POOL", SMALL),
    (MEMORY, "NO_FINISH", SMALL),
    (ORDERED, "STATUS_FIRST", SMALL),
    (ORDERED, "BLIND", SMALL),
    (ORDERED, "HALVES_APART", SMALL),
    (ORDERED, "AGGREGATE_IS_PREFIX", SMALL),
    (ORDERED, "COUNT_ALL_LANES", SMALL),
    (ORDERED, "LOOK_TWICE", SMALL),
    (ORDERED, "TAKE_APART", SMALL),
    (ORDERED, "ANY_ORDER", SMALL),
];

/// True if spin is installed. Otherwise prints that a test is skipped.
fn has_spin(test: &str) -> bool {
    let found = Command::new("spin").arg("-V").output().is_ok();
    if !found {
        eprintln!("skipped: {test} (needs spin, Debian's package spin)");
    }
    found
}

/// Tries all orders of steps. Returns the report of spin if it finds an error. The C that spin writes
/// is compiled without optimisation, which takes longer than it saves.
fn find_error(model: &str, macros: &[&str]) -> Option<String> {
    let folder = scratch(&format!("{}_{}", model.replace('/', "_"), macros.join("_")));
    let model = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../runtime-c")
        .join(model);
    let defined = macros.iter().map(|name| format!("-D{name}"));
    let mut spin = Command::new("spin");
    succeed(
        spin.current_dir(&folder).args(defined).arg("-a").arg(model),
        "spin",
    );
    let mut compiler = Command::new("gcc");
    let flags = ["-O0", "-w", "-DSAFETY", "-o", "pan", "pan.c"];
    succeed(compiler.current_dir(&folder).args(flags), "gcc");
    let mut pan = Command::new(folder.join("pan"));
    let output = succeed(pan.current_dir(&folder).arg("-m100000"), "pan");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let complete = !report.contains("error: max search depth") && report.contains(" errors: ");
    assert!(complete, "{macros:?}: {report}");
    (!report.contains(" errors: 0")).then_some(report)
}

/// Returns an empty folder.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("model_{name}"));
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    folder
}

#[test]
fn no_order_of_steps_goes_wrong() {
    if !has_spin("the models of what threads share") {
        return;
    }
    for (model, circumstances) in MODELS {
        for macros in *circumstances {
            if let Some(report) = find_error(model, macros) {
                panic!("{model} {macros:?}: {report}");
            }
        }
    }
}

#[test]
fn seeded_mistakes_are_found() {
    if !has_spin("mistakes in the models of what threads share") {
        return;
    }
    // A third of them for each change.
    let step = if tries_all() { 1 } else { 3 };
    for (model, mistake, circumstances) in MISTAKES.iter().step_by(step) {
        let macros = [*circumstances, &[*mistake]].concat();
        assert!(
            find_error(model, &macros).is_some(),
            "{model} {macros:?}: not found"
        );
    }
}
