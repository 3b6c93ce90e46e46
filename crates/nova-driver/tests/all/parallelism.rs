//! Tests of the report on parallelisation, for programs of every shape.

use nova_driver::{Compiler, Options, Source, Target};

/// Returns the lines of the report about loops and their parallelism, without places.
fn loops(text: &str, options: &Options) -> String {
    let compiler = Compiler::new(options.clone());
    let mut checked = compiler
        .check(Source::text("p", text))
        .unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    let report = compiler
        .explain(&mut checked)
        .unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    let (_passes, functions) = report.split_once("\n\n").unwrap_or_default();
    let functions = functions.split("choices, as --plan").next();
    let functions = functions.unwrap_or_default();
    let others = [": array ", " in place", "may stop", "not fused", "copies "];
    let mut kept = String::new();
    for line in functions.lines().skip(1) {
        if others.iter().any(|other| line.contains(other)) {
            continue;
        }
        let line = line.strip_prefix("  ").unwrap_or(line);
        let indent = line.len() - line.trim_start().len();
        let words = match line.trim_start().split_once(": ") {
            Some((place, words)) if place.starts_with("p:") => words,
            Some(_) | None => line.trim_start(),
        };
        if line.is_empty() {
            continue;
        }
        kept += &format!("{:indent$}{words}\n", "");
    }
    kept
}

fn pthreads() -> Options {
    Options {
        target: Target::Pthreads,
        ..Options::default()
    }
}

#[track_caller]
fn says(text: &str, expected: &[&str]) {
    let found = loops(text, &pthreads());
    assert_eq!(
        found.lines().collect::<Vec<_>>(),
        expected,
        "{text}\n{found}"
    );
}

#[track_caller]
fn says_strictly(text: &str, expected: &[&str]) {
    let strict = true;
    let found = loops(
        text,
        &Options {
            strict,
            ..pthreads()
        },
    );
    assert_eq!(
        found.lines().collect::<Vec<_>>(),
        expected,
        "{text}\n{found}"
    );
}

#[test]
fn one_thread_is_not_told_of_others() {
    let text = "((X : vector float)) (reduce + 0.0f X)";
    let found = loops(text, &Options::default());
    assert_eq!(found, "a loop of X_length iterations, in order: reduce\n");
    let mut without = pthreads();
    without.disabled.insert("parallelise".to_string());
    assert_eq!(loops(text, &without), found);
}

#[test]
fn maps() {
    says(
        "((X : vector float)) (map (lambda (x) (* x 2.0f)) X)",
        &[
            "a loop of X_length iterations, parallelised: map",
            "  from 131072 iterations on, into even chunks of 65536 or more; an iteration counts as 2 operations",
        ],
    );
    let small = "((x : int)) (map (lambda (y) (+ y x)) [1 2 3])";
    says(
        small,
        &[
            "a loop of 3 iterations, in order: map",
            "  not parallelised: it is known to cost less than two chunks",
        ],
    );
    says(
        "((X : vector int)) (map (lambda (x) (trace \"x\" x)) X)",
        &[
            "a loop of X_length iterations, in order: map",
            "  not parallelised: it writes traces or calls foreign functions with effects, which keep their order",
        ],
    );
}

#[test]
fn reductions() {
    let sum = "((X : vector float)) (reduce + 0.0f X)";
    says(
        sum,
        &[
            "a loop of X_length iterations, parallelised: reduce",
            "  from 262144 iterations on, into even chunks of 131072 or more; an iteration counts as 1 operation",
            "  the results of the chunks are reduced",
        ],
    );
    says_strictly(
        sum,
        &[
            "a loop of X_length iterations, parallelised: reduce",
            "  from 262144 iterations on, into even chunks of 131072 or more; an iteration counts as 1 operation",
            "  the results of the chunks are reduced; chunks are subtrees of the strict order, which is kept",
        ],
    );
    says(
        "((X : vector int)) (reduce (lambda (a b) (+ (* a b) 1)) 0 X)",
        &[
            "a loop of X_length iterations, parallelised: reduce",
            "  from 21846 iterations on, into even chunks of 10944 or more; an iteration counts as 3 operations",
            "  the results of the chunks are reduced; a chunk starts with its first element, since no value is known that changes nothing",
        ],
    );
}

