//! Tests of nests in blocks on devices. Groups copy the data that all of their threads read to
//! local memory. Values are those of sequential C to the bit whatever the extents, errors keep
//! their places, and code that depends on the order stays with one thread. There are also states of
//! loops inside of groups.

use nova_driver::{Stage, Target};
use nova_schedule::Parallelism;
use nova_tests::programs::{self, Compiled, How, list, on_devices};

/// Returns options with which blocks of few indices pay.
fn small(strict: bool) -> How {
    How {
        strict,
        parallelism: Some(Parallelism::SMALL),
    }
}

/// Compares the results of each entry of a program on devices with those in sequential C.
#[track_caller]
fn compare(text: &str, strict: bool, inputs: &[Vec<String>]) {
    let sequential = Compiled::new(text, Target::Sequential, How::usual(strict));
    for device in on_devices(text, small(strict)) {
        for entry in 0..sequential.checked.program.entries.len() {
            for input in inputs {
                let input: Vec<&str> = input.iter().map(String::as_str).collect();
                let expected = sequential.call(entry, &input).expect("a value in order");
                let value = device.call(entry, &input).expect("a value of blocks");
                let lengths: Vec<usize> = input.iter().map(|i| i.len()).collect();
                assert!(
                    value.same(&expected),
                    "{:?}, entry {entry}, {lengths:?} characters: {value:?}, not {expected:?}",
                    device.target
                );
            }
        }
    }
}

/// Returns the loops of a program for a device, with blocks of the default size.
fn loops(text: &str, target: Target, strict: bool) -> String {
    programs::emit(text, target, How::usual(strict), Stage::Loop)
}

/// True if a program has a nest in blocks.
fn has_blocks(text: &str, target: Target, strict: bool) -> bool {
    let report = programs::report(text, target, How::usual(strict));
    report.contains("which bring what")
}

/// Returns small numbers of either sign, without a pattern.
fn number(k: usize) -> String {
    (((k as u32).wrapping_mul(2_654_435_761) >> 20) as i64 % 19 - 9).to_string()
}

fn vector(length: usize) -> String {
    list((0..length).map(number))
}

fn matrix(rows: usize, columns: usize) -> String {
    let row = |r: usize| list((0..columns).map(|c| number(r * 31 + c * 7 + r * c)));
    list((0..rows).map(row))
}

/// Returns pairs of lengths near those of blocks and tiles. For the second there are several tiles.
fn lengths() -> Vec<Vec<String>> {
    let of = |n: usize, m: usize| vec![vector(n), vector(m)];
    let outer = [0, 1, 127, 128, 129, 300].map(|n| of(n, 130));
    let inner = [0, 1, 127, 129, 400].map(|m| of(129, m));
    outer.into_iter().chain(inner).collect()
}

#[test]
fn what_all_threads_run_through_gives_what_one_thread_gives() {
    let integers = "
        (entry sums ((X : vector int) (Y : vector int))
            (map (lambda (x) (reduce + 5 (map (lambda (y) (* (^ x y) (+ y 3))) Y))) X))
        (entry least ((X : vector int) (Y : vector int))
            (map (lambda (x) (reduce min x (map (lambda (y) (* (- x y) (- x y))) Y))) X))
        (entry pairs ((X : vector int) (Y : vector int))
            (map (lambda (x) (reduce (lambda ((a, b) (c, d)) ((+ a c), (max b d))) (x, -100)
                (map (lambda (y) ((* x y), (if (< x y) (- y x) (* 2 x)))) Y))) X))
        (entry around ((X : vector int) (Y : vector int))
            (map (lambda (x) (let (z (* x 7)) in
                (+ (* 3 (reduce + 1 (map (lambda (y) (& z (+ x y))) Y))) (- z x)))) X))
        (entry wide ((X : vector int) (Y : vector int))
            (map (lambda (x) (reduce + 0i64
                (map (lambda (y) (* (to_int64 x) (to_int64 y))) Y))) X))
        (entry places ((X : vector int) (Y : vector int))
            (imap (lambda (i) (reduce + i (imap (lambda (k) (* (+ i k) (Y ! k))) Y))) X))";
    for strict in [false, true] {
        compare(integers, strict, &lengths());
    }
    // Sums whose order makes no difference, as sums of whole numbers that a float holds.
    let exact = "
        (entry nearest ((X : vector double) (Y : vector double))
            (map (lambda (x) (reduce min 1.0e9 (map (lambda (y) (* (- x y) (- x y))) Y))) X))";
    compare(exact, true, &lengths());
    let sums = "
        (entry sums ((X : vector float) (Y : vector float))
            (map (lambda (x) (reduce + 0.0 (map (lambda (y) (* (- x y) 0.5)) Y))) X))
        (entry pairs ((X : vector double) (Y : vector double))
            (map (lambda (x) (reduce (lambda ((a, b) (c, d)) ((+ a c), (+ b d))) (x, 0.5)
                (map (lambda (y) ((* x y), (- x y))) Y))) X))";
    compare(sums, false, &lengths());
}

