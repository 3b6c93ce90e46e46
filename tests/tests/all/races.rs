//! Tests of races that are detected when programs run (`--check-races`). Programs of all kinds have
//! none and give the same results as elsewhere, and races that are seeded in programs of Loop are
//! found.

use nova_c::names::LOADED_PREFIX;
use nova_core::value::Elements;
use nova_core::{ScalarValue, Value};
use nova_diag::SourceMap;
use nova_driver::{foreign_symbols, interfaces};
use nova_exec::error::CallError;
use nova_exec::library::{Generated, Library};
use nova_exec::toolchain::CompilerOptions;
use nova_loop::ir::Program;
use nova_tests::random::{self, PRELUDE};
use nova_tests::stages::{How, Loaded, Passes, SMALL_TILES, Stages};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The folder of the seeds, which are those of the tests of the interference checker.
const SEEDS: &str = "../crates/nova-race/tests/races";

/// Seeds that are no races when the program runs, with the reason.
const UNSEEN: [&str; 6] = [
    // The runtime counts references, and its own memory is not traced.
    "counted_outside",
    // Iterations that meet leave their array, too, so that no input is right.
    "factors_of_either_sign",
    // A wrong value, which is the same for every order of threads.
    "place_given_away",
    // The work of threads of a group outside of the loops that they share is traced as one
    // iteration, and each traced group has arrays of its own, also in their places.
    "place_of_each_thread",
    "waits_next_group",
    "written_by_all",
];

/// The arguments of an entry, as the seeds name them.
const INPUTS: [(&str, &str); 10] = [
    ("n", "i64"),
    ("m", "i64"),
    ("l", "i64"),
    ("c", "bool"),
    ("x_length", "i64"),
    ("x", "(pointer i64)"),
    ("xb", "block"),
    ("y_length", "i64"),
    ("y2", "(pointer i64)"),
    ("yb", "block"),
];

/// Returns the functions of a text of Loop, each with the name of the seed before its own name and
/// those of its variables. Arrays have room after them, so that a race that writes too far writes
/// to memory of the program. Local arrays begin with zeros, so that one that reads too early reads an index.
fn functions(name: &str, text: &str) -> String {
    let (_, text) = text.split_once("(program").expect("a program");
    let text = text.trim_end().strip_suffix(')').expect("its end");
    let text = with_zeros(&with_room(text));
    let mut variables: BTreeSet<&str> = names(&text).into_iter().collect();
    let indices = text.split("(for ").skip(1);
    variables.extend(indices.filter_map(|rest| rest.split(' ').next()));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut renamed = String::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_variable = variables.contains(word) && !renamed.ends_with(['(', '"']);
        let is_function = matches!(word, "f" | "g" | "h") && renamed.ends_with('"');
        if is_variable || is_function {
            renamed += &format!("{name}_");
        }
        renamed += word;
        let separators = after.find(is_word).unwrap_or(after.len());
        let (between, others) = after.split_at(separators);
        renamed += between;
        rest = others;
    }
    renamed
}

/// Returns the text with zeros in each local array.
fn with_zeros(text: &str) -> String {
    const LOCAL: &str = "(local ";
    let mut pieces = text.split(LOCAL);
    let mut all = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let (name, rest) = piece.split_once(':').expect("a name and a type");
        let (ty, rest) = rest.split_once(") ").expect("the type of a pointer");
        let (count, rest) = rest.split_once(')').expect("a number of elements");
        all += &format!(
            "{LOCAL}{name}:{ty}) {count})\n(for {name}_zero {count} sequential (store {name} {name}_zero 0)){rest}"
        );
    }
    all
}

/// Returns the text with room after each result.
fn with_room(text: &str) -> String {
    const ALLOCATION: &str = "(allocate tb t i64 ";
    let mut pieces = text.split(ALLOCATION);
    let mut all = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let mut depth = 0;
        let end = piece.find(|c| {
            depth += i64::from(c == '(') - i64::from(c == ')');
            depth < 0
        });
        let (length, rest) = piece.split_at(end.expect("the end of a command"));
        all += &format!("{ALLOCATION}(add i64 8192 {length}){rest}");
    }
    all
}

/// Returns the names between brackets, without their types.
fn names(list: &str) -> Vec<&str> {
    list.split(['[', ']', '(', ' ', '\n'])
        .filter_map(|word| word.split_once(':'))
        .map(|(name, _)| name)
        .collect()
}