#[test]
fn scans() {
    let running = "((X : vector float)) (scan + 0.0f X)";
    says(
        running,
        &[
            "a loop of X_length iterations, parallelised: scan",
            "  from 524288 iterations on, into even chunks of 32768 or more; an iteration counts as 1 operation",
            "  in two steps: what each chunk reduces to, then the running results",
        ],
    );
    says(
        "((X : vector int)) (scan + 0 X)",
        &[
            "a loop of X_length iterations, parallelised: scan",
            "  from 524288 iterations on, into even chunks of 32768 or more; an iteration counts as 1 operation",
            "  in two steps: what each chunk reduces to, then the running results",
            "  only if a thread has nothing to do when it begins: the whole is less to do, and gives the same",
        ],
    );
    says_strictly(
        running,
        &[
            "a loop of X_length iterations, parallelised: scan",
            "  from 524288 iterations on, into even chunks of 32768 or more; an iteration counts as 1 operation",
            "  in two steps: what each block of the strict order reduces to, then the running results",
        ],
    );
    says(
        "((X : vector float)) (scan + 0.0f (map (lambda (x) (sin (cos (exp x)))) X))",
        &[
            "a loop of X_length iterations, in order: scan",
            "  not parallelised: the body would be computed twice, which costs too much",
        ],
    );
}

#[test]
fn filters() {
    says(
        "((X : vector int)) (filter (lambda (x) (> x 3)) X)",
        &[
            "a loop of X_length iterations, parallelised: filter",
            "  from 32768 iterations on, into even chunks of 16384 or more; an iteration counts as 2 operations",
            "  in two steps: how many elements each chunk keeps, then the elements",
        ],
    );
    says(
        "((X : vector float)) (filter (lambda (x) (> (sin (cos (exp x))) 0.1f)) X)",
        &[
            "a loop of X_length iterations, parallelised: filter",
            "  from 1311 iterations on, into even chunks of 704 or more; an iteration counts as 50 operations",
            "  the survivors of the chunks are copied one after the other",
        ],
    );
}

#[test]
fn histograms_sorts_and_scatters() {
    let counts = "((X : vector int)) (histogram + 0 10 X X)";
    says(
        counts,
        &[
            "a loop of X_length iterations, parallelised: histogram",
            "  from 32768 iterations on, into even chunks of 16384 or more; an iteration counts as 2 operations",
            "  one set of bins for each chunk, which are combined; a chunk has 8 elements or more for each of its bins",
        ],
    );
    let sums = "((I : vector int) (X : vector float)) (histogram + 0.0f 10 I X)";
    says(
        sums,
        &[
            "a loop of I_length iterations, parallelised: histogram",
            "  from 21846 iterations on, into even chunks of 10944 or more; an iteration counts as 3 operations",
            "  one set of bins for each chunk, which are combined; a chunk has 8 elements or more for each of its bins",
        ],
    );
    says_strictly(
        sums,
        &[
            "a loop of I_length iterations, in order: histogram",
            "  not parallelised: its values are combined in an order that chunks cannot keep",
        ],
    );
    says(
        "((X : vector int)) (sort (lambda (a b) (< a (& b 15))) X)",
        &[
            "a sort of X_length elements, parallelised",
            "  into runs of a power of two of elements",
            "  runs are sorted, then merged in pieces of their size",
            "a loop of X_length iterations, parallelised: map",
            "  from 32768 iterations on, into even chunks of 16384 or more; an iteration counts as 2 operations",
        ],
    );
    says(
        "((X : vector int) (I : vector int)) (scatter X I X)",
        &[
            "a loop of I_length iterations, in order: scatter",
            "  not parallelised: chunks would have to agree on which of several elements for one place is the last",
        ],
    );
}

