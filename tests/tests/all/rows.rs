//! Tests of rows of varying length. Maps of their elements keep the shape of the nested vector,
//! other rows are made in their final place, and rows that others hold, too, are copied.

use nova_core::interpret::{Options, evaluate};
use nova_driver::{Stage, Target};
use nova_tests::programs::{Compiled, How, emit};

/// Maps of elements that depend on nothing else of their row.
const ELEMENTS: [&str; 9] = [
    "(map (map (+ 1)) X)",
    "(map (lambda (r) (map (lambda (x) (* x (+ x n))) r)) X)",
    "(map (map (+ 1)) (map (map (* 2)) X))",
    "(map (lambda (r) (tabulate (length r) (lambda (k) (+ n (r ! k))))) X)",
    "(map (lambda (r) (map (lambda (k) (* n (r ! k))) (range (length r)))) X)",
    "(map (lambda (r) (map (lambda (x) (x, (- n x))) r)) X)",
    "(map (map (lambda (x) (reduce + 0 (tabulate 5 (lambda (k) (* k x)))))) X)",
    "(map (map (lambda (x) (/ 840 (- x 100)))) X)",
    "(map (map (lambda (x) (if (> x 2) (Y ! 0) x))) (map (lambda (r) (map neg r)) X))",
];

/// Rows whose elements depend on more than one element, or that have another length.
const MADE_IN_PLACE: [&str; 9] = [
    "(map (lambda (r) (map (+ (length r)) r)) X)",
    "(map (lambda (r) (imap (lambda (k) (+ k (r ! k))) r)) X)",
    "(map reverse X)",
    "(map (scan + 0) X)",
    "(map (filter (> 2)) X)",
    "(map (lambda (r) (concat r r)) X)",
    "(map (lambda (r) (concat [n] (map (+ 1) r))) X)",
    "(map (lambda (r) (foldl (lambda (v k) (update v k (+ k (v ! k)))) r (range (length r)))) X)",
    "(imap (lambda (i) (map (+ i) (X ! i))) X)",
];

/// Rows that are passed on by reference, or made in only one branch.
const OTHERS: [&str; 6] = [
    "(map (lambda (r) (if (> (length r) 1) (map (+ 1) r) [n])) X)",
    "(map (lambda (r) (let (s (scan + 0 r)) in (s, (map (+ 1) s)))) X)",
    "(map (lambda (r) (let (s (scan + 0 r)) in (s, s))) X)",
    "(map (lambda (r) (iterate (length r) (lambda (v) (map (+ (length v)) v)) r)) X)",
    "(map (lambda (r) (map (lambda (x) (range (max 0 (min 5 x)))) r)) X)",
    "(let ((a, v) (foldl (lambda ((s, v) r) ((+ s (length r)), (scan + 0 r))) (0, [7]) X)) in (map (map (+ a)) [v v]))",
];

fn program(value: &str) -> String {
    format!("((X : vector (vector int)) (Y : vector int) (n : int)) {value}")
}

fn text(value: &str, stage: Stage) -> String {
    emit(&program(value), Target::Sequential, How::usual(true), stage)
}

#[test]
fn maps_of_elements_keep_the_shape() {
    for value in ELEMENTS {
        let flat = text(value, Stage::Flat);
        assert!(!flat.contains("(collect"), "{value}\n{flat}");
    }
    for value in MADE_IN_PLACE {
        let flat = text(value, Stage::Flat);
        let makes_rows = flat.contains("(collect") || flat.contains("(join");
        assert!(makes_rows, "{value}\n{flat}");
    }
}

#[test]
fn rows_are_made_where_they_are_to_lie() {
    for value in MADE_IN_PLACE {
        let code = text(value, Stage::Loop);
        // Rows that are measured first lie in an array that is allocated before them. Others make
        // it grow.
        let grow = code.contains("(reserve ");
        let rows = match grow {
            true => code.split_once("(for ").expect("a loop").1,
            false => code.rsplit_once("(allocate").expect("an array").1,
        };
        assert!(rows.contains("(for "), "{value}\n{code}");
        assert!(!rows.contains("(allocate "), "{value}\n{code}");
    }
}

#[test]
fn results_are_those_of_the_interpreter() {
    let all = ELEMENTS.iter().chain(&MADE_IN_PLACE).chain(&OTHERS);
    let entries = all.enumerate().map(|(k, value)| {
        format!("(entry f{k} ((X : vector (vector int)) (Y : vector int) (n : int)) {value})")
    });
    let text = entries.collect::<Vec<_>>().join("\n");
    let long: Vec<String> = (0..40)
        .map(|i| {
            let row: Vec<String> = (0..(i * 7) % 12).map(|k| (k * i % 9).to_string()).collect();
            format!("[{}]", row.join(" "))
        })
        .collect();
    let long = format!("[{}]", long.join(" "));
    let inputs = [
        ["[]", "[5]", "3"],
        ["[[]]", "[5]", "3"],
        ["[[] [1 2 3] [] [4] [] []]", "[5 6]", "-2"],
        ["[[9 8] [100] [3]]", "[]", "0"],
        [&long, "[1]", "7"],
    ];
    for target in [Target::Sequential, Target::Pthreads] {
        let compiled = Compiled::new(&text, target, How::usual(true));
        let program = &compiled.checked.program;
        for (k, entry) in program.entries.iter().enumerate() {
            for input in &inputs {
                let values = nova_tests::inputs::read(program, k, input);
                let strict = Options {
                    strict: true,
                    ..Options::default()
                };
                match (
                    evaluate(program, k, &values, &strict),
                    compiled.call(k, input),
                ) {
                    (Ok(expected), Ok(value)) => {
                        assert!(value.same(&expected), "{}: {input:?}", entry.name);
                    }
                    (Err(_), Err(_)) => {}
                    (expected, found) => panic!(
                        "{} {input:?}: a value {}, found a value {}",
                        entry.name,
                        expected.is_ok(),
                        found.is_ok()
                    ),
                }
            }
        }
    }
}
