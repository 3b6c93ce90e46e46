//! Operations that are parallelised into chunks. The tests compare the values for every number of
//! chunks, and check that sizes alone decide the number of chunks.

use crate::support::{apply, read, value_with};
use crate::{parallelise_freely, parallelise_strict};
use nova_core::interpret::Options;
use nova_flat::ir::{Atom, Expression, Level, Program};
use nova_flat::print::print;
use nova_flat::visit::each_statement;
use nova_schedule::Parallelism;

/// Returns a program of a vector `x` and a factor `k` with these statements and results.
pub fn program(result: (&str, &str), body: &str) -> Program {
    read(&format!(
        "(program (entry \"f\" [(\"x\" (vector f64)) (\"k\" f64)] {} \"f\")
          (function \"f\" [n:i64 x:[n]f64 k:f64] [{}] (do {body})))",
        result.0, result.1
    ))
}

fn vector(count: usize) -> String {
    let numbers: Vec<String> = (0..count).map(|k| format!("{}.5", (k * 37) % 19)).collect();
    format!("[{}]", numbers.join(" "))
}

/// Returns the values for vectors of lengths near the sizes of chunks.
pub fn values(program: &Program, strict: bool) -> Vec<String> {
    let options = Options {
        strict,
        ..Options::default()
    };
    let lengths = [0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 255, 257, 300];
    let value = |n: &usize| value_with(program, &[&vector(*n), "1.5"], &options);
    lengths.iter().map(value).collect()
}

/// Returns the numbers of grids and of sequential operations.
fn counts(program: &Program) -> (usize, usize) {
    let (mut grids, mut others) = (0, 0);
    for function in &program.functions {
        each_statement(&function.body, &mut |statement| {
            if let Expression::Operation(operation) = &statement.expression {
                match operation.level {
                    Level::Grid => grids += 1,
                    Level::Sequential => others += 1,
                }
            }
        });
    }
    (grids, others)
}

/// Parallelises a program in the strict way, compares the values, and returns the counts
/// afterwards.
#[track_caller]
pub fn parallelised(result: (&str, &str), body: &str) -> (usize, usize) {
    let mut program = program(result, body);
    let expected = values(&program, true);
    apply(parallelise_strict, &mut program);
    assert_eq!(values(&program, true), expected, "{}", print(&program));
    counts(&program)
}

pub const VECTOR: (&str, &str) = ("(vector f64)", "m:i64 r:[m]f64");
pub const NUMBER: (&str, &str) = ("f64", "r:f64");
pub const ELEMENT: &str = "(let [a:f64] (index x [i])) (let [b:f64] (mul f64 a k))";

pub fn combine(start: &str, operation: &str) -> String {
    format!(
        "(reduce_comm [{start}] (lambda [p:f64 q:f64] (do (let [s:f64] ({operation} f64 p q)) (in s))))"
    )
}

/// Returns the same output with other names for the variables that its lambda binds.
fn renamed(output: &str, ending: &str) -> String {
    output
        .replace("p:f64 q:f64", &format!("p{ending}:f64 q{ending}:f64"))
        .replace("[s:f64]", &format!("[s{ending}:f64]"))
        .replace("f64 p q", &format!("f64 p{ending} q{ending}"))
        .replace("(in s)", &format!("(in s{ending})"))
}

#[test]
fn a_map_is_joined_of_its_chunks() {
    let body =
        format!("(let [y:[n]f64] (operation [n] [i:i64] [] (do {ELEMENT} (in b)) (map))) (in n y)");
    assert_eq!(parallelised(VECTOR, &body), (1, 2));
}

/// Chunks of rows, a grid of few rows, and chunks of each of these.
#[test]
fn a_matrix_is_parallelised_over_the_first_dimension_or_in_each_row() {
    let body = "(let [y:[n][3]f64] (operation [n 3] [i:i64 j:i64] [] (do
          (let [a:f64] (index x [i])) (let [c:f64] (convert.f64 i64 j)) (let [b:f64] (mul f64 a c))
          (in b)) (map)))
        (in n 3 y)";
    assert_eq!(
        parallelised(("(array 2 f64)", "m:i64 l:i64 r:[m][l]f64"), body),
        (3, 3)
    );
}