#[test]
fn folds() {
    says(
        "((X : vector int)) (foldl (lambda (s x) (% (+ (* s 31) x) 1009)) 7 X)",
        &[
            "a loop of X_length iterations, in order",
            "  not parallelised: each iteration needs what the one before gave, and that is no running result of an operator that no order changes",
        ],
    );
}

#[test]
fn nests() {
    says(
        "((X : vector (vector float))) (map (reduce + 0.0f) X)",
        &[
            "a loop of X_length iterations, parallelised: map",
            "  an irregular nest: a balanced outer loop",
            "  from 65536 operations on, into chunks of 32768 or more, with about as many elements, not rows; a row counts as 4 operations, each of its elements as 3",
            "  rows that do not follow each other in memory are chunked by number",
            "  with fewer than 32 iterations, or in a chunk with a row longer than two chunks, loops inside are parallelised",
            "  a loop of x_length iterations, in order: reduce",
            "    parallelised where the enclosing loop has few iterations or a long row: from 131072 iterations on, into even chunks of 65536 or more; an iteration counts as 2 operations",
            "    the results of the chunks are reduced",
        ],
    );
    says(
        "((X : vector (vector int))) (map (lambda (r) (filter (lambda (x) (> x 0)) r)) X)",
        &[
            "a loop of X_length iterations, parallelised: rows of varying length",
            "  an irregular nest: a balanced outer loop; no matrix, since a row is not what one map gives",
            "  from 65536 operations on, into chunks of 32768 or more, with about as many elements, not rows; a row counts as 4 operations, each of its elements as 3",
            "  the rows of the chunks are copied one after the other",
            "  rows that do not follow each other in memory are chunked by number",
            "  with fewer than 32 iterations, or in a chunk with a row longer than two chunks, loops inside are parallelised",
            "  a loop of r_length iterations, in order: filter",
            "    parallelised where the enclosing loop has few iterations or a long row: from 21846 iterations on, into even chunks of 10944 or more; an iteration counts as 3 operations",
            "    in two steps: how many elements each chunk keeps, then the elements",
        ],
    );
    says(
        "((X : vector float) (Y : vector float)) (map (lambda (x) (map (lambda (y) (* x y)) Y)) X)",
        &[
            "a loop of X_length x Y_length iterations, parallelised: map",
            "  a regular nest: one operation of several dimensions",
            "  from 262144 operations on, into even chunks of 131072 or more; an iteration counts as Y_length x 3 operations",
            "  with fewer than 32 iterations of the outermost dimension, and rows that are worth chunks, each row is in chunks of its own",
            "a loop of X_length iterations, parallelised: 2 times map",
            "  from 131072 iterations on, into even chunks of 65536 or more; an iteration counts as 2 operations",
        ],
    );
    says(
        "((n : int) (X : vector float)) (map (lambda (i) (reduce + 0.0f (map (* (to_float i)) X))) (range 0 1 n))",
        &[
            "a loop of t iterations, parallelised, in tiles: map",
            "  a nest: an outer loop",
            "  from 262144 operations on, into even chunks of 131072 or more; an iteration counts as 3 + X_length x 3 operations",
            "  with fewer than 32 iterations loops inside are parallelised",
            "  a loop of X_length iterations, in order: reduce",
            "    parallelised where the enclosing loop has few iterations or a long row: from 131072 iterations on, into even chunks of 65536 or more; an iteration counts as 2 operations",
            "    the results of the chunks are reduced",
        ],
    );
}

#[test]
fn no_more_than_three_levels_are_parallelised() {
    let text = "((X : vector (vector (vector (vector (vector int))))))
        (map (map (map (map (reduce + 0)))) X)";
    let found = loops(text, &pthreads());
    let deepest: Vec<&str> = found
        .lines()
        .filter(|l| l.starts_with("          "))
        .collect();
    assert_eq!(
        deepest,
        ["          not parallelised: 3 parallelised loops enclose it"],
        "{found}"
    );
}

