//! Helpers shared by the tests of passes.

use nova_core::error::Failure;
use nova_core::interpret::Options;
use nova_core::text::{print_value, read_value};
use nova_diag::SourceMap;
use nova_flat::ir::Program;
use nova_flat::parse::parse;
use nova_flat::print::print;
use nova_mem::{erase, verify};

/// Parses a program of Mem.
pub fn read(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("case", text);
    parse(text, file).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// Returns the text of a program from a vector `x` of `n` elements to a vector.
pub fn function(body: &str, result: &str) -> String {
    let length = extent(body, result);
    format!(
        "(program
          (entry \"main\" [(\"X\" (vector f32))] (vector f32) \"main\")
          (function \"main\" [n:i64 x:[n]f32 @ xb] [len:i64 r:[len]f32 @ rb]
            (do {body} (in {length} {result}))))"
    )
}

/// Returns the extent of a vector bound in a body.
fn extent<'a>(body: &'a str, array: &str) -> &'a str {
    let start = body.find(&format!("{array}:[")).unwrap() + array.len() + 2;
    body[start..].split(']').next().unwrap()
}

/// Returns the value for `[1 2 3]`, on the heap or of the program without memory.
pub fn run(program: &Program, on_heap: bool) -> String {
    run_on("[1 2 3]", program, on_heap)
}

/// Returns the value for an input, on the heap or of the program without memory.
pub fn run_on(input: &str, program: &Program, on_heap: bool) -> String {
    let entry = &program.entries[0];
    let input = read_value(input, &entry.inputs[0].1, &program.sums).unwrap();
    let options = Options::default();
    let result = match on_heap {
        true => nova_mem::interpret::evaluate(program, 0, &[input], &options),
        false => nova_flat::interpret::evaluate(&erase(program), 0, &[input], &options),
    };
    match result {
        Ok(value) => print_value(&value, &entry.result, &program.sums),
        Err(Failure::Runtime(error)) => format!("error {error}"),
        Err(Failure::Internal(error)) => format!("internal: {}", error.message),
    }
}

/// Runs a pass over a program of Mem, and returns the text of the result. The result must be valid, be
/// the same program without memory, and have the same value.
pub fn check_pass(text: &str, pass: impl Fn(&mut Program)) -> String {
    let mut program = read(text);
    verify(&program).unwrap_or_else(|error| panic!("before: {error}\n{text}"));
    let (erased, value) = (print(&erase(&program)), run(&program, false));
    assert_eq!(run(&program, true), value, "before: {text}");
    pass(&mut program);
    let after = print(&program);
    verify(&program).unwrap_or_else(|error| panic!("{error}\n{after}"));
    assert_eq!(print(&erase(&program)), erased);
    assert_eq!(run(&program, true), value, "{after}");
    after
}