#[test]
fn strict_sums_keep_their_order() {
    // Numbers for which each order gives another sum. The lengths are near blocks of the order, and
    // of threads.
    let number = |k: usize| format!("{}.{}e{}", k % 13, (k * 7919) % 1009, (k * 31) % 9);
    let vector = |n: usize| list((0..n).map(number));
    let of = |n: usize, m: usize| vec![vector(n), vector(m)];
    let text = |ty: &str| {
        format!(
            "(entry sums ((X : vector {ty}) (Y : vector {ty}))
                (map (lambda (x) (reduce + 0.1 (map (lambda (y) (* (- x y) 0.3)) Y))) X))
             (entry pairs ((X : vector {ty}) (Y : vector {ty}))
                (map (lambda (x) (reduce (lambda ((a, b) (c, d)) ((+ a c), (max b d))) (x, 0.5)
                    (map (lambda (y) ((/ x (+ y 0.5)), (- x y))) Y))) X))
             (entry around ((X : vector {ty}) (Y : vector {ty}))
                (map (lambda (x) (+ x (reduce * 1.1 (map (lambda (y) (+ 0.5 (/ x (+ x y)))) Y)))) X))"
        )
    };
    let lengths = [
        of(255, 33),
        of(257, 1023),
        of(256, 1024),
        of(300, 1025),
        of(64, 5000),
        of(65, 1),
        of(65, 0),
        of(0, 5),
    ];
    compare(&text("float"), true, &lengths);
    compare(&text("double"), true, &lengths);
}

