//! Mistakes seeded in the memory of arrays, for the verifier of Mem and the heap interpreter.

use crate::passes::run_on;
use nova_diag::SourceMap;
use nova_flat::ir::Program;
use nova_flat::parse::parse;
use nova_mem::verify;

fn read(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("case", text);
    parse(text, file).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// Takes every second element, by way of a copy, then runs a conditional and a map.
const BASE: &str = "(program
  (entry \"main\" [(\"X\" (vector f32))] (vector f32) \"main\")
  (function \"main\" [n:i64 x:[n]f32 @ xb] [k:i64 r:[k]f32 @ rb]
    (do
      (let [b:(block f32)] (allocate f32 n))
      (let [y:[n]f32 @ b] (copy x))
      (let [h:i64] (div i64 n 2))
      (let [e:[h]f32 @ b (lmad 0 [h 2])] (slice y [0 2 h]))
      (let [c:(block f32)] (allocate f32 h))
      (let [z:[h]f32 @ c] (copy e))
      (let [t:bool] (lt i64 h 5))
      (let [v:[h]f32 @ vb] (if t (do (in z)) (do (in z))))
      (let [d:(block f32)] (allocate f32 h))
      (let [w:[h]f32 @ d]
        (operation [h] [i:i64] []
          (do (let [q:f32] (index v [i])) (let [p:f32] (add f32 q 1.0f)) (in p))
          (map)))
      (in h w))))";

fn run(program: &Program, on_heap: bool) -> String {
    run_on("[1 2 3 4 5 6]", program, on_heap)
}

#[test]
fn the_base_is_right() {
    let program = read(BASE);
    verify(&program).unwrap();
    assert_eq!(run(&program, true), "[2.0 4.0 6.0]");
    assert_eq!(run(&program, false), "[2.0 4.0 6.0]");
}

/// Changes of [`BASE`]: the text to replace, its replacement, and the message of the verifier.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("y:[n]f32 @ b]", "y:[n]f32]", "has no memory"),
    ("h:i64]", "h:i64 @ b]", "is no array and has memory"),
    (
        "b:(block f32)] (allocate f32 n)",
        "b:(block f64)] (allocate f64 n)",
        "no block for its elements",
    ),
    (
        "@ b (lmad 0 [h 2])",
        "@ h (lmad 0 [h 2])",
        "where its source says",
    ),
    (
        "[h]f32 @ b (lmad 0 [h 2])",
        "[h]f32 @ b (lmad 0 [h 3])",
        "where its source says",
    ),
    ("(lmad 0 [h 2])", "(lmad 1 [h 2])", "where its source says"),
    (
        "e:[h]f32 @ b (lmad 0 [h 2])",
        "e:[h]f32 @ c (lmad 0 [h 2])",
        "where its source says",
    ),
    (
        "z:[h]f32 @ c]",
        "z:[h]f32 @ c (lmad 0 [n 1])]",
        "different extents",
    ),
    (
        "z:[h]f32 @ c]",
        "z:[h]f32 @ c (lmad 0 [h 1] [1 1])]",
        "different ranks",
    ),
    (
        "z:[h]f32 @ c]",
        "z:[h]f32 @ c (lmad t [h 1])]",
        "is no `i64` in scope",
    ),
    (
        "z:[h]f32 @ c]",
        "z:[h]f32 @ c (lmad i [h 1])]",
        "is no `i64` in scope",
    ),
    ("z:[h]f32 @ c]", "z:[h]f32 @ zb]", "not in scope"),
    ("z:[h]f32 @ c]", "z:[h]f32 @ d]", "not in scope"),
    ("z:[h]f32 @ c]", "z:[h]f32 @ vb]", "not in scope"),
    ("v:[h]f32 @ vb]", "v:[h]f32 @ xb]", "bound twice"),
    (
        "v:[h]f32 @ vb]",
        "v:[h]f32 @ vb (lmad 1 [h 1])]",
        "from the start of its own block",
    ),
    ("v:[h]f32 @ vb]", "v:[h]f32 @ b]", "does not lie where v"),
    (
        "(do (in z)) (do (in z))",
        "(do (in z)) (do (in e))",
        "not row-major",
    ),
    ("(in h w)", "(in h e)", "not row-major"),
    (
        "x:[n]f32 @ xb",
        "x:[n]f32 @ xb (lmad 0 [n 2])",
        "from the start of its own block",
    ),
    ("r:[k]f32 @ rb", "r:[k]f32 @ xb", "bound twice"),
    (
        "(allocate f32 h))\n      (let [z:[h]f32 @ c] (copy e))",
        "(allocate f32 1))\n      (let [z:[h]f32 @ c] (copy e))\n      (let [l:[2]f32 @ c] (literal f32 [0.0f 1.0f]))",
        "outside of its block",
    ),
    ("(allocate f32 n)", "(allocate f32 1.0f)", "not i64"),
    // The elements of e are overwritten while they are copied.
    (
        "z:[h]f32 @ c]",
        "z:[h]f32 @ b (lmad 2 [h 1])]",
        "which overlaps it",
    ),
];

