//! Mutations that know the structure of a text: forms dropped, doubled, replaced and spliced from
//! another text, and deep nesting. libFuzzer's own mutations, with the dictionary of the language's
//! words, take every other turn.

use fastrand::Rng;
use libfuzzer_sys::fuzzer_mutate;

/// Forms and numbers that a mutation may insert; single words are in libFuzzer's dictionary.
const FRAGMENTS: &[&str] = &[
    "(List int)",
    "-0",
    "0xff",
    "1e999",
    "1.5f",
    "99999999999999999999999999",
    "300u8",
    "\"\\xZZ\"",
    ".99",
    "(x : 'a)",
    "((((",
    "))))",
    "vector#0",
    "é",
    "\u{1F600}",
    "\0",
    "(+ 1 2)",
    "(lambda (x) x)",
    "(x x)",
    "(mu (f) f)",
    "(types (T 'a : (+ (A : unit) (B : ('a, (T 'a))))))",
    "(define (f (lambda (x) x)))",
    "(entry e ((x : int)) x)",
    "(case x (_ 1))",
    "(foreach (x l) (f d) x)",
    "(foreach ((x l) (y T)) (f d) x y)",
    "(case x (A* A*) (B* (a, l) (B* (a, (f l)))))",
    "(up (B* (1, x)) (x l))",
    "(up A*)",
    "(dn l)",
    "(table l)",
    "(datum 0 [A*])",
    "(at \"f\" 1 1 x)",
    "(at \"f\" 1 1 2 1 \"blur\" x)",
];

/// What deep nesting is made of.
const OPENINGS: &[&str] = &[
    "(",
    "[",
    "(+ 1 ",
    "(let (x 1) in ",
    "(foreach (x l) (f d) ",
    "(foreach (x ",
    "(up x (x ",
    "(dn ",
    "#|",
    "vector ",
    "(x, ",
    "int -> ",
];

/// Mutates the first `size` bytes of `data`, to at most `max_size`; returns how many they are now.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Rng::with_seed(seed.into());
    if random.bool() {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut text = data[..size].to_vec();
    for _ in 0..random.usize(1..4) {
        change(&mut random, &mut text);
    }
    write(&text, data, max_size)
}

/// Writes `one` to `out` with a form of `other` in the place of one of its own, or before it.
pub fn cross(one: &[u8], other: &[u8], out: &mut [u8], seed: u32) -> usize {
    let mut random = Rng::with_seed(seed.into());
    let mut text = one.to_vec();
    let (from, length) = form_range(&mut random, &text);
    let replaced = if random.bool() { length } else { 0 };
    text.splice(from..from + replaced, form(&mut random, other));
    let max_size = out.len();
    write(&text, out, max_size)
}

fn write(text: &[u8], data: &mut [u8], max_size: usize) -> usize {
    let size = text.len().min(max_size);
    data[..size].copy_from_slice(&text[..size]);
    size
}

fn change(random: &mut Rng, text: &mut Vec<u8>) {
    let at = random.usize(..=text.len());
    let (from, length) = form_range(random, text);
    let own = from..from + length;
    match random.u8(..7) {
        0 => insert(text, at, fragment(random)),
        1 => {
            let own = form(random, text);
            insert(text, at, &own);
        }
        2 => {
            text.drain(own);
        }
        3 => {
            text.splice(own, fragment(random).iter().copied());
        }
        4 => {
            let another = form(random, text);
            text.splice(own, another);
        }
        5 => {
            let end = (at + random.usize(..12)).min(text.len());
            text.drain(at..end);
        }
        _ => {
            let count = 1 << random.u8(..12);
            let opening = OPENINGS[random.usize(..OPENINGS.len())];
            insert(text, at, opening.repeat(count).as_bytes());
        }
    }
}

fn fragment(random: &mut Rng) -> &'static [u8] {
    FRAGMENTS[random.usize(..FRAGMENTS.len())].as_bytes()
}

fn insert(text: &mut Vec<u8>, at: usize, what: &[u8]) {
    text.splice(at..at, what.iter().copied());
}

fn form(random: &mut Rng, text: &[u8]) -> Vec<u8> {
    let (from, length) = form_range(random, text);
    text[from..from + length].to_vec()
}

/// A random parenthesised form of a text: where it starts, how long it is.
fn form_range(random: &mut Rng, text: &[u8]) -> (usize, usize) {
    let start = random.usize(..text.len().max(1));
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
