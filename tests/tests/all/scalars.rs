//! Every operation on scalars, with literals and variables from the edges of their types on either
//! side, by every target against the interpreter.

use nova_tests::scalars::{Way, tables};
use nova_tests::stages::Passes;

const fn way(passes: Passes, optimization: u8, every: usize) -> Way {
    Way {
        passes,
        optimization,
        every,
    }
}

/// The ways of all targets; a call of a kernel that fails takes longer than one of a function.
const WAYS: &[Way] = &[
    way(Passes::Level(0), 0, 1),
    way(Passes::Level(2), 2, 4),
    way(Passes::Threads(2), 0, 20),
    way(Passes::Kernels(2), 0, 100),
    way(Passes::Cuda(2), 0, 100),
];

/// Compares the tables of the types whose names begin so.
#[track_caller]
fn agree(prefixes: &[&str]) {
    let of_types = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let (mut wrong, mut count) = (Vec::new(), 0);
    for table in tables().iter().filter(|table| of_types(&table.name)) {
        match table.check(WAYS) {
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
