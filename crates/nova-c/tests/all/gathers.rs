//! Gathers and their prechecks do the same in C as in the interpreter.

use crate::support::*;
use nova_core::Value;
use nova_core::interpret::Options;
use nova_core::text::{print_value, read_value};
use nova_diag::SourceMap;
use nova_loop::ir::Program;

const X: [f64; 8] = [0.5, -1.5, 2.25, 3.0, 4.75, -5.0, 6.5, 8.0];
const PLACES: usize = 46;

/// A function that combines the elements at sixteen indices, and the indices, into one number. The
/// indices lie at a stride from place `s` on. The function gives -1 if one of them is outside of the
/// array.
fn program(element: &str, index: &str, stride: u32) -> String {
    format!(
        "(program
          (entry \"f\" [(\"x\" (vector {element})) (\"at\" (vector {index})) (\"s\" i64)] f64 \"f\")
          (function \"f\"
            [n:i64 x:(pointer {element}) xb:block m:i64 at:(pointer {index}) ab:block s:i64] [r:f64]
            (set r -1.0L)
            (declare o:bool)
            (gather_precheck o (wrap.u64 i64 n) (offset at s) {index} {stride})
            (if (not bool o)
              (do
                (local y:(pointer {element}) 16)
                (gather_indexed y x {element} (offset at s) {index} {stride})
                (local z:(pointer {index}) 16)
                (gather_strided z (offset at s) {index} {stride})
                (for l 16 sequential
                  (set r (add f64 (mul f64 r 0.5L)
                    (add f64 {y} (convert.f64 {index} (load z l))))))))))",
        y = match element {
            "f64" => "(load y l)".to_string(),
            _ => format!("(convert.f64 {element} (load y l))"),
        }
    )
}

/// Numbers of a type as the elements of a vector.
fn numbers(element: &str) -> Vec<String> {
    let shown = |x: &f64| match element.starts_with('f') {
        true => format!("{x:?}"),
        false => format!("{}", *x as i64),
    };
    X.iter().map(shown).collect()
}

/// Indices of [`X`]. `bad` replaces the index of one lane by another value.
fn indices(stride: u32, bad: Option<(usize, i64)>) -> Vec<String> {
    let mut at: Vec<i64> = (0..PLACES as i64).map(|k| k * 5 % 8).collect();
    if let Some((place, index)) = bad {
        at[place * stride as usize] = index;
    }
    at.iter().map(i64::to_string).collect()
}

fn interpreted(program: &Program, x: &[String], at: &[String]) -> String {
    let texts = [
        format!("[{}]", x.join(" ")),
        format!("[{}]", at.join(" ")),
        "0".to_string(),
    ];
    let inputs = program.entries[0].inputs.iter().zip(&texts);
    let inputs: Vec<Value> = inputs
        .map(|((_, ty), text)| read_value(text, ty, &[]).unwrap())
        .collect();
    let value = nova_loop::interpret::evaluate(program, 0, &inputs, &Options::default());
    print_value(&value.unwrap(), &program.entries[0].result, &[])
}

fn c_type(scalar: &str) -> &'static str {
    match scalar {
        "f32" => "float",
        "f64" => "double",
        "i32" => "int32_t",
        _ => "int64_t",
    }
}

#[test]
fn gathers_agree_with_the_interpreter() {
    let mut sources = SourceMap::new();
    for (element, index, stride) in [
        ("f32", "i32", 1),
        ("f32", "i64", 2),
        ("f64", "i32", 2),
        ("f64", "i64", 3),
        ("i32", "i32", 3),
        ("i64", "i64", 1),
    ] {
        let text = program(element, index, stride);
        let file = sources.add("rounds", text.as_str());
        let program = nova_loop::parse::parse(&text, file).unwrap();
        nova_loop::verify(&program).unwrap();
        let x = numbers(element);
        let mut calls = String::new();
        for bad in [None, Some((0, -1)), Some((15, 8)), Some((7, 1 << 30))] {
            let at = indices(stride, bad);
            let wanted = interpreted(&program, &x, &at);
            assert_eq!(wanted == "-1.0", bad.is_some(), "{wanted}");
            let (index, at) = (c_type(index), at.join(", "));
            calls += &format!(
                "    {{\n        static const {index} at[] = {{{at}}};\n        \
                 wrong += f(&r, 8, x, {PLACES}, at, 0) != 0 || r != {wanted};\n    }}\n"
            );
        }
        let host = format!(
            "#include \"rounds.h\"\n#include <stdio.h>\nint main(void)\n{{\n    \
             static const {} x[] = {{{}}};\n    double r = 0;\n    int wrong = 0;\n{calls}    \
             printf(\"%d wrong\\n\", wrong);\n    return 0;\n}}\n",
            c_type(element),
            x.join(", "),
        );
        let files = emit(&program, "rounds");
        prints(&[("rounds", &files)], &host, "0 wrong\n");
    }
}
