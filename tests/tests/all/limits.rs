//! Tests of lengths, extents, steps and indices near the limits of 64 bits: on every target they
//! give the correct value or error, and without delay.

use nova_core::ir::Program;
use nova_core::{Elements, Scalar, Value};
use nova_tests::inputs;
use nova_tests::stages::{How, Loaded, Outcome, Passes, Stages};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

const MAX: i64 = i64::MAX;
const MIN: i64 = i64::MIN;
/// Extents of arrays that may be without elements.
const ROWS: i64 = 1 << 40;
const HALF: i64 = 1 << 62;

const PROGRAM: &str = "
(entry range_length ((a : int64) (s : int64) (b : int64)) ((length (range a s b)) : int64))
(entry range_sum ((a : int64) (s : int64) (b : int64)) (reduce + 0 (range a s b)))
(entry range_kept ((a : int64) (s : int64) (b : int64)) (range a s b))
(entry range_scan ((a : int64) (s : int64) (b : int64)) (scan + 0 (range a s b)))
(entry range_filter ((a : int64) (s : int64) (b : int64)) (filter (< 5) (range a s b)))
(entry unsigned_length ((a : uint64) (s : uint64) (b : uint64)) ((length (range a s b)) : int64))
(entry unsigned_sum ((a : uint64) (s : uint64) (b : uint64)) (reduce + 0 (range a s b)))
(entry numbers ((n : int64)) (reduce + 0 (range n)))
(entry replicated ((n : int64)) (reduce + 0 (replicate n 3)))
(entry replicated_length ((n : int64)) ((length (replicate n 3)) : int64))
(entry tabulated ((n : int64)) (reduce + 0 (tabulate n (lambda (i) (* i i)))))
(entry table_shape ((n : int64) (m : int64))
  (shape (tabulate (n, m) (lambda ((i, j)) (+ i j)))))
(entry table_sum ((n : int64) (m : int64))
  (reduce + 0 (flatten (tabulate (n, m) (lambda ((i, j)) (+ i j))))))
(entry table_kept ((n : int64) (m : int64))
  (flatten (tabulate (n, m) (lambda ((i, j)) (+ i j)))))
(entry cube_sum ((n : int64) (m : int64) (k : int64))
  (reduce + 0 (flatten (tabulate (n, m, k) (lambda ((i, j, l)) (+ i (* j l)))))))
(entry reshaped ((n : int64) (m : int64) (xs : vector int))
  (shape (reshape (n, m) xs)))