#[test]
fn reductions_that_no_order_changes_are_chunked_and_combined() {
    let max = combine("0.0L", "max");
    let body =
        format!("(let [y:f64] (operation [n] [i:i64] [] (do {ELEMENT} (in b)) {max})) (in y)");
    assert_eq!(parallelised(NUMBER, &body), (1, 3));
}

/// Parallelises a program for the threads of a device, compares the values, and returns the counts
/// afterwards.
#[track_caller]
fn parallelised_for_kernels(strict: bool, body: &str) -> (usize, usize) {
    let mut program = program(NUMBER, body);
    let expected = values(&program, strict);
    let pass: fn(&mut Program) = match strict {
        true => |program| {
            nova_schedule::run(
                program,
                Parallelism {
                    kernels: true,
                    ..Parallelism::SMALL
                },
            )
        },
        false => |program| {
            let strict = false;
            let kernels = true;
            nova_schedule::run(
                program,
                Parallelism {
                    strict,
                    kernels,
                    ..Parallelism::SMALL
                },
            );
        },
    };
    apply(pass, &mut program);
    assert_eq!(values(&program, strict), expected, "{}", print(&program));
    counts(&program)
}

#[test]
fn reductions_of_devices_run_in_lanes_where_the_order_is_free() {
    let reduction = |output: &str| {
        format!("(let [y:f64] (operation [n] [i:i64] [] (do {ELEMENT} (in b)) {output})) (in y)")
    };
    // There are six operations: the lanes, one of them, and the operation itself where it is small.
    // The others are a kernel for the results of more than 32 lanes, a lane of that, and the host's
    // reduction after all kernels.
    let in_lanes = (2, 4);
    let (sum, max) = (combine("0.25L", "add"), combine("0.0L", "max"));
    assert_eq!(parallelised_for_kernels(false, &reduction(&sum)), in_lanes);
    assert_eq!(parallelised_for_kernels(false, &reduction(&max)), in_lanes);
    assert_eq!(parallelised_for_kernels(true, &reduction(&max)), in_lanes);
    // The order of a strict sum has chunks.
    assert_eq!(parallelised_for_kernels(true, &reduction(&sum)), (1, 3));
}

#[test]
fn sums_of_floats_are_parallelised_where_the_order_is_free() {
    let sum = combine("0.25L", "add");
    let body =
        format!("(let [y:f64] (operation [n] [i:i64] [] (do {ELEMENT} (in b)) {sum})) (in y)");
    // All values are multiples of a quarter, so that sums are exact.
    let mut program = program(NUMBER, &body);
    let expected = values(&program, false);
    apply(parallelise_freely, &mut program);
    assert_eq!(values(&program, false), expected);
    assert_eq!(counts(&program), (1, 3));
}

#[test]
fn outputs_of_one_operation_stay_together() {
    let (min, max) = (
        combine("9.0L", "min"),
        renamed(&combine("0.0L", "max"), "2"),
    );
    let body = format!(
        "(let [y:[n]f64 l:f64 h:f64] (operation [n] [i:i64] [] (do {ELEMENT} (in b a b)) (map) {min} {max}))
         (let [z:f64] (add f64 l h)) (let [u:[n]f64] (operation [n] [j:i64] [] (do
           (let [c:f64] (index y [j])) (let [d:f64] (add f64 c z)) (in d)) (map)))
         (in n u)"
    );
    assert_eq!(parallelised(VECTOR, &body), (2, 5));
}

