//! Programs in which something doubles with every line. When compiled at every level, their code
//! grows with their text, or they are refused for their size.

use nova_driver::{Compiler, Failure, Options, Source, Stage};
use std::time::Instant;

/// Returns `first`, then one line for each level.
fn levels(first: &str, count: usize, line: impl Fn(usize, usize) -> String) -> String {
    (1..=count).fold(first.to_string(), |text, k| text + &line(k, k - 1))
}

/// Programs of one form, by their number of levels.
type Family = (&'static str, fn(usize) -> String);

/// Programs at a number of levels. All of them are small if shared code stays shared.
const SHARED: &[Family] = &[
    ("calls", |n| {
        let lets = levels("(f0 (lambda (x) (+ x 1)))", n, |k, l| {
            format!("(f{k} (lambda (x) (+ (f{l} x) (f{l} (* x 2)))))\n")
        });
        format!("((a : int)) (let {lets} in (f{n} a))")
    }),
    ("calls in branches", |n| {
        let lets = levels("(f0 (lambda (x) (* x 2)))", n, |k, l| {
            format!("(f{k} (lambda (x) (if (< x {k}) (f{l} x) (f{l} (- x 1)))))\n")
        });
        format!("((a : vector int)) (let {lets} in (map f{n} a))")
    }),
    ("functions that take functions", |n| {
        let lets = levels("(f0 (lambda (g x) (g x)))", n, |k, l| {
            format!("(f{k} (lambda (g x) (+ (f{l} (lambda (y) (g (g y))) x) (f{l} g x))))\n")
        });
        format!("((a : int)) (let {lets} in (f{n} (+ 1) a))")
    }),
    ("functions applied to themselves", |n| {
        let lets = levels("(t0 (lambda (f x) (f (f x))))", n, |k, l| {
            format!("(t{k} (lambda (f x) (t{l} (t{l} f) x)))\n")
        });
        format!("((a : int)) (let {lets} in (t{n} (+ 1) a))")
    }),
    ("local functions", |n| {
        let body = (0..n).fold("(+ x 1)".to_string(), |body, k| {
            format!("(let (g{k} (lambda (x) {body})) in (+ (g{k} x) (g{k} (+ x 1))))")
        });
        format!("((x : int)) {body}")
    }),
    ("maps of maps", |n| {
        let lets = levels("(f0 (lambda (X) (map (+ 1) X)))", n, |k, l| {
            format!("(f{k} (lambda (X) (map + (f{l} X) (f{l} (map (+ {k}) X)))))\n")
        });
        format!("((a : vector int)) (let {lets} in (f{n} a))")
    }),
    ("vectors read twice", |n| {
        let lets = levels("", n, |k, l| {
            format!("(x{k} (map + x{l} (reverse x{l})))\n")
        });
        format!("((x0 : vector int)) (let {lets} in x{n})")
    }),
    ("conditionals", |n| {
        let lets = levels("", n, |k, l| {
            format!("(x{k} (if (< x{l} {k}) (+ x{l} 1) (* x{l} 2)))\n")
        });
        format!("((x0 : int)) (let {lets} in x{n})")
    }),
    ("cases", |n| {
        let lets = levels("(x0 (Some y))", n, |k, l| {
            format!(
                "(x{k} (case (if (< y {k}) x{l} (Some (+ y {k}))) (None x{l}) (Some v (Some (+ v 1)))))\n"
            )
        });
        format!(
            "(types (Maybe 'a : (+ (None : unit) (Some : 'a)))) ((y : int)) (let {lets} in x{n})"
        )
    }),
];

/// Programs whose values would have too many parts at 25 levels.
const REFUSED: &[Family] = &[
    ("tuples", |n| {
        let lets = levels("", n, |k, l| format!("(x{k} (x{l}, x{l}))\n"));
        format!("((x0 : int)) (let {lets} in x{n})")
    }),
    ("vectors of tuples", |n| {
        let lets = levels("", n, |k, l| format!("(x{k} (zip x{l} x{l}))\n"));
        format!("((x0 : vector int)) (let {lets} in x{n})")
    }),
    ("sums", |n| {
        let lets = levels("", n, |k, l| format!("(x{k} (Two (x{l}, x{l})))\n"));
        format!(
            "(types (S 'a : (+ (One : 'a) (Two : ('a, 'a))))) ((x0 : int)) (let {lets} in x{n})"
        )
    }),
];

/// Returns the length of the C of a program, or `None` where it is refused for its size.
fn c_length(text: &str, optimization: u8) -> Option<usize> {
    let compiler = Compiler::new(Options {
        optimization,
        verify: false,
        ..Options::default()
    });
    let mut checked = match compiler.check(Source::text("program", text)) {
        Ok(checked) => checked,
        Err(Failure::Program(report)) => {
            let codes: Vec<u16> = report.diagnostics.iter().map(|d| d.code.0).collect();
            assert_eq!(codes, [302], "{}", report.to_text());
            return None;
        }
        Err(failure) => panic!("{failure:?}"),
    };
    let code = compiler.emit(&mut checked, Stage::C);
    Some(code.unwrap_or_else(|failure| panic!("{failure:?}")).len())
}

#[test]
fn code_grows_with_the_text() {
    for (name, program) in SHARED {
        for level in 0..=3 {
            let start = Instant::now();
            let small = c_length(&program(25), level).expect("no program of refused size");
            let large = c_length(&program(60), level).expect("no program of refused size");
            let seconds = start.elapsed().as_secs_f64();
            // Code that doubles with each line doubles 35 times more.
            assert!(
                large < 8 * small,
                "{name} at -O{level}: {small} and {large} bytes"
            );
            assert!(seconds < 30.0, "{name} at -O{level} takes {seconds:.1} s");
        }
    }
}

#[test]
fn values_of_too_many_parts_are_refused() {
    for (name, program) in REFUSED {
        for count in [25, 60] {
            let start = Instant::now();
            assert_eq!(c_length(&program(count), 2), None, "{name}");
            let seconds = start.elapsed().as_secs_f64();
            assert!(seconds < 20.0, "{name} takes {seconds:.1} s");
        }
        assert!(c_length(&program(6), 2).is_some(), "{name}");
    }
}
