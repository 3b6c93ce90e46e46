//! Tests of the text form: printed text parses to a program that prints the same text.

use nova_diag::SourceMap;
use nova_flat::parse::parse;
use nova_flat::print::print;

/// One program with every form.
const EVERYTHING: &str = include_str!("../everything.flat");

fn read(text: &str) -> Result<nova_flat::ir::Program, String> {
    let mut sources = SourceMap::new();
    let file = sources.add("test.flat", text);
    parse(text, file).map_err(|errors| {
        let messages: Vec<String> = errors.iter().map(|e| e.message.clone()).collect();
        messages.join("; ")
    })
}

#[test]
fn print_and_parse_are_inverse() {
    let program = read(EVERYTHING).unwrap();
    let text = print(&program);
    let again = print(&read(&text).unwrap());
    assert_eq!(text, again);
}

#[test]
fn every_word_of_the_example_survives() {
    let text = print(&read(EVERYTHING).unwrap());
    let lines = EVERYTHING.split_once("\n").unwrap().1;
    for word in lines.split([' ', '\n', '(', ')', '[', ']']) {
        let plain = !word.contains([':', '_', '"']) && word.chars().all(|c| c.is_ascii_lowercase());
        if plain && word.len() > 3 {
            assert!(text.contains(word), "{word} is lost");
        }
    }
}

#[test]
fn numbers_survive() {
    let text = "(program (function \"f\" [x_7:i64] [y_3:i64] (do (in x_7))))";
    let text = print(&read(text).unwrap());
    assert!(
        text.contains("[x_7:i64]") && text.contains("[y_3:i64]"),
        "{text}"
    );
}

#[test]
fn constants_survive_to_the_bit() {
    let constants = "0 -5 127i8 -128i8 3i16 -7i32 255u8 65535u16 9u32 18446744073709551615u64 \
         1.5f -0.0f 1e-45f nan.f32 inf.f32 -inf.f32 0.1L 1e300L nan.f64 inf.f64 -inf.f64 true false";
    let text = format!("(program (function \"f\" [] [] (do (in {constants}))))");
    let printed = print(&read(&text).unwrap());
    assert!(printed.contains(&format!("(in {constants})")), "{printed}");
}

#[test]
fn errors_say_what_is_expected() {
    let function = |body: &str| format!("(program (function \"f\" [] [] {body}))");
    for (text, message) in [
        ("".to_string(), "there is no program"),
        ("(program) (program)".to_string(), "only one program"),
        ("(program (functoin))".to_string(), "a section is one of"),
        (
            function("(do (let [x] (atom 1)) (in))"),
            "bound with its type",
        ),
        (
            function("(do (let [x:i65] (atom 1)) (in))"),
            "a scalar type",
        ),
        (
            function("(do (let [x:i64] (atomm 1)) (in))"),
            "`atomm` is no expression",
        ),
        (
            function("(do (let [x:i64] (atom 1 2)) (in))"),
            "takes 1 items, here are 2",
        ),
        (
            function("(do (let [x:f32] (atom 1.5)) (in))"),
            "needs `f` or `L`",
        ),
        (function("(do (in x))"), "bound nowhere"),
        (
            function("(do (let [x:i64] (call \"g\" [])) (in))"),
            "no function of this name",
        ),
        (function("(do)"), "ends with `(in …)`"),
        (
            function("(do (let [] (check true bad [])) (in))"),
            "the word of a run-time error",
        ),
    ] {
        match read(&text) {
            Ok(_) => panic!("accepted: {text}"),
            Err(error) => assert!(error.contains(message), "{text}: {error}"),
        }
    }
}

#[test]
fn deep_programs_are_fine() {
    let depth = 20_000;
    let mut text = String::from("(program (function \"f\" [c:bool] [] ");
    for _ in 0..depth {
        text.push_str("(do (let [] (if c ");
    }
    text.push_str("(do (in))");
    for _ in 0..depth {
        text.push_str(" (do (in)))) (in))");
    }
    text.push_str("))");
    let program = read(&text).unwrap();
    let copy = program.clone();
    assert_eq!(print(&program), print(&copy));
}