#[test]
fn chunks_of_scans_and_filters_begin_with_the_results_of_earlier_ones() {
    let scan = |word: &str| combine("0.0L", "max").replace("reduce_comm", word);
    for word in ["scan", "exscan"] {
        let body = format!(
            "(let [y:[n]f64] (operation [n] [i:i64] [] (do {ELEMENT} (in b)) {})) (in n y)",
            scan(word)
        );
        assert_eq!(parallelised(VECTOR, &body), (2, 4), "{word}");
    }
    let condition = "(let [c:bool] (lt f64 a 9.0L))";
    let body = format!(
        "(let [m0:i64 y:[m0]f64] (operation [n] [i:i64] [] (do {ELEMENT} {condition} (in c b)) (filter 1)))
         (in m0 y)"
    );
    assert_eq!(parallelised(VECTOR, &body), (2, 4));
    let body = format!(
        "(let [w:[n]f64 m0:i64 y:[m0]f64 z:[m0]f64 l:f64 sc:[n]f64]
           (operation [n] [i:i64] [] (do {ELEMENT} {condition} (in a c b a b b)) (map) (filter 2) {} {}))
         (let [t:i64] (add i64 n m0))
         (let [u:[t]f64] (operation [t] [j:i64] [] (do
           (let [left:bool] (lt i64 j n))
           (let [o:f64] (if left
             (do (let [g:f64] (index w [j])) (let [h:f64] (index sc [j])) (let [v:f64] (add f64 g h)) (in v))
             (do (let [d:i64] (sub i64 j n)) (let [e:f64] (index y [d])) (let [f:f64] (index z [d]))
                 (let [x1:f64] (sub f64 e f)) (in x1))))
           (let [x2:f64] (add f64 o l)) (in x2)) (map)))
         (in t u)",
        renamed(&combine("0.0L", "max"), "2"),
        scan("scan")
    );
    // The last map has a conditional, and is parallelised too.
    assert_eq!(parallelised(VECTOR, &body), (3, 7));
}

#[test]
fn histograms_of_chunks_are_combined() {
    let element = format!("{ELEMENT} (let [w:i64] (mul i64 i i)) (let [at:i64] (rem i64 w 7))");
    let count = "[5] (lambda [l:i64 q:i64] (do (let [u:i64] (add i64 l q)) (in u)))";
    // No bins, fewer bins than there are indices of bins, more, and more than elements.
    for bins in ["0", "1", "3", "9", "n"] {
        let body = format!(
            "(let [h:[{bins}]i64] (operation [n] [i:i64] [] (do {element} (in at i))
               (histogram {bins} {count}))) (in {bins} h)"
        );
        let counts = parallelised(("(vector i64)", "m:i64 r:[m]i64"), &body);
        assert!(counts.0 >= 2, "{bins}: {counts:?}");
    }
    // Several outputs of one operation, one of them of two components.
    let max = combine("2.5L", "max").replace("reduce_comm", "histogram 3");
    let body = format!(
        "(let [m0:i64 y:[m0]f64 h:[3]f64 g:[9]i64 e:[9]f64 low:f64]
           (operation [n] [i:i64] [] (do {element} (let [c:bool] (lt f64 a 9.0L)) (in c b at b at i b b))
             (filter 1) {max}
             (histogram 9 [7 100.0L] (lambda [l:i64 o:f64 l1:i64 o1:f64] (do
               (let [u:i64] (add i64 l l1)) (let [v:f64] (min f64 o o1)) (in u v)))) {}))
         (in m0 y 3 h 9 g 9 e low)",
        renamed(&combine("0.0L", "min"), "2")
    );
    let results = (
        "(tuple (vector f64) (vector f64) (vector i64) (vector f64) f64)",
        "m1:i64 r1:[m1]f64 m2:i64 r2:[m2]f64 m3:i64 r3:[m3]i64 m4:i64 r4:[m4]f64 r5:f64",
    );
    assert_eq!(parallelised(results, &body), (6, 21));
}

#[test]
fn code_of_histograms_of_kernels_is_parallelised_once() {
    // There is a sum over all elements for each index, which may have kernels of its own.
    let body = "(let [h:[n]i64] (operation [n] [i:i64] [] (do
         (let [s:f64] (operation [n] [j:i64] [] (do (let [a:f64] (index x [j])) (in a))
           (reduce_comm [0.0L] (lambda [p:f64 q:f64] (do (let [u:f64] (max f64 p q)) (in u))))))
         (let [c:bool] (lt f64 s k)) (let [b:i64] (convert.i64 bool c)) (in b i))
       (histogram n [5] (lambda [l:i64 o:i64] (do (let [t:i64] (add i64 l o)) (in t)))))) (in n h)";
    let mut program = program(("(vector i64)", "m:i64 r:[m]i64"), body);
    let expected = values(&program, true);
    let parallelise_for_kernels = |program: &mut Program| {
        let kernels = true;
        nova_schedule::run(
            program,
            Parallelism {
                kernels,
                ..Parallelism::SMALL
            },
        );
    };
    apply(parallelise_for_kernels, &mut program);
    assert_eq!(values(&program, true), expected);
    assert!(
        (3..20).contains(&counts(&program).0),
        "{:?}",
        counts(&program)
    );
}

