//! Tests of local arrays: their text, and their meaning in the interpreter.

use nova_core::error::Failure;
use nova_core::interpret::Options;
use nova_core::{ScalarValue, Value};
use nova_diag::SourceMap;
use nova_loop::ir::Program;

/// Reads a program, which must be valid and have a text that reads back.
fn read(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("locals", text);
    let program = nova_loop::parse::parse(text, file);
    let program = program.unwrap_or_else(|errors| panic!("{errors:#?}"));
    if let Err(errors) = nova_loop::verify(&program) {
        panic!("{errors:#?}");
    }
    let printed = nova_loop::print::print(&program);
    let file = sources.add("printed", &*printed);
    let again = nova_loop::parse::parse(&printed, file).unwrap();
    assert_eq!(nova_loop::print::print(&again), printed);
    assert!(printed.contains("(local "), "{printed}");
    program
}

/// Returns the value of a program from one `i64` to one, or the text of the failure.
fn value(text: &str, input: i64) -> Result<i64, String> {
    let inputs = [Value::Scalar(ScalarValue::I64(input))];
    match nova_loop::interpret::evaluate(&read(text), 0, &inputs, &Options::default()) {
        Ok(Value::Scalar(ScalarValue::I64(value))) => Ok(value),
        Ok(other) => panic!("{other:?}"),
        Err(Failure::Runtime(error)) => Err(error.kind.info().word.to_string()),
        Err(Failure::Internal(error)) => Err(error.to_string()),
    }
}

fn function(body: &str) -> String {
    format!(
        "(program (entry \"f\" [(\"n\" i64)] i64 \"f\") (function \"f\" [n:i64] [r:i64] {body}))"
    )
}

#[test]
fn elements_have_the_values_that_were_stored() {
    let text = function(
        "(local p:(pointer i64) 4)
         (for i 4 sequential (store p i (mul i64 i n)))
         (set r (add i64 (load p 1) (load p 3)))",
    );
    assert_eq!(value(&text, 5), Ok(20));
}

#[test]
fn invalid_accesses_are_found() {
    let text = function("(local p:(pointer i64) 4) (store p 0 n) (set r (load p 1))");
    assert!(value(&text, 5).is_err());
    let text = function("(local p:(pointer i64) 4) (store p 4 n) (set r n)");
    assert!(value(&text, 5).is_err());
    let text = function("(local p:(pointer i64) 4) (store p -1 n) (set r n)");
    assert!(value(&text, 5).is_err());
}

#[test]
fn each_iteration_of_a_loop_has_its_own() {
    let text = function(
        "(set r 0)
         (for i n sequential
           (local p:(pointer i64) 1)
           (if (eq i64 i 0) (do (store p 0 7)))
           (set r (load p 0)))",
    );
    assert_eq!(value(&text, 1), Ok(7));
    assert!(value(&text, 2).is_err());
}

#[test]
fn each_activation_of_a_recursive_function_has_its_own() {
    // f(n) = n + f(n - 1), the n being read from the local array after the call.
    let text = "(program (entry \"f\" [(\"n\" i64)] i64 \"f\")
      (function \"f\" recursive [n:i64] [r:i64]
        (local p:(pointer i64) 2)
        (store p 1 n)
        (declare below:i64 0)
        (if (gt i64 n 0) (do (call \"f\" [(sub i64 n 1)] [below])))
        (set r (add i64 (load p 1) below))))";
    assert_eq!(value(text, 100), Ok(5050));
}
