//! Random edits of programs. Two programs have the same structure exactly where their trees differ in
//! nothing but places. The trees are compared as the text that `Debug` makes of them.

use super::*;
use crate::parsed::Parsed;
use crate::source::{Source, load};

/// A sequence of numbers that look random, and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

/// Programs with all forms of the language.
const PROGRAMS: [&str; 6] = [
    "((X : vector float) (Y : vector float)) (reduce + 0 (map * X Y))",
    "(types (P : (int, float)) (M 'a : (+ (None : unit) (Some : 'a)))) (foreign (f : int -> int) (effect g : int -> int))
     (define (one 1) (two (lambda (x : int) : int (+ x 0x1f))))
     (entry a ((x : int) (m : (M int))) (case m (Some y (+ y x)) (_ (two one))))
     (entry b ((p : P) (v : vec#4 float)) (p.0, 1.5L, \"te\\nxt\", true, nil, [1 2 3]))",
    "(import \"std/lists\") () (let ((a, _) (1, 2)) (b (a : int)) in (if (= a b) then -3i8 else 0i8))",
    "(types (L 'a : (+ (Nil : unit) (Cons : ('a, (L 'a))))))
     ((l : (L int))) (foreach (x l) (f d) (case x (Nil* Nil*) (Cons* (v, n) (Cons* ((+ v 1), (f n))))))",
    "((m : vector#2 int) (s : (+ (A : int) (B : float))))
     ((mu (f : int -> int) (lambda (n) (if (< n 1) 0 (f (- n 1))))) (m ! (0, 1)))",
    "((v : vector int))
     (at \"a.py\" 3 4 (+ (at \"a.py\" 3 4 3 9 \"blur\" (v ! 7)) (at \"b.py\" 10 2 12 1 (v ! 1))))",
];

/// Returns a program that has no errors in its text.
fn parsed(text: &str) -> Option<Parsed> {
    let parsed = load(Source::text("p.nova", text)).ok()?;
    (!parsed.report.has_errors()).then_some(parsed)
}

/// Returns the tree as a text in which only one bit of each place is left.
fn tree(parsed: &Parsed) -> String {
    let text = format!("{:?}", parsed.program);
    let mut parts = text.split("Span { file: FileId(");
    let mut out = parts.next().unwrap_or("").to_string();
    for part in parts {
        let (file, rest) = part.split_once(')').expect("a number of a file");
        let source = parsed
            .report
            .sources
            .source(nova_diag::FileId(file.parse().expect("a number")));
        out.push_str(&format!("<{}>", source.is_positions()));
        out.push_str(rest.split_once('}').expect("the end of a span").1);
    }
    out
}

fn structure_of(parsed: &Parsed) -> Vec<u8> {
    structure(&parsed.program, &parsed.report.sources)
}

/// Returns the text after a change of a few bytes.
fn edited(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(2) {
        let at = random.below(bytes.len());
        let other = bytes[random.below(bytes.len())];
        match random.below(6) {
            0 => bytes[at] = other,
            1 => bytes.insert(at, other),
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, b"0123456789"[random.below(10)]),
            4 => bytes[at] = b" \n0123456789"[random.below(12)],
            _ => drop(bytes.splice(at..at, *b"\n ")),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn edits_of_places_only_keep_the_structure() {
    let (mut same, mut other) = (0, 0);
    for (seed, text) in PROGRAMS.iter().enumerate() {
        let first = parsed(text).unwrap_or_else(|| panic!("{text}"));
        let (tree_of_first, structure_of_first) = (tree(&first), structure_of(&first));
        let mut random = Random(seed as u64);
        for _ in 0..1500 {
            let changed = edited(text, &mut random);
            let Some(second) = parsed(&changed) else {
                continue;
            };
            let is_same = tree(&second) == tree_of_first;
            let found = structure_of(&second) == structure_of_first;
            assert_eq!(found, is_same, "{text}\n{changed}");
            match is_same {
                true => same += 1,
                false => other += 1,
            }
        }
    }
    assert!(same > 300 && other > 300, "{same} {other}");
}

#[test]
fn places_are_all_that_is_left_out() {
    let same = |one: &str, other: &str| {
        let [one, other] = [one, other].map(|text| structure_of(&parsed(text).expect("a program")));
        one == other
    };
    let text = "() (at \"a.py\" 1 2 (+ 1 2))";
    assert!(same(
        text,
        "() ; a comment\n\n  (at \"b.py\" 7 8 9 10 \"sum\" (+ 1\n2))"
    ));
    for other in [
        // A front end's text has other warnings than one of NOVA.
        "() (+ 1 2)",
        "() (at \"a.py\" 1 2 (+ 1 3))",
        "() (at \"a.py\" 1 2 (+ 2 1))",
        "() (at \"a.py\" 1 2 (+ 1 2i8))",
        "() (at \"a.py\" 1 2 (- 1 2))",
        "() (at \"a.py\" 1 2 (+ 1 2.0))",
        "((x : int)) (at \"a.py\" 1 2 (+ 1 2))",
        "(entry a () (at \"a.py\" 1 2 (+ 1 2)))",
    ] {
        assert!(!same(text, other), "{other}");
    }
}