(entry bins ((n : int64) (is : vector int64) (xs : vector int)) (length (histogram + 0 n is xs)))
(entry skipped ((is : vector int64) (xs : vector int)) (histogram + 0 3 is xs))
(entry repeated ((n : int64)) (iterate n (+ 1) 7))
(entry sliced ((b : int64) (s : int64) (e : int64) (xs : vector int)) (slice b s e xs))
(entry rotated ((k : int64) (xs : vector int)) (rotate k xs))
(entry element ((i : int64) (xs : vector int)) (xs ! i))
(entry updated ((i : int64) (xs : vector int)) (update xs i 9))
(entry gathered ((is : vector int64) (xs : vector int)) (gather is xs))
(entry permuted ((is : vector int64) (xs : vector int)) (permute is xs))
(entry scattered ((is : vector int64) (xs : vector int)) (scatter xs is xs))
(entry rows_of ((n : int64) (xs : vector int)) ((length (rows (split n xs))) : int64))
(entry unflattened ((ls : vector int64) (xs : vector int)) (length (unflatten ls xs)))
(entry matrix_sum ((m : vector#2 int)) (reduce + 0 (flatten m)))
(entry matrix_more ((m : vector#2 int)) (flatten (transpose (unrows (map (map (+ 1)) (rows m))))))
(entry matrix_shape ((m : vector#2 int)) (shape (transpose m)))
(entry matrix_sums ((m : vector#2 int)) (map (reduce + 0) (rows m)))
";

/// An entry, its inputs as text, and its allowed outcomes: a value as text, or the word of an
/// error. Where there are several, a value that is computed without its memory need not fail for
/// lack of it.
type Case = (&'static str, Vec<String>, &'static [&'static str]);

fn case(entry: &'static str, numbers: &[i64], gives: &'static [&'static str]) -> Case {
    let inputs = numbers.iter().map(i64::to_string).collect();
    (entry, inputs, gives)
}

/// Returns the case with vectors after the numbers.
fn with(mut case: Case, vectors: &[&str]) -> Case {
    case.1.extend(vectors.iter().map(|v| v.to_string()));
    case
}

fn ranges() -> Vec<Case> {
    let mut cases = Vec::new();
    for [a, s, b] in [
        [0, 1, MAX],
        [MIN, 1, MAX],
        [MIN, 1, 0],
        [MAX, -1, MIN],
        [MIN, 3, MAX],
    ] {
        for entry in [
            "range_length",
            "range_sum",
            "range_kept",
            "range_scan",
            "range_filter",
        ] {
            cases.push(case(entry, &[a, s, b], &["memory"]));
        }
    }
    cases.extend([
        case("range_length", &[MIN, MAX, MAX], &["3"]),
        case("range_sum", &[MIN, MAX, MAX], &["-3"]),
        case("range_length", &[0, MAX, MAX], &["1"]),
        case("range_length", &[0, MIN, MIN], &["1"]),
        case("range_length", &[MAX, 1, MAX], &["0"]),
        case("range_length", &[MIN, 1, MIN], &["0"]),
        case("range_sum", &[0, HALF, MAX], &["4611686018427387904"]),
        case("range_sum", &[MAX, 1, MIN], &["0"]),
        case("range_length", &[MAX, MIN, MIN], &["2"]),
        case("range_length", &[MIN, 0, MAX], &["step"]),
        case("numbers", &[MAX], &["memory"]),
        case("numbers", &[MIN], &["0"]),
    ]);
    let unsigned = |entry, numbers: [u64; 3], gives: &'static [&'static str]| -> Case {
        let inputs = numbers.iter().map(u64::to_string).collect();
        (entry, inputs, gives)
    };
    cases.extend([
        unsigned("unsigned_length", [0, 1, u64::MAX], &["memory"]),
        unsigned("unsigned_sum", [0, 1, u64::MAX], &["memory"]),
        unsigned("unsigned_sum", [5, 1, 1 << 63], &["memory"]),
        unsigned("unsigned_length", [0, 1 << 63, u64::MAX], &["2"]),
        unsigned(
            "unsigned_sum",
            [0, 1 << 63, u64::MAX],
            &["9223372036854775808"],
        ),
        unsigned("unsigned_length", [u64::MAX, 1, 0], &["0"]),
        unsigned("unsigned_length", [u64::MAX - 2, 1, u64::MAX], &["2"]),
    ]);
    cases
}

fn lengths() -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in ["replicated", "replicated_length", "tabulated"] {
        cases.extend([
            case(entry, &[MAX], &["memory"]),
            case(entry, &[HALF], &["memory"]),
            case(entry, &[(1 << 48) + 1], &["memory"]),
            case(entry, &[-1], &["negative"]),
            case(entry, &[MIN], &["negative"]),
            case(entry, &[0], &["0"]),
        ]);
    }
    for entry in ["table_shape", "table_sum", "table_kept"] {
        for [n, m] in [
            [MAX, 0],
            [0, MAX],
            [1 << 32, 1 << 32],
            [MAX, MAX],
            [1 << 31, 1 << 31],
        ] {
            cases.push(case(entry, &[n, m], &["memory"]));
        }
        for [n, m] in [[-1, 0], [0, -1], [MIN, MIN], [MAX, MIN], [-1, MAX]] {
            cases.push(case(entry, &[n, m], &["negative"]));
        }
    }
    cases.extend([
        case("table_shape", &[ROWS, 0], &["overflow"]),
        case("table_shape", &[0, ROWS], &["overflow"]),
        case("table_sum", &[ROWS, 0], &["0"]),
        case("table_sum", &[0, ROWS], &["0"]),
        case("table_kept", &[ROWS, 0], &["[]"]),
        case("cube_sum", &[ROWS, 0, ROWS], &["0"]),
        case("cube_sum", &[ROWS, ROWS, 0], &["0"]),
        case("cube_sum", &[0, ROWS, ROWS], &["0"]),
        case("cube_sum", &[MAX, 0, 1], &["memory"]),
        case("cube_sum", &[ROWS, ROWS, ROWS], &["memory"]),
        case("cube_sum", &[ROWS, ROWS, -1], &["negative"]),
        case("repeated", &[MIN], &["7"]),
        case("repeated", &[-1], &["7"]),
    ]);
    let reshaped = |n, m, xs, gives| with(case("reshaped", &[n, m], gives), &[xs]);
    cases.extend([
        reshaped(ROWS, 0, "[]", &["overflow"]),
        reshaped(MAX, 0, "[]", &["memory"]),
        reshaped(0, MAX, "[]", &["memory"]),
        reshaped(MAX, 2, "[]", &["shape"]),
        reshaped(1 << 32, 1 << 32, "[]", &["shape"]),
        reshaped(1 << 33, 1 << 31, "[1 2]", &["shape"]),
        reshaped(MAX, 0, "[1 2]", &["shape"]),
        reshaped(MIN, 0, "[]", &["negative"]),
    ]);
    let bins = |n, gives| with(case("bins", &[n], gives), &["[0 1]", "[5 6]"]);
    cases.extend([
        bins(MAX, &["memory"]),
        bins(HALF, &["memory"]),
        bins(MIN, &["negative"]),
        bins(0, &["0"]),
    ]);
    let rows_of = |n, gives| with(case("rows_of", &[n], gives), &["[1 2 3]"]);
    cases.extend([
        rows_of(MAX, &["split"]),
        rows_of(MIN, &["split"]),
        rows_of(3, &["1"]),
    ]);
    for (lengths, gives) in [
        ("[9223372036854775807 9223372036854775807 5]", &["length"]),
        ("[9223372036854775807 1]", &["length"]),
        ("[-9223372036854775808 3]", &["negative"]),
    ] {
        cases.push(with(case("unflattened", &[], gives), &[lengths, "[1 2 3]"]));
    }
    cases
}

fn indices() -> Vec<Case> {
    const XS: &str = "[1 2 3 4]";
    let sliced = |b, s, e, gives| with(case("sliced", &[b, s, e], gives), &[XS]);
    let at = |entry, k, gives| with(case(entry, &[k], gives), &[XS]);
    let by = |entry, list, gives| with(case(entry, &[], gives), &[list, XS]);
    const EDGES: &str = "[-9223372036854775808 0 9223372036854775807 1]";
    vec![
        sliced(0, MAX, MAX, &["[1]"]),
        sliced(0, MIN, MIN, &["[1]"]),
        sliced(2, MIN, MIN, &["index"]),
        sliced(3, -MAX, MIN, &["index"]),
        sliced(0, 1, MAX, &["index"]),
        sliced(3, -1, MIN, &["index"]),
        sliced(MIN, 1, MIN, &["[]"]),
        sliced(MAX, 1, MAX, &["[]"]),
        sliced(MAX, -1, MIN, &["index"]),
        sliced(MIN, MAX, MAX, &["index"]),
        sliced(0, HALF, MAX, &["index"]),
        sliced(1, MAX, MIN, &["[]"]),
        sliced(0, 0, MAX, &["step"]),
        at("rotated", MAX, &["[4 1 2 3]"]),
        at("rotated", MIN, &["[1 2 3 4]"]),
        at("rotated", MIN + 1, &["[2 3 4 1]"]),
        at("element", MAX, &["index"]),
        at("element", MIN, &["index"]),
        at("updated", MAX, &["index"]),
        at("updated", MIN, &["index"]),
        by("gathered", EDGES, &["index"]),
        by("permuted", EDGES, &["permutation"]),
        by("scattered", EDGES, &["[2 4 3 4]"]),
        by("skipped", EDGES, &["[2 4 0]"]),
    ]
}

/// Returns calls with an array without elements.
fn matrices() -> Vec<(&'static str, [i64; 2], &'static [&'static str])> {
    vec![
        ("matrix_sum", [ROWS, 0], &["0"]),
        ("matrix_sum", [0, ROWS], &["0"]),
        ("matrix_shape", [ROWS, 0], &["overflow"]),
        ("matrix_shape", [0, ROWS], &["overflow"]),
        ("matrix_more", [0, ROWS], &["[]"]),
        ("matrix_more", [ROWS, 0], &["[]", "memory"]),
        ("matrix_sums", [ROWS, 0], &["memory"]),
        ("matrix_sums", [0, ROWS], &["[]"]),
        ("matrix_sum", [MAX, 0], &["argument"]),
        ("matrix_sums", [MAX, 0], &["argument"]),
        ("matrix_shape", [0, MAX], &["argument"]),
        ("matrix_more", [MAX, 0], &["argument"]),
        ("matrix_sum", [-1, 0], &["argument"]),
        ("matrix_sum", [0, MIN], &["argument"]),
    ]
}

/// Returns the outcome of a call, as a word or a value in text.
fn text(program: &Program, entry: usize, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Value(value) => {
            let ty = &program.expression(program.entries[entry].body).ty;
            nova_core::text::print_value(value, ty, &program.sums)
        }
        Outcome::Error(error) => error.kind.info().word.to_string(),
        Outcome::Internal(text) if text.starts_with("code 4:") => "argument".to_string(),
        Outcome::Internal(text) => text.clone(),
    }
}

/// An entry's number and inputs, and its allowed outcomes.
type Call = (usize, Vec<Value>, &'static [&'static str]);

fn calls(core: &Program) -> Vec<Call> {
    let number = |name: &str| {
        let entry = core.entries.iter().position(|entry| &*entry.name == name);
        entry.unwrap_or_else(|| panic!("no entry {name}"))
    };
    let mut calls = Vec::new();
    for (name, texts, gives) in ranges().into_iter().chain(lengths()).chain(indices()) {
        let entry = number(name);
        calls.push((entry, inputs::read(core, entry, &texts), gives));
    }
    for (name, extents, gives) in matrices() {
        let extents = extents.map(|e| e as usize);
        let none = Elements::new(&nova_core::Type::Scalar(Scalar::I32));
        calls.push((
            number(name),
            vec![Value::Array(Arc::new(extents.to_vec()), none)],
            gives,
        ));
    }
    calls
}

/// Runs all calls with some passes. The second time, when kernels are built, each must end within a
/// second.
fn check(passes: Passes) {
    if !passes.is_present() {
        return;
    }
    let how = How::strict(passes);
    let stages = Stages::compile("limits", PROGRAM, how).expect("it compiles");
    let calls = calls(&stages.core);
    assert!(calls.len() > 100, "{} calls", calls.len());
    let (send, receive) = mpsc::channel();
    // A call that does not end must not prevent the test from failing.
    std::thread::spawn(move || {
        let loaded = Loaded::new("limits", &stages, 0).expect("it loads");
        for (entry, inputs, gives) in calls {
            let what = &stages.core.entries[entry].name;
            let what = format!("{} {what} {inputs:?}", passes.name());
            let _ = send.send((what.clone(), None));
            loaded.call(entry, &inputs);
            let begin = Instant::now();
            let outcome = loaded.call(entry, &inputs);
            let seconds = begin.elapsed().as_secs_f64();
            let given = text(&stages.core, entry, &outcome);
            let wrong = match gives.contains(&given.as_str()) {
                true if seconds <= 1.0 => String::new(),
                true => format!("{what}: {seconds} s"),
                false => format!("{what}: {given}, not {gives:?}"),
            };
            let _ = send.send((what, Some(wrong)));
        }
    });
    let (mut last, mut wrong) = (String::new(), Vec::new());
    loop {
        match receive.recv_timeout(Duration::from_secs(60)) {
            Ok((what, None)) => last = what,
            Ok((_, Some(text))) => wrong.extend(Some(text).filter(|text| !text.is_empty())),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                wrong.push(format!("{last} does not end"));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_interpreter_agrees() {
    let core = nova_tests::stages::check("limits", PROGRAM).expect("a program");
    let options = nova_core::interpret::Options::default();
    for (entry, inputs, gives) in calls(&core) {
        // Arguments that only the ABI of C refuses are no values of the interpreter.
        if gives == ["argument"] {
            continue;
        }
        let outcome = nova_core::interpret::evaluate(&core, entry, &inputs, &options).into();
        let given = text(&core, entry, &outcome);
        let name = &core.entries[entry].name;
        // Rows of an array are a vector, for which there is no memory here.
        let rows = name.starts_with("matrix") && given == "memory";
        assert!(
            rows || gives.contains(&given.as_str()),
            "{name} {inputs:?}: {given}, not {gives:?}"
        );
    }
}

#[test]
fn sequential_code() {
    check(Passes::Level(0));
    check(Passes::Level(2));
}

#[test]
fn threads() {
    check(Passes::Threads(0));
    check(Passes::Threads(2));
    check(Passes::Parallelised);
}

#[test]
fn opencl() {
    check(Passes::Kernels(0));
    check(Passes::Kernels(2));
}

#[test]
fn cuda() {
    check(Passes::Cuda(0));
    check(Passes::Cuda(2));
}