#[test]
fn what_rows_and_columns_give_is_what_one_thread_gives() {
    let product = |ty: &str, zero: &str, rest: &str| {
        format!(
            "((A : vector#2 {ty}) (B : vector#2 {ty}))
             (let (columns (rows (transpose B))) in (unrows
               (map (lambda (a) (map (lambda (b) (let (sum
                 (reduce + {zero} (map * a b))) in {rest})) columns)) (rows A))))"
        )
    };
    let of = |n: usize, m: usize, k: usize| vec![matrix(n, k), matrix(k, m)];
    let sizes = [
        of(64, 64, 16),
        of(65, 63, 17),
        of(33, 130, 40),
        of(130, 33, 1),
        of(32, 32, 2),
        of(1, 3, 5),
        of(100, 70, 33),
    ];
    compare(&product("int", "3", "sum"), true, &sizes);
    compare(&product("int", "0", "(* 2 sum)"), false, &sizes);
    compare(&product("float", "0.0", "(- 1.0 sum)"), false, &sizes);
    compare(&product("double", "0.5", "sum"), false, &sizes);
    let complex = "
        ((A : vector#2 int) (B : vector#2 int))
        (let (columns (rows (transpose B))) in
          (map (lambda (a) (map (lambda (b)
            (reduce (lambda ((a, b) (c, d)) ((+ a c), (max b d))) (0, -5)
              (map (lambda (x y) ((- (* x x) y), (* x (+ y 1)))) a b))) columns)) (rows A)))";
    compare(complex, true, &sizes);
}

#[test]
fn errors_keep_their_places() {
    let text = "
        (entry inside ((X : vector int) (Y : vector int))
            (map (lambda (x) (reduce + 0 (map (lambda (y) (/ x y)) Y))) X))
        (entry read ((X : vector int) (Y : vector int))
            (map (lambda (x) (reduce + 0 (map (lambda (y) (* x (X ! y))) Y))) X))
        (entry behind ((X : vector int) (Y : vector int))
            (map (lambda (x) (/ 100 (reduce + 0 (map (lambda (y) (* x y)) Y)))) X))
        (entry before ((X : vector int) (Y : vector int))
            (map (lambda (x) (let (z (/ 7 x)) in (reduce + 0 (map (lambda (y) (* z y)) Y)))) X))";
    let ones = |n: usize, other: Option<(usize, i64)>| {
        let number = |k: usize| match other {
            Some((at, what)) if at == k => what.to_string(),
            _ => "1".to_string(),
        };
        list((0..n).map(number))
    };
    let good = ones(200, None);
    let host = Compiled::new(text, Target::Sequential, How::usual(false));
    for device in on_devices(text, small(false)) {
        for at in [0, 130, 199] {
            let bad = |what: i64| ones(200, Some((at, what)));
            let calls = [
                (0, good.clone(), bad(0), "division by zero"),
                (1, good.clone(), bad(200), "index 200 is out of range"),
                (2, bad(0), good.clone(), "division by zero"),
                (3, bad(0), good.clone(), "division by zero"),
            ];
            for (entry, x, y, what) in calls {
                let expected = host.failure(entry, &[&x, &y]);
                assert!(expected.contains(what), "{expected}");
                assert_eq!(device.failure(entry, &[&x, &y]), expected, "{entry}");
            }
        }
        // The device works afterwards.
        assert!(device.call(0, &[&good, &good]).is_ok());
    }
}

#[test]
fn groups_bring_what_all_of_their_threads_read() {
    let sum = "((X : vector float) (Y : vector float))
        (map (lambda (x) (reduce + 0.0 (map (lambda (y) (* x y)) Y))) X)";
    let most = sum.replace("reduce +", "reduce max");
    let rows = "((A : vector#2 float) (x : vector float))
        (map (lambda (a) (reduce + 0.0 (map * a x))) (rows A))";
    let product = "((A : vector#2 float) (B : vector#2 float))
        (let (columns (rows (transpose B))) in
          (map (lambda (a) (map (lambda (b) (reduce + 0.0 (map * a b))) columns)) (rows A)))";
    for target in [Target::OpenCl, Target::Cuda] {
        assert!(has_blocks(sum, target, false));
        assert!(has_blocks(&most, target, true));
        assert!(has_blocks(sum, target, true));
        assert!(has_blocks(product, target, false));
        // The cases are: the order of strict sums, several to a thread; data that each thread reads
        // for itself; an operator without a known neutral value; operations that may fail.
        assert!(!has_blocks(product, target, true));
        assert!(!has_blocks(rows, target, false));
        let unknown = sum.replace("reduce +", "reduce (lambda (a b) (+ (* a b) 1.0))");
        assert!(!has_blocks(&unknown, target, false));
        let fails = sum.replace("float", "int").replace("0.0", "0");
        assert!(has_blocks(&fails, target, false));
        assert!(!has_blocks(
            &fails.replace("(* x y)", "(/ x y)"),
            target,
            false
        ));
        // The data read in the loop over a tile are in memory of the group, and so are the results
        // of the tiles.
        let loops = loops(sum, target, false);
        let shared = |line: &&str| line.trim_start().starts_with("(shared ");
        assert_eq!(loops.lines().filter(shared).count(), 2, "{loops}");
    }
    for target in [Target::Sequential, Target::Pthreads] {
        assert!(!has_blocks(sum, target, false));
    }
}

#[test]
fn the_report_names_the_schedule() {
    let report = |text: &str, target: Target, strict: bool| {
        programs::report(text, target, How::usual(strict))
    };
    let sum = "((X : vector float) (Y : vector float))
        (map (lambda (x) (reduce + 0.0 (map (lambda (y) (* x y)) Y))) X)";
    let product = "((A : vector#2 double) (B : vector#2 double))
        (let (columns (rows (transpose B))) in
          (map (lambda (a) (map (lambda (b) (reduce + 0.0 (map * a b))) columns)) (rows A)))";
    let blocks = |threads: &str, block: &str, tile: &str| {
        format!(
            "where there are many iterations, in work-groups of {threads} threads for {block} of them, \
             which bring what {tile} iterations of the loop inside read to local memory"
        )
    };
    let calls = [
        (sum, false, blocks("128", "128", "128")),
        (sum, true, blocks("256", "256", "1024")),
        (product, false, blocks("256", "64 x 32", "16")),
    ];
    for (text, strict, says) in calls {
        let said = report(text, Target::OpenCl, strict);
        assert!(said.contains(&says), "{said}");
        let said = report(text, Target::Pthreads, strict);
        assert!(!said.contains("work-groups"), "{said}");
    }
}

/// A loop that all threads of a group run, with an array as its state.
const STATES: &str = "
(entry alone ((X : vector int) (n : int))
  (map_workgroup (lambda (row)
    (let (start ((to_local (map_local (* 2))) row))
         (last (iterate n (lambda (state)
           (let (more ((to_local (map_local (+ 1))) row))
            in ((to_local (map_local (lambda (a b) (+ a (* b (more ! 3)))))) state row))) start))
     in (map_local (- 1) last)))
   (split 40 X)))
";

#[test]
fn states_of_loops_in_groups_stay_where_they_are() {
    let of_groups = |text: &str| {
        let code = loops(text, Target::OpenCl, false);
        let is_of_groups = |line: &&str| line.contains("(for ") && line.contains(" block ");
        (code.lines().filter(is_of_groups).count(), code)
    };
    let (groups, code) = of_groups(STATES);
    assert_eq!(groups, 1, "{code}");
    let host = Compiled::new(STATES, Target::Sequential, How::usual(false));
    for device in on_devices(STATES, small(false)) {
        for n in ["0", "1", "3"] {
            for x in [vector(0), vector(40), vector(400)] {
                let inputs = [x.as_str(), n];
                let expected = host.call(0, &inputs).expect("a value in order");
                let value = device.call(0, &inputs).expect("a value of groups");
                assert!(value.same(&expected), "{value:?}, not {expected:?}");
            }
        }
    }
}
