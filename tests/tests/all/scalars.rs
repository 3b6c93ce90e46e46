//! Tests of every operation on scalars, with literals and variables near the limits of their types
//! on either side, by every target against the interpreter.

use nova_tests::effort;
use nova_tests::scalars::{Way, tables};
use nova_tests::stages::{How, Loaded, Passes, SMALL_TILES, Stages};

const fn way(passes: Passes, optimization: u8, every: usize) -> Way {
    Way {
        passes,
        optimization,
        every,
    }
}

/// The ways of all targets. A failing call of a kernel takes longer than one of a function.
const WAYS: &[Way] = &[
    way(Passes::Level(0), 0, 1),
    way(Passes::Level(2), 2, 4),
    way(Passes::Threads(2), 0, 20),
    way(Passes::Kernels(2), 0, 100),
    way(Passes::Cuda(2), 0, 100),
];

/// True if the table with this number is compiled in the way with this number. Threads run the same C as
/// sequential code, so they compile a third of the tables. The emulation of CUDA takes long to compile, so it
/// compiles half of them. For each change, a table is compiled in the first way and one other, which are not
/// those of the tables beside it.
fn is_tried(way: usize, table: usize) -> bool {
    if !effort::all() {
        return way == 0 || way == 1 + (table + table / 4) % (WAYS.len() - 1);
    }
    match WAYS[way].passes {
        Passes::Threads(_) => table.is_multiple_of(3),
        Passes::Cuda(_) => (table + table / 2).is_multiple_of(2),
        _ => true,
    }
}

/// Compares the tables of the types whose names begin with these.
#[track_caller]
fn agree(prefixes: &[&str]) {
    let of_types = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let (mut wrong, mut count) = (Vec::new(), 0);
    let tables = tables();
    let numbered = tables.iter().enumerate();
    for (number, table) in numbered.filter(|(_, table)| of_types(&table.name)) {
        let ways = (0..WAYS.len()).filter(|way| is_tried(*way, number));
        let ways: Vec<Way> = ways.map(|way| WAYS[way]).collect();
        match table.check(&ways) {
            Ok(compared) => count += compared,
            Err(text) => wrong.push(text),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 1_000, "{count} comparisons");
}

#[test]
fn integers_with_a_sign() {
    agree(&["int8_", "int16_", "int_", "int64_"]);
}

#[test]
fn integers_without_a_sign() {
    agree(&["uint"]);
}

#[test]
fn floats_and_truths() {
    agree(&["float", "double", "bool"]);
}

/// Integers: their types, the suffixes of their literals, and their widths.
const INTEGERS: [(&str, &str, u32); 8] = [
    ("int8", "i8", 8),
    ("int16", "i16", 16),
    ("int", "i32", 32),
    ("int64", "i64", 64),
    ("uint8", "u8", 8),
    ("uint16", "u16", 16),
    ("uint32", "u32", 32),
    ("uint64", "u64", 64),
];

/// Returns entries that fold this many numbers, and compare the results with the start values and
/// with others.
fn folds(ty: &str, suffix: &str, bits: u32, length: usize) -> String {
    let (low, high) = match ty.starts_with('u') {
        true => (0, i128::MAX >> (127 - bits)),
        false => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    };
    let mut entries = String::new();
    for (k, start) in [low + 3, high - 2, 3].into_iter().enumerate() {
        for (name, operation) in [("add", "+"), ("less", "-"), ("times", "*")] {
            entries += &format!(
                "(entry {ty}_{name}_{k} ((n : int))
                   (let (r (foldl (lambda (a x) ({operation} a x)) {start}{suffix}
                     (map (lambda (k) (wrap_{ty} (+ n (* k 7919)))) (range {length}))))
                   in (r, (<= r 4{suffix}), (> r {start}{suffix}), (= 0{suffix} (% r 3{suffix})))))\n"
            );
        }
    }
    entries
}

/// Compilers of C that vectorise a loop must not conclude from its accumulator's type that nothing
/// wraps.
#[test]
fn accumulators_wrap_before_they_are_compared() {
    // A whole number of vectors of lanes.
    let of_type = |(ty, suffix, bits): &(&str, &str, u32)| folds(ty, suffix, *bits, 64);
    let text: String = INTEGERS.iter().map(of_type).collect();
    for (passes, optimization) in [(0, 2), (3, 3)] {
        let how = How {
            strict: true,
            passes: Passes::Level(passes),
            verify: false,
            defect: None,
            tiles: SMALL_TILES,
        };
        let stages = Stages::compile("folds", &text, how).expect("a program");
        let loaded = Loaded::new("folds", &stages, optimization).expect("a library");
        for (entry, of) in stages.core.entries.iter().enumerate() {
            let values = nova_tests::inputs::read(&stages.core, entry, &["1"]);
            let expected = stages.reference(entry, &values);
            let given = loaded.call(entry, &values);
            assert!(
                given.same(&expected),
                "{}, -O{passes}, C at -O{optimization}: {given}, not {expected}",
                of.name
            );
        }
    }
}
