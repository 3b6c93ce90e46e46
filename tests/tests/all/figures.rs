//! Numbers that choose between forms of code stand in nova-machine, and bounds of the size of code in `limits.rs`.
//! Other constants of the crates of passes say what something is.

use std::path::{Path, PathBuf};

/// The crates whose code chooses between forms of code.
const CRATES: [&str; 9] = [
    "nova-opt",
    "nova-schedule",
    "nova-iterate",
    "nova-mem",
    "nova-expand",
    "nova-loop-opt",
    "nova-reclaim",
    "nova-kernels",
    "nova-c-ast",
];

/// Numbers that say what something is: bits of a word, limits of arithmetic, promises of the language, and effort
/// of the compiler that no limit of code bounds.
const DEFINITIONS: [&str; 32] = [
    "nova-opt: DEEPEST",
    "nova-opt: LARGEST_CONSTANT",
    "nova-opt: TOTAL",
    "nova-schedule: BEYOND_MEMORY",
    "nova-schedule: CAPPED_EXTENT",
    "nova-schedule: DIGITS",
    "nova-schedule: HEAVIEST",
    "nova-schedule: LIMIT",
    "nova-schedule: LIMITS",
    "nova-schedule: MOST_POSITIONS",
    "nova-schedule: NAN",
    "nova-schedule: NEGATIVE_ZERO",
    "nova-schedule: ONES",
    "nova-schedule: PACKED",
    "nova-schedule: ROWS",
    "nova-schedule: SAFE_EXTENTS",
    "nova-schedule: SAFE_NARROW_EXTENT",
    "nova-schedule: SAMPLES",
    "nova-schedule: STEPS",
    "nova-schedule: WIDEST",
    "nova-schedule: WIDTH",
    "nova-mem: DEEPEST_SIZE",
    "nova-mem: NO_ARRAY",
    "nova-expand: BUCKETS",
    "nova-expand: HEIGHTS",
    "nova-kernels: CALL_DEPTH",
    "nova-kernels: FIRST_FRAMES",
    "nova-kernels: RETURN",
    "nova-c-ast: LIMIT",
    "nova-c-ast: ONE_LINE",
    "nova-c-ast: PIECE",
    "nova-c-ast: WIDTH",
];

/// Returns the files of Rust in a folder and the folders inside, but for limits.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && !path.ends_with("limits.rs")
        {
            found.push(path);
        }
    }
    found
}

/// Returns the name of the constant that a line defines by a number, if it does. Numbers that stand in the
/// definition of another figure, as in `2 * figures::ROWS.unroll_and_jam`, are part of it.
fn number(line: &str) -> Option<&str> {
    let definition = line.trim_start();
    let definition = definition.strip_prefix("pub").map_or(definition, |rest| {
        let end = rest.find("const").unwrap_or(0);
        &rest[end..]
    });
    let (name, rest) = definition.strip_prefix("const ")?.split_once(':')?;
    let (ty, value) = rest.split_once(" = ")?;
    let numbers = [
        "i32", "i64", "i128", "u8", "u16", "u32", "u64", "usize", "f64",
    ];
    let is_number = numbers.iter().any(|number| ty.contains(number));
    let mut words = value.split(|c: char| !c.is_alphanumeric() && c != '_');
    let has_digit = words.any(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let is_figure = ["figures::", "PROCESSOR", "DEVICE"]
        .iter()
        .any(|table| value.contains(table));
    (is_number && has_digit && !is_figure).then_some(name)
}

#[test]
fn numbers_that_choose_stand_in_the_tables_of_machines() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut found = Vec::new();
    for name in CRATES {
        for file in sources(&crates.join(name).join("src")) {
            let text = std::fs::read_to_string(&file).expect("a file");
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            found.extend(
                code.lines()
                    .filter_map(number)
                    .map(|constant| format!("{name}: {constant}")),
            );
        }
    }
    found.sort();
    found.dedup();
    let others: Vec<&String> = found
        .iter()
        .filter(|c| !DEFINITIONS.contains(&c.as_str()))
        .collect();
    assert!(
        others.is_empty(),
        "these belong into nova-machine: {others:?}"
    );
    let gone: Vec<&&str> = DEFINITIONS
        .iter()
        .filter(|d| !found.iter().any(|c| c == **d))
        .collect();
    assert!(gone.is_empty(), "these are no constants any more: {gone:?}");
}

#[test]
fn numbers_are_told_from_figures() {
    assert_eq!(number("const STRIP: u32 = 128;"), Some("STRIP"));
    assert_eq!(
        number("    pub(super) const FAR: i64 = 1 << 6;"),
        Some("FAR")
    );
    assert_eq!(number("const END: u32 = u32::MAX;"), None);
    assert_eq!(number("const TILE: i64 = BLOCK as i64;"), None);
    assert_eq!(number("pub const A: [i64; 2] = [1, 2];"), Some("A"));
    assert_eq!(number("const STRIP: u32 = figures::STRIPS.split;"), None);
    assert_eq!(number("const LANES: i64 = 2 * PROCESSOR.lanes(4);"), None);
    assert_eq!(number("const NAME: &str = \"i64 1\";"), None);
    assert_eq!(number("pub const fn f(a: i64) -> i64 {"), None);
}
