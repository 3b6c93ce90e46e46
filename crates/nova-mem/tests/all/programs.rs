//! The programs of Flat's tests with memory have the same values on the heap, erase to the same
//! program, and print the same text after parsing.

use crate::support::{agrees, inputs_of, outcome, programs, read, test_lines};
use nova_core::interpret::Options;
use nova_flat::print::print;
use nova_mem::interpret::evaluate;
use nova_mem::{erase, introduce, verify};

/// Calls `check` on the name and text of every program.
fn each_program(check: impl Fn(&str, &str)) {
    let programs = programs("../nova-flat/tests/programs");
    assert!(programs.len() > 20);
    for (name, text) in programs {
        check(&name, &text);
    }
}

#[test]
fn values_on_the_heap_are_those_of_flat() {
    each_program(|name, text| {
        let mem = introduce(&read(name, text));
        for (left, expected) in test_lines(text) {
            let found = evaluate(&mem, 0, &inputs_of(&mem, left), &Options::default());
            let found = outcome(&mem, found);
            let same = agrees(&found, expected);
            assert!(same, "{name}: {left} => {found}\n{}", print(&mem));
        }
    });
}

#[test]
fn memory_is_verified_and_read_back() {
    each_program(|name, text| {
        let mem = introduce(&read(name, text));
        let text = print(&mem);
        verify(&mem).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        let again = read(name, &text);
        assert_eq!(print(&again), text, "{name}");
        verify(&again).unwrap_or_else(|error| panic!("{name} read back: {error}"));
    });
}

#[test]
fn erasing_gives_flat_back() {
    each_program(|name, text| {
        let flat = read(name, text);
        let erased = erase(&introduce(&flat));
        assert_eq!(print(&erased), print(&flat), "{name}");
        nova_flat::verify::verify(&erased).unwrap_or_else(|error| panic!("{name}: {error}"));
    });
}
