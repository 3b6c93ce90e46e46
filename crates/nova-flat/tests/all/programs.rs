//! Runs the programs under `programs/`. Each has its expected values in comments at its top: `; test
//! INPUT | INPUT => VALUE`, `=> error WORD`, or `=> internal` for a program that lacks a check.

use crate::support::{agrees, inputs_of, outcome, programs, read, test_lines};
use nova_core::interpret::Options;
use nova_flat::interpret::evaluate;
use nova_flat::print::print;

#[test]
fn programs_have_their_expected_values() {
    let mut count = 0;
    for (name, text) in programs("tests/programs") {
        let program = read(&name, &text);
        let printed = print(&program);
        assert_eq!(print(&read(&name, &printed)), printed, "{name}");
        for (left, expected) in test_lines(&text) {
            let inputs = inputs_of(&program, left);
            let found = evaluate(&program, 0, &inputs, &Options::default());
            let found = outcome(&program, found);
            assert!(agrees(&found, expected), "{name}: {left} => {found}");
            count += 1;
        }
    }
    assert!(count > 40);
}