#[test]
fn mistakes_are_found_by_the_verifier() {
    for (from, to, message) in MISTAKES {
        assert!(BASE.contains(from), "{from}");
        let text = BASE.replacen(from, to, 1);
        let mut sources = SourceMap::new();
        let file = sources.add("case", text.as_str());
        let error = match parse(&text, file) {
            Ok(program) => verify(&program).map_err(|error| error.to_string()).err(),
            Err(errors) => errors.first().map(|error| error.message.clone()),
        };
        match error {
            None => panic!("accepted: {from} → {to}"),
            Some(error) => assert!(error.contains(message), "{from} → {to}\n{error}"),
        }
    }
}

#[test]
fn arrays_may_share_a_block_that_is_free() {
    // z lies at the address of y, which nothing uses any more, and v at that of z.
    let text = BASE
        .replace("w:[h]f32 @ d]", "w:[h]f32 @ c]")
        .replace("v:[h]f32 @ vb]", "v:[h]f32 @ c]");
    let program = read(&text);
    verify(&program).unwrap();
    assert_eq!(run(&program, true), run(&program, false));
}

#[test]
fn mistakes_show_on_the_heap() {
    for (from, to, expected) in [
        // The block is too small.
        (
            "(allocate f32 n)",
            "(allocate f32 3)",
            "internal: address 3 is outside of its block",
        ),
        // A map that overwrites an element that a later index reads.
        (
            "w:[h]f32 @ d]",
            "w:[h]f32 @ c (lmad 1 [h 1])]",
            "internal: element 1 of a block is read, but another array lies there now",
        ),
        (
            "(let [q:f32] (index v [i]))",
            "(let [j:i64] (sub i64 2 i)) (let [q:f32] (index x [j]))",
            "[4.0 3.0 2.0]",
        ),
    ] {
        assert!(BASE.contains(from), "{from}");
        let program = read(&BASE.replacen(from, to, 1));
        verify(&program).unwrap();
        assert_eq!(run(&program, true), expected, "{from} → {to}");
    }
    // Reversal in place is wrong from the middle on.
    let text = BASE
        .replace(
            "(let [q:f32] (index v [i]))",
            "(let [j:i64] (sub i64 2 i)) (let [q:f32] (index v [j]))",
        )
        .replace("w:[h]f32 @ d]", "w:[h]f32 @ c]");
    let program = read(&text);
    verify(&program).unwrap();
    assert_eq!(run(&program, false), "[6.0 4.0 2.0]");
    assert_eq!(
        run(&program, true),
        "internal: element 0 of a block is read, but another array lies there now"
    );
}

#[test]
fn unwritten_elements_are_not_read() {
    let text = "(program
      (entry \"main\" [(\"X\" (vector f32))] (vector f32) \"main\")
      (function \"main\" [n:i64 x:[n]f32 @ xb] [k:i64 r:[k]f32 @ rb]
        (do
          (let [b:(block f32)] (allocate f32 n))
          (let [y:[n]f32 @ b]
            (operation [n] [i:i64] []
              (do (let [q:f32] (index y [i])) (in q))
              (map)))
          (in n y))))";
    // The rules of scope do not hold here either, but the heap would detect it all the same.
    let program = read(text);
    assert!(verify(&program).is_err());
    assert!(run(&program, true).starts_with("internal: "));
}

/// Code after a check that always fails may have any sizes.
#[test]
fn arrays_of_negative_extent_lie_nowhere() {
    let body = "(let [less:i64] (atom -2)) (let [holds:bool] (atom false))
        (let [] (check holds negative [less]))
        (let [b:(block f32)] (allocate f32 less)) (let [z:[less]f32 @ b] (replicate [less] 0.0f))
        (let [mb:(block f32)] (allocate f32 n)) (let [m:[n]f32 @ mb] (copy x))";
    let program = read(&crate::passes::function(body, "m"));
    verify(&program).unwrap();
    assert_eq!(run(&program, true), run(&program, false));
}