/// Returns an entry that calls the first function of a seed and releases its results.
fn entry(name: &str, text: &str) -> String {
    let mut lists = text.split('[').skip(1).map(|rest| rest.split(']').next());
    let mut next = || names(lists.next().flatten().unwrap_or_default());
    let (parameters, results) = (next(), next());
    // Names of variables are unique in a program. One seed needs two inputs that are the same
    // array.
    let own = |variable: &str| match variable {
        "y" if name.starts_with("input_written") => format!("{name}_own_x"),
        "y" => format!("{name}_own_y2"),
        other => format!("{name}_own_{other}"),
    };
    let all = |variables: &[&str]| {
        let variables: Vec<String> = variables.iter().map(|v| own(v)).collect();
        variables.join(" ")
    };
    let mut text = format!(
        "(entry \"{name}\" [(\"n\" i64) (\"m\" i64) (\"l\" i64) (\"c\" bool) (\"X\" (vector i64)) \
         (\"Y\" (vector i64))] i64 \"{name}_run\")\n(function \"{name}_run\" ["
    );
    for (variable, ty) in INPUTS {
        text += &format!("{}:{ty} ", own(variable));
    }
    text += &format!("] [{}:i64]\n", own("value"));
    for result in results.chunks(2) {
        for (variable, ty) in result.iter().zip(["(pointer i64)", "block"]) {
            text += &format!("(declare {}:{ty}) ", own(variable));
        }
    }
    text += &format!(
        "(call \"{name}_f\" [{}] [{}]) (set {} 0)",
        all(&parameters),
        all(&results),
        own("value")
    );
    for block in results.iter().skip(1).step_by(2) {
        text += &format!(" (release {})", own(block));
    }
    text + ")\n"
}

fn parse(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("seeds", text);
    nova_loop::parse::parse(text, file).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// Compiles and loads a program of Loop that traces.
fn load(name: &str, program: &Program) -> Library {
    let options = nova_driver::Options {
        check_races: true,
        prefix: LOADED_PREFIX.to_string(),
        ..nova_driver::Options::default()
    };
    let files = nova_driver::pipeline::write(program, name, &options).expect("its C");
    let generated = Generated {
        name,
        header: &files.header,
        source: &files.source,
        entries: interfaces(program, LOADED_PREFIX),
        foreigns: foreign_symbols(program, nova_driver::Target::Sequential),
        sums: &program.sums,
    };
    let options = CompilerOptions {
        optimization: 0,
        strict: false,
        libraries: &[],
        device: None,
    };
    Library::load_with(&generated, options, &[], None).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Returns the message of a race, if a call finds one.
fn race(library: &Library, entry: usize, inputs: &[Value]) -> Option<String> {
    match library.call(entry, inputs) {
        Err(CallError::Failed { code: 5, message }) => Some(message),
        Ok(_) | Err(_) => None,
    }
}

fn vector(element: impl Fn(i64) -> i64) -> Value {
    let elements: Vec<i64> = (0..8192).map(element).collect();
    Value::Vector(Elements::I64(Arc::new(elements)))
}

fn input(sizes: [i64; 3], c: bool, x: Value, y: Value) -> Vec<Value> {
    let [n, m, l] = sizes.map(|size| Value::Scalar(ScalarValue::I64(size)));
    vec![n, m, l, Value::Scalar(ScalarValue::Bool(c)), x, y]
}

/// Returns inputs of a seed: sizes, and arrays of small numbers. Some seeds have inputs that others
/// cannot take.
fn inputs(name: &str) -> Vec<Vec<Value>> {
    let mut all = Vec::new();
    if name == "sizes_of_either_sign" {
        // It writes rows of this length at any offset.
        for sizes in [[64, -1, -64], [4, 8, 4]] {
            all.push(input(sizes, false, vector(|_| 0), vector(|_| 0)));
        }
        return all;
    }
    for sizes in [[64, 3, 1], [64, 8, 4], [70, 1, 9], [64, 0, 0]] {
        for c in [false, true] {
            let zeros = vector(|_| 0);
            all.push(input(sizes, c, zeros, vector(|i| i64::from(i >= 48))));
            all.push(input(sizes, c, vector(|_| 1), vector(|_| 2)));
            all.push(input(sizes, c, vector(|i| i / 2 % 64), vector(|i| i % 64)));
            let mixed = vector(|i| (i * 37 + 5) % 64);
            all.push(input(sizes, c, mixed, vector(|i| i % 2)));
        }
    }
    let (sizes, x) = match name {
        "bisected_rows" => ([64, 20, 0], vector(|_| 0)),
        "blocks_not_whole" => ([64, 3000, 0], vector(|_| 0)),
        "counts_may_be_negative" | "handed_on_backwards" => {
            ([64, 0, 0], vector(|i| if i % 2 == 0 { 3 } else { -1 }))
        }
        "last_tile_moved" => ([20, 0, 0], vector(|_| 0)),
        "rows_of_blocks" => ([8, 5, 5], vector(|_| 0)),
        _others => return all,
    };
    all.push(input(sizes, false, x, vector(|_| 0)));
    all
}

/// Returns the names of the seeds that can run. Seeds with the arrays of an entry's result or with
/// nodes are left out: node tables belong to the runtime, whose own memory is not traced. One other
/// seed writes after its array, into memory that is not its own.
fn seeds() -> Vec<String> {
    let files = std::fs::read_dir(SEEDS).expect("the folder of seeds");
    let mut names: Vec<String> = files
        .filter_map(|file| {
            let name = file.ok()?.file_name().into_string().ok()?;
            Some(name.strip_suffix(".race.loop")?.to_string())
        })
        .filter(|name| {
            let text = read(name, "race");
            let can_run = name != "places_too_few";
            can_run && !text.contains("allocate_result") && !text.contains("(sum ")
        })
        .collect();
    names.sort();
    names
}

fn read(name: &str, kind: &str) -> String {
    let path = Path::new(SEEDS).join(format!("{name}.{kind}.loop"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"))
}

/// Returns the failures of a traced program: a race, or another outcome than that of the reference
/// interpreter.
fn differences(name: &str, text: &str, passes: Passes, inputs: &[Vec<String>]) -> Vec<String> {
    let how = How {
        strict: true,
        passes,
        verify: false,
        defect: None,
        tiles: SMALL_TILES,
    };
    let stages = match Stages::compile(name, text, how) {
        Ok(stages) => stages.traced(),
        Err(why) => return vec![format!("{name}: {why}")],
    };
    let library = match Loaded::new("traced", &stages, 0) {
        Ok(library) => library,
        Err(why) => return vec![format!("{name}: {why}")],
    };
    let mut found = Vec::new();
    for texts in inputs {
        let values = nova_tests::inputs::read(&stages.core, 0, texts);
        let (expected, got) = (stages.reference(0, &values), library.call(0, &values));
        if !expected.same(&got) {
            let passes = passes.name();
            found.push(format!("{name} ({passes}): {got} instead of {expected}"));
        }
    }
    found
}

/// Seeds of random programs, some of which are maps with strategies.
const RANDOM: [u64; 14] = [1, 2, 3, 5, 7, 11, 13, 37, 40, 69, 70, 101, 133, 165];

#[test]
fn random_programs_have_no_races() {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some(seed) = RANDOM.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let program = random::program(*seed);
                    let text = format!("{PRELUDE}{}", program.entry);
                    for passes in [Passes::Parallelised, Passes::Kernels(2)] {
                        let name = format!("random {seed}");
                        let wrong = differences(&name, &text, passes, &program.inputs);
                        found.lock().expect("no worker panics").extend(wrong);
                    }
                }
            });
        }
    });
    let found = found.into_inner().expect("no worker panics");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Tests that decoupled look-back orders the prefixes that groups propagate.