#[test]
fn recursion() {
    let path = "../../nova-examples/nested/quicksort.nova";
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    says(
        &std::fs::read_to_string(path).unwrap(),
        &[
            "no loops, no arrays of its own",
            "function quicksort (p:5:14)",
            "calls itself: its depth is checked at every call",
            "a loop of v_length iterations, parallelised: 2 times filter",
            "  from 21846 iterations on, into even chunks of 10944 or more; an iteration counts as 3 operations",
            "  in two steps: how many elements each chunk keeps, then the elements",
            "a loop of 2 iterations, parallelised: rows of varying length",
            "  from 65536 operations on, into chunks of 32768 or more, with about as many elements, not rows; a row counts as 67 operations, each of its elements as 64",
            "  the rows of the chunks are copied one after the other",
            "  rows that do not follow each other in memory are chunked by number",
            "a loop of v_length iterations, parallelised: filter",
            "  from 32768 iterations on, into even chunks of 16384 or more; an iteration counts as 2 operations",
            "  in two steps: how many elements each chunk keeps, then the elements",
        ],
    );
    says(
        "((n : int))
         (define (fib (lambda (n) : float
           (if (< n 2) 1.0f else (+ (fib (- n 1)) (fib (- n 2)))))))
         (reduce + 0.0f (tabulate n fib))",
        &[
            "a loop of t iterations, in order: reduce",
            "  not parallelised: nothing says how much recursive calls have to do, and the result depends on how it is chunked",
            "function fib (p:2:23)",
            "calls itself: its depth is checked at every call",
            "no loops, no arrays of its own",
        ],
    );
}

#[test]
fn nodes_with_arrays() {
    says(
        "((X : vector (vector int)))
         (types (List : (+ (Nil : unit) (Cons : (vector int, List)))))
         (map (lambda (row) (case (Cons (row, Nil)) (Nil 0) (Cons (x, rest) (length x)))) X)",
        &[
            "a loop of X_length iterations, in order: map",
            "  not parallelised: it makes nodes that hold arrays, takes arrays from nodes or needs whole tables of nodes, which only one thread may",
            "  appends a node to the table of its type",
            "  appends a node to the table of its type",
        ],
    );
}

#[test]
fn node_tables() {
    says(
        "((X : vector (vector int)))
         (types (List : (+ (Nil : unit) (Cons : (int, List)))))
         (define
           (list_sum (lambda (l) : int (case l (Nil 0) (Cons (x, rest) (+ x (list_sum rest)))))))
         (map (lambda (row) (list_sum (foldl (lambda (l x) (Cons (x, l))) Nil (filter (< 3) row)))) X)",
        &[
"a loop of X_length iterations, parallelised: map",
"  a nest: an outer loop",
"  if a thread has nothing to do when it begins, since nothing says how much recursive calls have to do",
"  appends a node to the table of its type",
"  a loop of row_length iterations, in order",
"    not parallelised: each iteration needs what the one before gave, and that is no running result of an operator that no order changes",
"    appends a node to the table of its type",
"function list_sum (p:4:22)",
"calls itself: its depth is checked at every call",
"no loops, no arrays of its own",
],
    );
}

#[test]
fn devices_have_a_thread_for_each_iteration_or_lane_or_chunk() {
    let text = "((X : vector float) (Y : vector float)) (map + X Y)";
    let options = Options {
        target: Target::OpenCl,
        ..Options::default()
    };
    let found = loops(text, &options);
    let kernel = "from 128 operations on, as a kernel with a thread for each iteration";
    assert!(found.contains(kernel), "{found}");
    let text = "((X : vector float)) (reduce + 0 X)";
    let found = loops(text, &options);
    let lanes = "from 128 iterations on, as a kernel in blocks of 32 lanes: neighbouring threads take \
                 neighbouring iterations, each 64 or more in steps of 32; an iteration counts as 1 operation";
    let combined = "the results of the lanes are reduced: by a kernel in lanes as long as there are more \
                    than 1024 values, then by the host";
    assert!(found.contains(lanes), "{found}");
    assert!(found.contains(combined), "{found}");
    // A reduction whose order matters has one partial result for each chunk.
    let strict = true;
    let found = loops(text, &Options { strict, ..options });
    assert!(found.contains("into even chunks of"), "{found}");
}
