//! Tests of segmented reductions of rows on devices. Lanes share rows. Values are those of
//! sequential C to the bit however long rows are, long rows are found among short ones, errors keep
//! their places, and code that depends on the order stays with one thread.

use nova_driver::{Stage, Target};
use nova_schedule::Parallelism;
use nova_tests::programs::{self, Compiled, How, list, on_devices};

/// Returns options with which few rows have lanes, and some hundred elements make a long row.
fn small(strict: bool) -> How {
    How {
        strict,
        parallelism: Some(Parallelism::SMALL),
    }
}

/// Returns small numbers of either sign, without a pattern.
fn number(k: usize) -> String {
    (((k as u32).wrapping_mul(2_654_435_761) >> 20) as i64 % 19 - 9).to_string()
}

fn vector(length: usize) -> String {
    list((0..length).map(number))
}

/// Returns rows of these lengths.
fn rows(lengths: impl IntoIterator<Item = usize>) -> String {
    let mut first = 0;
    let row = |length: usize| {
        first += length + 1;
        list((first..first + length).map(number))
    };
    list(lengths.into_iter().map(row))
}

/// Compares the results of each entry of a program on devices with those in sequential C.
#[track_caller]
fn compare(text: &str, how: How, inputs: &[Vec<String>]) {
    let sequential = Compiled::new(text, Target::Sequential, How::usual(how.strict));
    for device in on_devices(text, how) {
        for entry in 0..sequential.checked.program.entries.len() {
            for (k, input) in inputs.iter().enumerate() {
                let expected = sequential.call(entry, input).expect("a value in order");
                let value = device.call(entry, input).expect("a value of lanes");
                assert!(
                    value.same(&expected),
                    "{:?}, entry {entry}, input {k}: {value:?}, not {expected:?}",
                    device.target
                );
            }
        }
    }
}

/// Maps of reductions of nested vectors: of one component and of several, from a start value of the
/// row, with other operations around the reduction, and with several results.
const NESTED: &str = "
    (entry sums ((X : vector (vector int)) (y : vector int))
        (map (lambda (row) (reduce + 5 (map (lambda (x) (* x (^ x 3))) row))) X))
    (entry lengths ((X : vector (vector int)) (y : vector int))
        (map (lambda (row) (+ (* 100 (length row)) (reduce max -1000 row))) X))
    (entry starts ((X : vector (vector int)) (y : vector int))
        (imap (lambda (i) (reduce min (- i 12) (map (lambda (x) (+ x i)) (X ! i)))) X))
    (entry pairs ((X : vector (vector int)) (y : vector int))
        (map (lambda (row)
            (let (p (reduce (lambda ((a, b) (c, d)) ((+ a c), (max b d))) (1, -50)
                        (map (lambda (x) ((* 2 x), (- x 1))) row)))
             in (let ((a, b) p) in (- a b)))) X))
    (entry sparse ((X : vector (vector int)) (y : vector int))
        (map (lambda (row) (reduce + 0i64
            (map (lambda (x) (* (to_int64 x) (to_int64 (y ! (& x 7))))) row))) X))
    (entry doubles ((X : vector (vector int)) (y : vector int))
        (map (lambda (row) (to_float (reduce + 0.5L (map to_double row)))) X))";

#[test]
fn rows_of_any_length_give_what_one_thread_gives() {
    let with = |rows: String| vec![rows, vector(8)];
    let even = [8, 9, 15, 16, 17, 31, 33, 64, 127, 130, 513, 600];
    let mut inputs: Vec<Vec<String>> = even.iter().map(|n| with(rows([*n; 9]))).collect();
    // No row, one, empty ones, short ones, and numbers of rows near those of a group.
    inputs.push(with(rows([])));
    inputs.push(with(rows([300])));
    inputs.push(with(rows([0; 70])));
    inputs.push(with(rows((0..300).map(|k| k % 4))));
    inputs.extend([63, 64, 65, 129].map(|n| with(rows((0..n).map(|k| 8 + k % 7)))));
    inputs.push(with(rows((0..200).map(|k| (k * 37) % 41))));
    compare(NESTED, small(false), &inputs);
}

#[test]
fn long_rows_among_short_ones_have_their_values() {
    let with = |rows: String| vec![rows, vector(8)];
    let of = |long: &'static [usize], short: usize| {
        let length = move |k: usize| match long.contains(&k) {
            true => 3000 + k,
            false => (k * 7) % (2 * short + 1),
        };
        with(rows((0..300).map(length)))
    };
    let inputs = [
        of(&[0], 10),
        of(&[299], 2),
        of(&[7, 8, 9, 150], 20),
        of(&[1, 298], 1),
        of(&[], 40),
    ];
    compare(NESTED, small(false), &inputs);
}