#[test]
fn groups_with_look_back_have_no_races() {
    let inputs: Vec<Vec<String>> = [0, 1, 2305, 10_000]
        .map(|n| vec![nova_tests::programs::integers(n)])
        .into();
    for (name, text) in [
        (
            "scan",
            "((X : vector int)) (scan + 5 (map (lambda (x) (* x x)) X))",
        ),
        (
            "filter",
            "((X : vector int)) (filter (lambda (x) (~= 0 (% x 3))) X)",
        ),
    ] {
        let found = differences(name, text, Passes::Cuda(2), &inputs);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

#[test]
fn messages_name_both_accesses() {
    let text = "(program
        (entry \"shift\" [(\"X\" (vector i64))] i64 \"shift\")
        (function \"shift\" [n:i64 x:(pointer i64) xb:block] [r:i64]
            (for i n grid \"shift.nova:3:5\"
                (for j 1 sequential \"shift.nova:4:9\" (store x i (load x (add i64 i 1)))))
            (set r 0)))";
    let library = load("shift", &parse(text));
    let elements = |n| Value::Vector(Elements::I64(Arc::new(vec![0; n])));
    assert_eq!(
        race(&library, 0, &[elements(3)]).as_deref(),
        Some(
            "shift.nova:3:5: race: iterations of this parallel loop touch one element: \
             iteration 0 reads x (shift.nova:4:9), iteration 1 writes x (shift.nova:4:9)"
        )
    );
    // A call after a failed one starts anew.
    assert_eq!(race(&library, 0, &[elements(0)]), None);
}

#[test]
fn seeded_races_are_found() {
    let seeds = seeds();
    assert!(seeds.len() >= 60, "{}", seeds.len());
    let mut text = String::from("(program\n");
    for name in &seeds {
        for kind in ["free", "race"] {
            let (name, seed) = (format!("{name}_{kind}"), read(name, kind));
            text += &entry(&name, &seed);
            text += &functions(&name, &seed);
        }
    }
    text += ")";
    let library = load("seeds", &parse(&text));
    let mut unseen = Vec::new();
    for (k, name) in seeds.iter().enumerate() {
        let inputs = inputs(name);
        for input in &inputs {
            let found = race(&library, 2 * k, input);
            assert_eq!(found, None, "{name}: its twin without a race");
        }
        let found = inputs
            .iter()
            .find_map(|input| race(&library, 2 * k + 1, input));
        match found {
            Some(message) => assert!(message.contains(": race: "), "{name}: {message}"),
            None => unseen.push(name.as_str()),
        }
    }
    assert_eq!(unseen, UNSEEN);
}
