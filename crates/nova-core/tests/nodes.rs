//! Tables of random data of random recursive types, with shared nodes.

#[path = "support/random_nodes.rs"]
mod random_nodes;

use nova_core::ErrorKind;
use nova_core::error::Failure;
use nova_core::interpret::{Options, evaluate};
use nova_core::text::{print_value, read_value};
use nova_core::{ScalarValue, SumId, Type, Value};
use random_nodes::Random;
use std::collections::BTreeMap;

#[test]
fn the_datum_of_a_table_is_the_same() {
    let data = Type::Sum(SumId(0));
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let program = random.program();
        let run = |entry, inputs: &[Value]| {
            evaluate(&program, entry, inputs, &Options::default())
                .unwrap_or_else(|error| panic!("{error}, seed {seed}"))
        };
        let root = random.root(40);
        assert!(root.conforms(&data, &program.sums));
        let tables = run(0, std::slice::from_ref(&root));
        assert!(
            tables.conforms(&random.tables_type(), &program.sums),
            "seed {seed}"
        );
        let first = Value::Scalar(ScalarValue::I32(0));
        let made = run(1, &[first, tables.clone()]);
        assert!(made.same(&root), "seed {seed}");
        assert!(made.conforms(&data, &program.sums));
        assert!(
            run(2, std::slice::from_ref(&root)).same(&root),
            "seed {seed}"
        );
        assert!(run(0, &[made]).same(&tables), "seed {seed}");
    }
}

#[test]
fn printed_data_read_back() {
    let data = Type::Sum(SumId(0));
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let root = random.root(6);
        let printed = print_value(&root, &data, &random.sums);
        let read = read_value(&printed, &data, &random.sums);
        let read = read.unwrap_or_else(|error| panic!("{error}, seed {seed}"));
        assert!(read.conforms(&data, &random.sums), "seed {seed}");
        assert_eq!(print_value(&read, &data, &random.sums), printed);
        // The rows of an array without rows do not show how long they are.
        assert!(read.same(&root) || printed.contains("[]"), "seed {seed}");
    }
}

#[test]
fn wrong_tables_have_a_wrong_link_or_a_cycle() {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let program = random.program();
        let tables = random.tables(seed as usize % 20);
        assert!(tables.conforms(&random.tables_type(), &program.sums));
        let first = Value::Scalar(ScalarValue::I32(0));
        let word = match evaluate(&program, 1, &[first, tables], &Options::default()) {
            Ok(_) => "none",
            Err(Failure::Runtime(error)) => {
                assert!([ErrorKind::Link, ErrorKind::Cycle].contains(&error.kind));
                error.kind.info().word
            }
            Err(Failure::Internal(error)) => panic!("{error}"),
        };
        *found.entry(word).or_default() += 1;
    }
    assert!(
        found.len() == 3 && found.values().all(|count| *count > 20),
        "{found:?}"
    );
}