/// Uses the default parallelisation: a row of 60,000 among rows of a hundred has a group.
#[test]
fn long_rows_are_found_in_usual_sizes() {
    let text = "((X : vector (vector int))) (map (lambda (row) (reduce + 5 row)) X)";
    let length = |k: usize| match k {
        1234 => 60_000,
        17 => 9000,
        _short => (k * 37) % 200,
    };
    let input = vec![rows((0..2500).map(length))];
    compare(text, How::usual(false), &[input]);
}

#[test]
fn rows_of_matrices_have_lanes_too() {
    let text = "
        (entry product ((A : vector#2 int) (x : vector int))
            (map (lambda (row) (reduce + 0 (map * row x))) A))
        (entry least ((A : vector#2 int) (x : vector int))
            (map (lambda (row) (* 3 (reduce min 4 row))) A))
        (entry floats ((A : vector#2 int) (x : vector int))
            (map (lambda (row) (reduce + 0.0 (map (lambda (a b) (to_float (* a b))) row x))) A))";
    let matrix = |n: usize, m: usize| vec![rows(vec![m; n]), vector(m)];
    let inputs: Vec<Vec<String>> = [
        (0, 0),
        (4, 0),
        (5, 7),
        (5, 8),
        (300, 8),
        (33, 100),
        (9, 700),
    ]
    .into_iter()
    .map(|(n, m)| matrix(n, m))
    .collect();
    compare(text, small(false), &inputs);
}

#[test]
fn errors_in_rows_have_their_places() {
    let text = "((X : vector (vector int)))
        (map (lambda (row) (reduce + 0 (map (lambda (x) (/ 100 x)) row))) X)";
    let sequential = Compiled::new(text, Target::Sequential, How::usual(false));
    for device in on_devices(text, small(false)) {
        for (n, length, at) in [(9, 40, 200), (100, 9, 899), (5, 600, 0)] {
            let wrong = |k: usize| if k == at { 0 } else { 1 }.to_string();
            let row = |r: usize| list((r * length..(r + 1) * length).map(wrong));
            let input = list((0..n).map(row));
            let message = device.failure(0, &[&input]);
            assert_eq!(message, sequential.failure(0, &[&input]));
            assert!(message.starts_with("program.nova:2:"), "{message}");
            // The next call works.
            let fine = rows([20; 9]).replace("[0 ", "[1 ").replace(" 0", " 1");
            let expected = sequential.call(0, &[&fine]).expect("a value in order");
            let value = device.call(0, &[&fine]).expect("a value of lanes");
            assert!(value.same(&expected), "{:?}, {n}", device.target);
        }
    }
}

/// Returns the report of the compiler on a program.
fn report(text: &str, target: Target, strict: bool) -> String {
    programs::report(text, target, How::usual(strict))
}

#[test]
fn lanes_share_rows_only_where_they_may() {
    let says = "each row as so many lanes as have two elements";
    let sum = "((X : vector (vector float))) (map (lambda (row) (reduce + 0.0 row)) X)";
    for target in [Target::OpenCl, Target::Cuda] {
        let said = report(sum, target, false);
        assert!(said.contains(says), "{said}");
        assert!(said.contains("with fewer than 128 iterations"), "{said}");
        // The cases are: the order of strict sums; an unknown operator; two loops for a row; a loop
        // in a loop.
        assert!(!report(sum, target, true).contains(says));
        let others = [
            "(reduce (lambda (a b) (+ (* a b) 1.0)) 0.0 row)",
            "(+ (reduce + 0.0 row) (reduce max 0.0 (map (* (reduce + 0.0 row)) row)))",
            "(reduce + 0.0 (map (lambda (x) (reduce + x row)) row))",
        ];
        for other in others {
            let text = sum.replace("(reduce + 0.0 row)", other);
            assert!(!report(&text, target, false).contains(says), "{text}");
        }
        let strict = sum.replace("float", "int").replace("0.0", "0");
        assert!(report(&strict, target, true).contains(says));
    }
    for target in [Target::Sequential, Target::Pthreads] {
        assert!(!report(sum, target, false).contains(says));
    }
}

#[test]
fn one_kernel_has_all_numbers_of_lanes() {
    let text = "((A : vector#2 float) (x : vector float))
        (map (lambda (row) (reduce + 0.0 (map * row x))) A)";
    let loops = programs::emit(text, Target::Cuda, How::usual(false), Stage::Loop);
    let count = |what: &str| loops.matches(what).count();
    // The lanes, some of them, and the rows. The values of the first two are in memory of the
    // group.
    let level = |level: &str| {
        let lines = loops.lines().map(str::trim_start);
        let those = lines.filter(|line| line.starts_with("(for "));
        those.filter(|line| line.contains(level)).count()
    };
    assert_eq!((level(" block "), level(" thread ")), (1, 3), "{loops}");
    assert_eq!(count("(shared "), 2, "{loops}");
    assert_eq!(count("(barrier thread)"), 2, "{loops}");
}
