//! Tests that the interference checker accepts every parallel loop of the examples and of random
//! programs. A loop that it refuses is either a race, or needs a fact that a pass knows and does
//! not provide. A program with such a loop runs on one thread, with the same results.

use nova_core::Value;
use nova_driver::{Compiler, Options, Proofs, Source, Target};
use nova_loop::print::print_variable;
use nova_race::find;
use nova_tests::processes::on_all_cores;
use nova_tests::random::{self, PRELUDE};
use nova_tests::stages::{How, Passes, SMALL_TILES, Stages};
use nova_tests::{devices, effort, inputs, sources};

/// Number of random programs, with seeds from 1 on.
const SEEDS: u64 = 200;
/// The same for each change.
const FEW_SEEDS: u64 = 50;
/// The options of programs: in small chunks for threads, for kernels, and for those of CUDA.
const PASSES: [Passes; 3] = [Passes::Parallelised, Passes::Kernels(2), Passes::Cuda(2)];
/// What the checker is known not to prove, as a part of the message, and the most of the random programs that may
/// have such a loop:
///
/// - It does not follow handles: after `Unique` no other handle holds the block of a handle.
/// - It does not prove that the rows of a part of a matrix lie apart, where the part's width is the least of
///   several numbers, as where a matrix is stored into itself.
/// - It does not prove that the chunks of rows that bisection finds lie apart, where the length of a row is
///   one of several differences.
///
/// The programs are not named, as each new production makes other programs of the same seeds.
const KNOWN: [(&str, usize); 2] = [("may lead to one block", 4), ("iterations may meet in ", 4)];

/// Returns the refusals that are not by known limits, or all of a limit that more programs meet than it may.
fn unexpected(refused: Vec<Vec<String>>) -> Vec<String> {
    let mut found: Vec<String> = refused.concat();
    for (limit, most) in KNOWN {
        let meets = |program: &&Vec<String>| program.iter().any(|text| text.contains(limit));
        if refused.iter().filter(meets).count() <= most {
            found.retain(|text| !text.contains(limit));
        }
    }
    found
}

/// Further options of programs that were refused once: in chunks of the default size.
const USUAL: [Passes; 3] = [Passes::Threads(1), Passes::Threads(2), Passes::Threads(3)];