#[test]
fn histograms_of_sums_of_floats_are_parallelised_where_the_order_is_free() {
    let sum = combine("0.25L", "add").replace("reduce_comm", "histogram 3");
    let body = format!(
        "(let [h:[3]f64] (operation [n] [i:i64] [] (do {ELEMENT} (let [at:i64] (rem i64 i 4)) (in at b)) {sum}))
         (in 3 h)"
    );
    assert_eq!(parallelised(VECTOR, &body), (0, 1));
    // All values are multiples of a quarter, so that sums are exact.
    let mut program = program(VECTOR, &body);
    let expected = values(&program, false);
    apply(parallelise_freely, &mut program);
    assert_eq!(values(&program, false), expected);
    assert!(counts(&program).0 >= 2);
}

/// Returns a sort of the vector by a comparison `c` of the elements `a` and `b`.
fn sort(compare: &str) -> String {
    format!(
        "(let [p:[n]i64] (sort n (lambda [i:i64 j:i64] (do
           (let [a:f64] (index x [i])) (let [b:f64] (index x [j])) {compare} (in c)))))
         (in n p)"
    )
}

#[test]
fn sorts_of_chunks_are_merged() {
    let order = ("(vector i64)", "m:i64 r:[m]i64");
    let comparisons = [
        "(let [c:bool] (le f64 a b))",
        "(let [c:bool] (ge f64 a b))",
        // These are no preorders. The merge sort of the whole gives the same as those of the
        // chunks.
        "(let [c:bool] (lt f64 a b))",
        "(let [d:f64] (add f64 a 3.0L)) (let [e:f64] (mul f64 b 1.5L)) (let [c:bool] (ne f64 d e))",
        "(let [d:f64] (mul f64 a 0.5L)) (let [e:f64] (floor f64 d)) (let [g:f64] (sub f64 d e))
         (let [c:bool] (lt f64 g b))",
        "(let [c:bool] (ne i64 i 3))",
    ];
    for compare in comparisons {
        assert_eq!(parallelised(order, &sort(compare)), (2, 3), "{compare}");
    }
    // A comparison that may fail is made of the same pairs as in the whole.
    let checked =
        "(let [s:i64] (add i64 i j)) (let [ok:bool] (ne i64 s 251)) (let [] (check ok index [i j]))
        (let [c:bool] (le f64 a b))";
    assert_eq!(parallelised(order, &sort(checked)), (2, 2));
    let traced = "(let [] (trace \"a\" f64 [b])) (let [c:bool] (le f64 a b))";
    let mut program = program(order, &sort(traced));
    apply(parallelise_strict, &mut program);
    assert_eq!(counts(&program), (0, 0));
}

