//! Mutations of source text, for fuzzing: bytes, tokens, and whole forms spliced from elsewhere.

use crate::random::Random;

/// Fragments that a mutation may insert.
const FRAGMENTS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    ";",
    "\"",
    "#|",
    "|#",
    ".",
    ".0",
    ".99",
    "'a",
    "->",
    "!",
    "_",
    "lambda",
    "let",
    "in",
    "mu",
    "if",
    "case",
    "types",
    "define",
    "entry",
    "import",
    "foreign",
    "vector",
    "vector#2",
    "vector#0",
    "int",
    "(List int)",
    "1",
    "-0",
    "0xff",
    "1e999",
    "1.5f",
    "99999999999999999999999999",
    "7u8",
    "300u8",
    "nil",
    "true",
    "\\x",
    "\"\\xZZ\"",
    "map",
    "reduce",
    "foldl",
    "tabulate",
    "iterate",
    "to_int",
    "from_float",
    "(x : 'a)",
    "((((",
    "))))",
    "\u{feff}",
    "\r\n",
    "\t",
    "é",
    "\u{1F600}",
    "\0",
    "(+ 1 2)",
    "(lambda (x) x)",
    "(x x)",
    "(mu (f) f)",
];

/// A mutated copy of `seed`; `other` is where forms are spliced from.
pub fn mutate(random: &mut Random, seed: &[u8], other: &[u8]) -> Vec<u8> {
    let mut text = seed.to_vec();
    for _ in 0..1 + random.below(6) {
        let at = random.below(text.len() + 1);
        match random.below(9) {
            0 if !text.is_empty() => {
                let at = at.min(text.len() - 1);
                text[at] = random.bits() as u8;
            }
            1 => insert(&mut text, at, random.pick(FRAGMENTS).as_bytes()),
            2 => insert(&mut text, at, &form(random, other)),
            3 => {
                let own = form(random, &text);
                insert(&mut text, at, &own);
            }
            4 => {
                let end = (at + random.below(12)).min(text.len());
                text.drain(at..end);
            }
            5 => {
                let (from, length) = form_range(random, &text);
                text.drain(from..from + length);
            }
            6 => {
                let (from, length) = form_range(random, &text);
                let fragment = random.pick(FRAGMENTS).as_bytes().to_vec();
                text.splice(from..from + length, fragment);
            }
            7 => {
                let (from, length) = form_range(random, &text);
                let other = form(random, other);
                text.splice(from..from + length, other);
            }
            _ => {
                let count = 1 + random.below(200);
                let opening = *random.pick(&["(", "[", "(+ 1 ", "(let (x 1) ", "#|", "vector "]);
                insert(&mut text, at, opening.repeat(count).as_bytes());
            }
        }
    }
    text.truncate(1 << 16);
    text
}

fn insert(text: &mut Vec<u8>, at: usize, what: &[u8]) {
    let at = at.min(text.len());
    text.splice(at..at, what.iter().copied());
}

fn form(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let (from, length) = form_range(random, text);
    text[from..from + length].to_vec()
}

/// A random parenthesised form of a text: where it starts, how long it is.
fn form_range(random: &mut Random, text: &[u8]) -> (usize, usize) {
    let start = random.below(text.len().max(1));
    let Some(from) = text
        .iter()
        .skip(start)
        .position(|&b| b == b'(')
        .map(|k| k + start)
    else {
        return (text.len(), 0);
    };
    let mut depth = 0usize;
    for (k, &b) in text[from..].iter().enumerate() {
        match b {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (from, k + 1);
        }
    }
    (from, text.len() - from)
}
