//! Tests of loops for which the runtime has a function: which ones these are.

use nova_diag::SourceMap;
use nova_loop::idioms::Idiom;
use nova_loop::ir::{Command, Expression, Program};
use nova_loop::walk::each_command;

/// Returns the meaning of a loop over `k`. The index is `i`, the flags are `f`, and the place is `c`.
fn idiom(body: &str) -> Option<Idiom> {
    let text = format!(
        "(program (entry \"f\" [(\"n\" i64)] i64 \"f\")
          (function \"f\" [n:i64] [c:i64]
            (local t:(pointer f64) 8) (local u:(pointer f64) 8) (local f:(pointer u8) 8)
            (local b:(pointer u8) 8) (local s:(pointer f32) 8)
            (set c 0)
            (for i n sequential {body})))"
    );
    let mut sources = SourceMap::new();
    let file = sources.add("program", text.as_str());
    let program = nova_loop::parse::parse(&text, file);
    let program = program.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    meaning(&program)
}

fn meaning(program: &Program) -> Option<Idiom> {
    let mut found = None;
    each_command(&program.functions[0].body, |command| {
        if let Command::For { variable, body, .. } = command {
            found = Idiom::of(program, *variable, body);
        }
    });
    found
}

const COUNT: &str = "(set c (add i64 c (convert.i64 u8 (load f i))))";

/// Returns whether elements are packed in place, if they are packed.
fn packs_in_place(store: &str) -> Option<bool> {
    match idiom(&format!("{store} {COUNT}"))? {
        Idiom::Compaction { to, from, bits, .. } => {
            assert!(bits == 32 || bits == 64);
            assert!(matches!(to, Expression::Variable(_)) == (to == from));
            Some(to == from)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn elements_are_packed_in_place_and_elsewhere() {
    assert_eq!(packs_in_place("(store t c (load t i))"), Some(true));
    assert_eq!(packs_in_place("(store u c (load t i))"), Some(false));
    assert_eq!(packs_in_place("(store s c (load s i))"), Some(true));
    assert_eq!(
        packs_in_place("(store u (add i64 n c) (load t (add i64 n i)))"),
        Some(false)
    );
}

#[test]
fn other_loops_have_no_meaning() {
    // From a place of the array on, elements that were not read yet would be overwritten.
    assert_eq!(packs_in_place("(store t (add i64 n c) (load t i))"), None);
    assert_eq!(packs_in_place("(store t c (load t (add i64 n i)))"), None);
    // Bytes, another index, and places that depend on an element.
    assert_eq!(packs_in_place("(store b c (load b i))"), None);
    assert_eq!(packs_in_place("(store u c (load t c))"), None);
    assert_eq!(packs_in_place("(store u i (load t i))"), None);
    assert_eq!(packs_in_place("(store u (add i64 i c) (load t i))"), None);
    // The flags are no bytes, or are those of another index.
    let store = "(store u c (load t i))";
    for count in [
        "(set c (add i64 c (convert.i64 u8 (load f c))))",
        "(set c (add i64 c 1))",
        "(set c (mul i64 c (convert.i64 u8 (load f i))))",
    ] {
        assert_eq!(idiom(&format!("{store} {count}")), None, "{count}");
    }
}

#[test]
fn reciprocal_roots_are_in_place() {
    let roots = |to: &str| idiom(&format!("(store {to} i (rsqrt f64 (load t i)))"));
    assert!(matches!(roots("t"), Some(Idiom::ReciprocalRoots { .. })));
    assert_eq!(roots("u"), None);
}