#[test]
fn state_that_is_a_running_result_is_parallelised() {
    let number = ("i64", "r:i64");
    let sum = "(operation [n] [i:i64] [c:i64 = 5] (do (let [w:i64] (mul i64 i i)) (let [d:i64] (add i64 w c)) (in d)))";
    assert_eq!(
        parallelised(number, &format!("(let [y:i64] {sum}) (in y)")),
        (1, 3)
    );
    // Only the second grid gives values that depend on the state.
    let body = format!(
        "(let [y:i64 z:f64 u:[n]i64 v:[n]f64 m0:i64 k0:[m0]i64]
           (operation [n] [i:i64] [c:i64 = 5 g:f64 = 1.0L] (do {ELEMENT}
             (let [w:i64] (mul i64 c 3)) (let [o:i64] (rem i64 w 7)) (let [odd:bool] (eq i64 o 3))
             (let [t:f64] (if odd (do (in a)) (do (in g))))
             (let [d:i64] (add i64 c i)) (let [h:f64] (max f64 b g)) (let [keep:bool] (lt f64 a 9.0L))
             (in d h o t keep d)) (map) (map) (filter 1)))
         (in y z n u n v m0 k0)"
    );
    let results = (
        "(tuple i64 f64 (vector i64) (vector f64) (vector i64))",
        "r1:i64 r2:f64 m2:i64 r3:[m2]i64 m3:i64 r4:[m3]f64 m4:i64 r5:[m4]i64",
    );
    assert_eq!(parallelised(results, &body), (2, 4));
    for body in [
        // The condition of the filter depends on the state.
        "(let [y:i64 m0:i64 k0:[m0]i64] (operation [n] [i:i64] [c:i64 = 5] (do
           (let [keep:bool] (lt i64 c 9)) (let [d:i64] (add i64 c i)) (in d keep i)) (filter 1))) (in m0)",
        // A failure depends on the state.
        "(let [y:i64] (operation [n] [i:i64] [c:i64 = 5] (do
           (let [ok:bool] (lt i64 c 90000)) (let [] (check ok index [i c])) (let [d:i64] (add i64 c i)) (in d))))
         (in y)",
        // The next state depends on the state in another way.
        "(let [y:i64] (operation [n] [i:i64] [c:i64 = 5] (do
           (let [w:i64] (mul i64 c i)) (let [d:i64] (add i64 c w)) (in d)))) (in y)",
    ] {
        assert_eq!(parallelised(number, body).0, 0, "{body}");
    }
}

#[test]
fn what_runs_in_order_stays_whole() {
    let carries = "(let [y:f64] (operation [n] [i:i64] [c:f64 = 0.0L] (do
          (let [a:f64] (index x [i])) (let [d:f64] (add f64 a c)) (in d)))) (in y)";
    assert_eq!(parallelised(NUMBER, carries), (0, 1));
    let trace = format!(
        "(let [y:[n]f64] (operation [n] [i:i64] [] (do {ELEMENT} (let [] (trace \"a\" f64 [b])) (in b)) (map)))
         (in n y)"
    );
    let mut program = program(VECTOR, &trace);
    apply(parallelise_strict, &mut program);
    assert_eq!(counts(&program), (0, 1));
}

/// Returns the numbers of grids and of other operations of a map whose body adds numbers and makes a node. The
/// node has a number and what `payload` adds, the components `values`; `read` is the pattern that reads them.
fn counts_of_new_nodes(payload: &str, values: &str, read_pattern: &str) -> (usize, usize) {
    let text = format!(
        "(program
      (sum \"L\" [] [0] (\"N\" unit) (\"C\" (tuple i64{payload} (sum 0))))
      (entry \"f\" [(\"x\" (vector i64))] (vector i64) \"f\")
      (function \"f\" [n:i64 x:[n]i64] [m:i64 r:[m]i64] (do
        (let [y:[n]i64] (operation [n] [i:i64] [] (do
          (let [s:i64] (operation [n] [j:i64] [] (do (let [e:i64] (index x [j])) (in e))
            (reduce [0] (lambda [a:i64 b:i64] (do (let [c:i64] (add i64 a b)) (in c))))))
          (let [l:i64] (call \"one\" [n x s]))
          (let [h:i64{read_pattern} t:i64] (payload 0 1 l)) (in h)) (map)))
        (in n y)))
      (function \"one\" [u:i64 w:[u]i64 v:i64] [p:i64] (do
        (let [z:i64] (new 0 0 [])) (let [q:i64] (new 0 1 [v{values} z])) (in q))))"
    );
    let mut program = read(&text);
    let value_before = value_with(&program, &["[3 4 5 6 7 8 9]"], &Options::default());
    apply(parallelise_strict, &mut program);
    let value_after = value_with(&program, &["[3 4 5 6 7 8 9]"], &Options::default());
    assert_eq!(value_after, value_before);
    counts(&program)
}

#[test]
fn threads_make_nodes() {
    // The map has a grid, and it itself where it is small; so has the reduction inside of each, besides a chunk
    // and the reduction of the chunks.
    assert_eq!(counts_of_new_nodes("", "", ""), (2, 8));
}

#[test]
fn operations_that_make_nodes_with_arrays_stay_whole_and_inner_ones_are_parallelised() {
    // There are five operations: the map, and for the reduction the grid, a chunk, the reduction of
    // the chunks, and the operation itself where it is small.
    let arrays = (" (vector i64)", " u w", " g:i64 d:[g]i64");
    assert_eq!(counts_of_new_nodes(arrays.0, arrays.1, arrays.2), (1, 4));
}

#[test]
fn errors_keep_their_place() {
    let body = format!(
        "(let [y:[n]f64] (operation [n] [i:i64] [] (do {ELEMENT}
           (let [ok:bool] (lt f64 b 20.0L)) (let [] (check ok index [i n])) (in b)) (map)))
         (in n y)"
    );
    assert_eq!(parallelised(VECTOR, &body), (1, 2));
}

