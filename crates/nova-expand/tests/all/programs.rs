//! Tests of the whole translation, on programs of Flat, those of this crate and of nova-flat, and of Mem. The
//! verifier accepts the result, its text reads back, and it means the same, with and without strict
//! order.
//!
//! A program has test lines at its top: `; test INPUT | INPUT => VALUE`, or `=> error WORD`. With
//! `=> same` the value is only compared with that of the interpreter of Flat.

use crate::support::{agrees, inputs_of, outcome, programs, read, test_lines};
use nova_core::interpret::Options;
use nova_diag::SourceMap;
use nova_flat::ir::Program;

fn translated(name: &str, mem: &Program, strict: bool) -> nova_loop::ir::Program {
    nova_mem::verify(mem).unwrap_or_else(|e| panic!("{name}: {e}"));
    let translated = nova_expand::translate(mem, strict).unwrap_or_else(|e| panic!("{name}: {e}"));
    let text = nova_loop::print::print(&translated);
    if let Err(errors) = nova_loop::verify(&translated) {
        panic!("{name}: {errors:#?}\n{text}");
    }
    let mut sources = SourceMap::new();
    let file = sources.add(name, &*text);
    let again = nova_loop::parse::parse(&text, file);
    let again = again.unwrap_or_else(|errors| panic!("{name}: {errors:#?}\n{text}"));
    assert_eq!(nova_loop::print::print(&again), text, "{name}");
    assert!(nova_loop::verify(&again).is_ok(), "{name}");
    again
}

fn check_program(name: &str, text: &str, count: &mut usize) {
    let read = read(name, text);
    let has_memory = read.variables.iter().any(|v| v.memory.is_some());
    let (program, mem) = match has_memory {
        true => (nova_mem::erase(&read), read),
        false => {
            let mem = nova_mem::introduce(&read);
            (read, mem)
        }
    };
    nova_flat::verify::verify(&program).unwrap_or_else(|e| panic!("{name}: {e}"));
    for strict in [false, true] {
        let translated = translated(name, &mem, strict);
        let options = Options {
            strict,
            trace: &|_| {},
            ..Options::default()
        };
        for (left, expected) in test_lines(text).filter(|(_, right)| *right != "internal") {
            let values = inputs_of(&program, left);
            let flat = nova_flat::interpret::evaluate(&program, 0, &values, &options);
            let flat = outcome(&program, flat);
            let found = nova_loop::interpret::evaluate(&translated, 0, &values, &options);
            let found = outcome(&program, found);
            let text = nova_loop::print::print(&translated);
            assert_eq!(found, flat, "{name} (strict: {strict}): {left}\n{text}");
            if expected != "same" {
                assert!(agrees(&found, expected), "{name}: {left} => {found}");
            }
            *count += 1;
        }
    }
}

#[test]
fn programs_mean_the_same() {
    let mut count = 0;
    for folder in [
        "tests/programs",
        "tests/memory",
        "../nova-flat/tests/programs",
    ] {
        for (name, text) in programs(folder) {
            check_program(&name, &text, &mut count);
        }
    }
    assert!(count > 100);
}