/// Programs of which a loop was refused once. The lanes of a thread of a group write to an array
/// that is allocated before the loop over groups, with a size that is a choice there. Extents are
/// equal, so that offsets are sums of powers. There are many cases in two paths to arrays of three
/// dimensions and more, whose large rows use non-temporal stores. Tables of offsets do not lie on
/// the stack, as in rows of rows.
const ONCE_REFUSED: [(&str, &str); 14] = [
    (
        "lanes of threads",
        "((X : vector int))
         (join (map_workgroup
           (lambda (row : vector int) (map_local (lambda (t : int) (reduce + t X)) row))
           (split 1 (range 3))))",
    ),
    (
        "three extents",
        "((n : int) (m : int) (l : int) (k : int))
         (tabulate (n, m, l) (lambda (i, j, h) (+ (* i k) (+ (* j 3) h))))",
    ),
    (
        "equal extents",
        "((n : int) (k : double))
         (tabulate (n, n, n) (lambda (i, j, h) (* k (to_double (+ i (+ j h))))))",
    ),
    (
        "equal extents that a condition and checks bound",
        "((n : int) (X : vector#3 float))
         (if (<= n 2) X (tabulate (n, n, n) (lambda (i, j, k) (X ! (i, j, k)))))",
    ),
    (
        "four equal extents",
        "((n : int))
         (tabulate (n, n, n, n) (lambda (i, j, h, g) (+ (to_double g) (to_double (+ i (* j h))))))",
    ),
    (
        "extents of an array",
        "((A : vector#3 double))
         (tabulate (shape A) (lambda (i, j, h) (* 2.0 (A ! (i, j, h)))))",
    ),
    (
        "conditions on an index",
        "((M : vector#2 float))
         (let ((n, m) (shape M)) in (tabulate (n, m) (lambda (i, j)
           (if (= j 0) 0.0 (+ (M ! (i, j)) (M ! (i, (- j 1))))))))",
    ),
    (
        "neighbours that wrap",
        "((A : vector#3 double))
         (let (n (to_int ((shape A).0))) in (tabulate (n, n, n) (lambda (i, j, k)
           (let (im (if (= i 0) (- n 1) (- i 1))) (jp (if (= j (- n 1)) 0 (+ j 1))) in
             (+ (A ! (im, j, k)) (A ! (i, jp, (min (- n 1) (+ k 1)))))))))",
    ),
    (
        "filters in rows of rows",
        "((X : vector (vector (vector int)))) (map (map (filter (lambda (x) (> x 0)))) X)",
    ),
    (
        "a block of constant size",
        "((m : int))
         (update_slice (tabulate (400, 500) (lambda ((i, j)) (+ i j))) (7, 9)
           (tabulate (300, 400) (lambda ((i, j)) (* (+ i m) j))))",
    ),
    (
        "a block right of the column and below the row that it reads",
        "((A : vector#2 double))
         (let ((n, m) (shape A))
           in (foldl
                (lambda (A k)
                  (let (next (+ k 1))
                       (column (map (lambda (i) (/ (A ! (i, k)) (A ! (k, k)))) (range next n)))
                       (B (update_slice A (next, k) (reshape ((length column), 1) column)))
                       (rest (tabulate ((- n next), (- n next))
                               (lambda ((i, j))
                                 (- (B ! ((+ next i), (+ next j)))
                                    (* (B ! ((+ next i), k)) (B ! (k, (+ next j))))))))
                    in (update_slice B (next, next) rest)))
                A
                (range n)))",
    ),
    (
        "scatters, marks and permutations",
        "((d : vector float) (i : vector int) (x : vector float) (y : vector float))
         ((scatter d i x), (scatter d i (map (lambda (k) 1.0) i)), (permute i y))",
    ),
    (
        "elements of a matrix that a function returns",
        "((n : int) (a : int) (b : int))
         (let (matrix (mu (f : int -> vector#2 int)
             (lambda (k : int) : vector#2 int
               (if (<= k 0)
                 (tabulate (n, n) (lambda (i, j) (+ i j)))
                 (let (r (f (- k 1))) in (tabulate (shape r) (lambda (i, j) (+ 1 (r ! (i, j))))))))))
           in (iterate 2
             (lambda (M) (tabulate (shape M) (lambda (i, j) (if (and (<= i a) (= j b)) (+ i j) (M ! (i, j))))))
             (matrix n)))",
    ),
    (
        "filters of one row",
        "((X : vector (vector int)))
         (map (lambda (r) (map (lambda (q) (filter (lambda (x) (> x q)) r)) [1 2 3])) X)",
    ),
];

/// Returns the refusals of a program.
fn refused(name: &str, text: &str, strict: bool) -> Vec<String> {
    refused_with(&PASSES, (name, text), strict)
}

fn refused_with(ways: &[Passes], (name, text): (&str, &str), strict: bool) -> Vec<String> {
    let mut found = Vec::new();
    for passes in ways.iter().copied().filter(|passes| passes.is_present()) {
        let how = How {
            strict,
            passes,
            verify: false,
            defect: None,
            tiles: SMALL_TILES,
        };
        let name = format!("{name} ({})", passes.name());
        match Stages::compile(&name, text, how) {
            Ok(stages) => {
                let program = &stages.imperative;
                let refusals = find(program).refusals;
                found.extend(refusals.iter().map(|refusal| {
                    let index = print_variable(program, refusal.index);
                    format!("{name}: {index}: {}", refusal.message)
                }));
            }
            // A library alone has no loops.
            Err(why) if why.contains("N0109") => {}
            Err(why) => found.push(format!("{name}: {why}")),
        }
    }
    found
}

/// Returns the refusals of each of this many programs, checked on all cores.
fn refused_in(count: usize, one: &(dyn Fn(usize) -> Vec<String> + Sync)) -> Vec<Vec<String>> {
    on_all_cores(count as u64, |k| one(k as usize))
}

#[test]
fn every_loop_of_the_examples_is_accepted() {
    let files = sources::programs(&["nova-examples"]);
    assert!(files.len() >= 40, "{}", files.len());
    let refused = refused_in(files.len(), &|k| {
        let text = std::fs::read_to_string(&files[k]).expect("an example");
        refused(&files[k].display().to_string(), &text, false)
    })
    .concat();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn loops_that_were_refused_once_are_accepted() {
    for (name, text) in ONCE_REFUSED {
        assert_eq!(refused(name, text, false), Vec::<String>::new());
        let usual = refused_with(&USUAL, (name, text), false);
        assert_eq!(usual, Vec::<String>::new());
    }
}

#[test]
fn every_loop_of_random_programs_is_accepted() {
    let seeds = if effort::all() { SEEDS } else { FEW_SEEDS };
    let refused = refused_in(seeds as usize, &|k| {
        let seed = k as u64 + 1;
        let text = format!("{PRELUDE}{}", random::program(seed).entry);
        refused(&format!("random {seed}"), &text, true)
    });
    let refused = unexpected(refused);
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// Returns the result of a program for inputs that are written as text, and the number of loops
/// without a proof.
fn value(text: &str, texts: &[&str], target: Target, proofs: Proofs) -> (Value, usize) {
    let compiler = Compiler::new(Options {
        target,
        proofs,
        verify: true,
        ..Options::default()
    });
    let source = Source::text("unproved", text);
    let mut checked = compiler.check(source).expect("a program");
    let library = compiler.load(&mut checked, &[]).expect("its library");
    let values = inputs::read(&checked.program, 0, texts);
    let value = library.call(0, &values).expect("a value");
    (value, checked.trace.unproved.len())
}

#[test]
fn programs_without_proofs_give_what_they_give_elsewhere() {
    let numbers: Vec<String> = (0..20_000).map(|k| (k * 7919 % 1009).to_string()).collect();
    let numbers = format!("[{}]", numbers.join(" "));
    let programs = [
        "((X : vector int)) (reduce + 0 (map (lambda (x) (* x 3)) X))",
        "((X : vector int)) (scan max 0 (filter (lambda (x) (> x 3)) X))",
        "((X : vector int)) (join (map_workgroup (map_local (+ 1)) (split 4 X)))",
    ];
    let opencl = devices::has_opencl().then_some(Target::OpenCl);
    let cuda = devices::has_cuda().then_some(Target::Cuda);
    let targets = [Some(Target::Pthreads), opencl, cuda];
    for text in programs {
        for text_of_input in ["[]", "[1 2 3 4]", &numbers] {
            let needed = Proofs::Needed;
            let (expected, none) = value(text, &[text_of_input], Target::Sequential, needed);
            assert_eq!(none, 0);
            for target in targets.into_iter().flatten() {
                let (found, unproved) = value(text, &[text_of_input], target, Proofs::Refused);
                assert!(unproved > 0, "{target}: {text}");
                assert!(found.same(&expected), "{target}: {text}: {found:?}");
            }
        }
    }
}