#[test]
fn little_work_is_not_parallelised() {
    let body = "(let [y:[3]f64] (operation [3] [i:i64] [] (do (let [b:f64] (convert.f64 i64 i)) (in b)) (map)))
        (let [z:f64] (index y [2])) (in z)";
    let mut program = program(NUMBER, body);
    nova_schedule::run(&mut program, Parallelism::DEFAULT);
    assert_eq!(counts(&program), (0, 1));
}

#[test]
fn chunks_of_rows_hold_a_tile_where_there_are_enough() {
    let chunks = |rows: i64, columns: &str| {
        let body = format!(
            "(let [y:[{rows}]f64] (operation [{rows}] [i:i64] [] (do
               (let [s:f64] (operation [{columns}] [j:i64] [] (do (let [a:f64] (index x [j])) (in a)) {}))
               (in s)) (map)))
             (let [z:f64] (index y [0])) (in z)",
            renamed(&combine("0.0L", "max"), "2")
        );
        let mut program = program(NUMBER, &body);
        nova_schedule::run(&mut program, Parallelism::DEFAULT);
        let mut chunks = Vec::new();
        each_statement(&program.functions[0].body, &mut |statement| {
            if let Expression::Operation(operation) = &statement.expression
                && operation.level == Level::Grid
            {
                chunks.extend(operation.shape.clone());
            }
        });
        // The grids in the body of a chunk come later.
        chunks.first().copied()
    };
    assert_eq!(chunks(2000, "60000"), Some(Atom::index(32)));
    assert_eq!(chunks(32, "60000"), Some(Atom::index(16)));
    assert_eq!(chunks(32000, "60000"), Some(Atom::index(250)));
}

/// Returns the numbers of grids and of other operations of a loop over the first node of a list with this
/// payload.
fn counts_of_nodes(payload: &str, pattern: &str, kernels: bool) -> (usize, usize) {
    let text = format!(
        "(program
          (sum \"L\" [] [0] (\"Nil\" unit) (\"Cons\" (tuple {payload} (sum 0))))
          (entry \"f\" [(\"l\" (sum 0)) (\"n\" i64)] (vector i64) \"f\")
          (function \"f\" [l:i64 n:i64] [m:i64 r:[m]i64] (do
            (let [a:[n]i64] (operation [n] [i:i64] [] (do
              (let [t:i32] (tag 0 l))
              (let [v:i64] (switch t (do (in 0)) (do
                (let [{pattern} next:i64] (payload 0 1 l))
                (let [w:i64] (mul i64 k i)) (let [x:i64] (mul i64 w w)) (in x))))
              (in v)) (map)))
            (in n a))))"
    );
    let mut program = read(&text);
    let parallelism = Parallelism {
        kernels,
        ..Parallelism::DEFAULT
    };
    apply(
        |program| nova_schedule::run(program, parallelism),
        &mut program,
    );
    counts(&program)
}

#[test]
fn threads_of_the_host_take_no_arrays_from_nodes() {
    // Several nodes may hold one array, whose references one thread counts. Kernels count none.
    let arrays = ("(vector f32)", "k:i64 data:[k]f32");
    assert_eq!(counts_of_nodes(arrays.0, arrays.1, false).0, 0);
    assert!(counts_of_nodes(arrays.0, arrays.1, true).0 > 0);
    assert!(counts_of_nodes("i64", "k:i64", false).0 > 0);
}
