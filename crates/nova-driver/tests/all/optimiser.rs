//! Tests of the optimiser on small programs: the checks, calls and arrays that are left in Flat.

use nova_driver::{Compiler, Options, Source, Stage};

/// Returns the optimised Flat program of a source text, verified after every pass.
fn flat(text: &str) -> String {
    emit(text, Stage::Flat)
}

/// Returns the program of a source text at a stage, verified after every pass.
fn emit(text: &str, stage: Stage) -> String {
    let compiler = Compiler::new(Options {
        verify: true,
        ..Options::default()
    });
    let mut checked = compiler
        .check(Source::text("program", text))
        .unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    compiler
        .emit(&mut checked, stage)
        .unwrap_or_else(|failure| panic!("{text}: {failure:?}"))
}

/// Counts the occurrences of a form in the text of a program.
fn count(program: &str, form: &str) -> usize {
    program.matches(form).count()
}

#[test]
fn checks_that_cannot_fail_are_dropped() {
    let programs = [
        // The index of the vector itself.
        "((X : vector int)) (imap (lambda (i) (X ! (to_int64 i))) X)",
        // A neighbour, clamped to the vector.
        "((X : vector int)) (let (n (to_int64 ((length X) : int64))) in
           (tabulate n (lambda (i : int64) (X ! (max 0 (min (- i 1) (- n 1)))))))",
        // The previous one, except for the first.
        "((X : vector int)) (let (n ((length X) : int64)) in
           (tabulate n (lambda (i : int64) (if (= i 0) then 0 else (X ! (- i 1))))))",
        // Reversed.
        "((X : vector int)) (let (n ((length X) : int64)) in
           (tabulate n (lambda (i : int64) (X ! (- (- n 1) i)))))",
        // A remainder.
        "((X : vector int)) (let (n ((length X) : int64)) in
           (tabulate n (lambda (i : int64) (X ! (% (* i 7) n)))))",
        // The remainder of a product that may wrap and then be negative: a vector has at most 2⁴⁸
        // elements.
        "((X : vector int)) (let (n ((length X) : int64)) in
           (tabulate n (lambda (i : int64) (X ! (% (* i 100000) n)))))",
    ];
    for program in &programs[..5] {
        let text = flat(program);
        assert_eq!(count(&text, " index ["), 0, "{program}\n{text}");
    }
    assert_eq!(count(&flat(programs[5]), " index ["), 1);
}

#[test]
fn checks_that_may_fail_stay() {
    let programs = [
        "((X : vector int)) (imap (lambda (i) (X ! (+ i 1))) X)",
        "((X : vector int)) (imap (lambda (i) (X ! (- i 1))) X)",
        "((X : vector int) (I : vector int)) (map (lambda (i) (X ! i)) I)",
        "((X : vector int) (Y : vector int)) (imap (lambda (i) (X ! i)) Y)",
        // An addition that wraps.
        "((X : vector int) (k : int8)) (if (>= k 0) then (X ! (+ k 1)) else 0)",
        // The fact is known only in the other branch.
        "((X : vector int) (i : int64)) (let (n ((length X) : int64)) in
           (if (and (>= i 0) (< i n)) then 0 else (X ! i)))",
    ];
    for program in programs {
        let text = flat(program);
        assert!(count(&text, "(check") > 0, "{program}\n{text}");
    }
}

/// Counts the checks that are left inside operations.
fn checks_in_loops(program: &str) -> usize {
    let (_, inside) = program.split_once("(operation").unwrap_or_default();
    count(inside, "(check")
}

#[test]
fn checks_that_grow_with_the_index_are_made_at_its_ends() {
    let programs = [
        "((X : vector int) (Y : vector int)) (imap (lambda (i) (X ! i)) Y)",
        "((X : vector int)) (imap (lambda (i) (X ! (+ i 1))) X)",
        "((X : vector int)) (imap (lambda (i) (X ! (- i 1))) X)",
        // A product of matrices: one check before all loops.
        "((A : vector#2 float) (B : vector#2 float))
         (let ((n, k) (shape A)) ((l, m) (shape B)) in
           (tabulate (n, m) (lambda ((i, j))
             (reduce + 0.0f (tabulate k (lambda (l) (* (A ! (i, l)) (B ! (l, j)))))))))",
    ];
    for program in programs {
        let text = flat(program);
        assert_eq!(checks_in_loops(&text), 0, "{program}\n{text}");
        assert!(count(&text, " index [") > 0, "{program}\n{text}");
    }
    // Where an iteration traces, an error comes after the traces of the iterations before.
    let text = flat(
        "((X : vector int) (Y : vector int)) (imap (lambda (i) (+ (X ! i) (trace \"i\" i))) Y)",
    );
    assert_eq!(checks_in_loops(&text), 1, "{text}");
}

#[test]
fn checks_that_do_not_vary_leave_all_loops() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder.join("../../nova-examples/benchmarks");
    // The gather of spmv is checked for each element.
    for (name, left) in [("gemv", 0), ("nbody", 0), ("box3x3", 0), ("spmv", 1)] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.nova"))).unwrap();
        let text = flat(&text);
        assert_eq!(checks_in_loops(&text), left, "{name}\n{text}");
    }
}

#[test]
fn six_reductions_are_one_operation() {
    let text = flat(
        "((X : vector float))
         (define (power (lambda (k : int) (reduce + 0.0L
           (map (lambda (x) (let (d (to_double x)) (s (* d d)) in
             (if (= k 1) then d else (if (= k 2) then s else (if (= k 3) then (* d s) else (* s s))))))
             X)))))
         ((reduce min 1.0f X), (reduce max 0.0f X), (power 1), (power 2), (power 3), (power 4))",
    );
    assert_eq!(count(&text, "(operation"), 1, "{text}");
    assert_eq!(count(&text, "(reduce_comm"), 6, "{text}");
    assert_eq!(count(&text, "(index "), 1, "{text}");
}

#[test]
fn what_a_check_has_found_is_not_checked_again() {
    let text = flat("((X : vector int) (i : int)) (+ (X ! i) (* (X ! i) (X ! i)))");
    assert_eq!(count(&text, " index ["), 1, "{text}");
    assert_eq!(count(&text, "(index "), 1, "{text}");
}

#[test]
fn equal_vectors_of_one_operation_are_read_once() {
    // nova.txt §5.
    let text = flat(
        "((X : vector int) (Z : vector int))
         (map (lambda (a b c) (+ (* a b) c)) X X Z)",
    );
    assert_eq!(count(&text, "(index "), 2, "{text}");
}

#[test]
fn short_functions_are_inlined_and_recursion_stays() {
    let text = flat(
        "((x : int)) (define (square (lambda (a : int) : int (* a a))))
         (+ (square x) (square (+ x 1)))",
    );
    assert_eq!(count(&text, "(call"), 0, "{text}");
    assert_eq!(count(&text, "(function"), 1, "{text}");
    let text = flat(
        "((x : int)) ((mu fib (lambda (n : int) : int
           (if (< n 2) then n else (+ (fib (- n 1)) (fib (- n 2)))))) x)",
    );
    assert_eq!(count(&text, "(call"), 3, "{text}");
}

#[test]
fn the_one_pass_benchmarks_are_one_operation() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder.join("../../nova-examples/benchmarks");
    let names = [
        "asum",
        "bbox",
        "dot",
        "dot3",
        "norm",
        "scal",
        "blackscholes",
        "wordcount",
        "box3x3",
    ];
    for name in names {
        let text = std::fs::read_to_string(folder.join(format!("{name}.nova"))).unwrap();
        assert_eq!(count(&flat(&text), "(operation"), 1, "{name}");
    }
}

#[test]
fn structures_are_copied_apart_only_if_they_are_read_again() {
    let points = "((P : vector (float, float)))";
    let copies = |body: &str| {
        let text = emit(&format!("{points} {body}"), Stage::Mem);
        (count(&text, "(copy "), text)
    };
    let once = [
        "(reduce + 0.0 (map (lambda (p) (+ p.0 p.1)) P))",
        "(map (lambda (p) (p.1, p.0)) (reverse P))",
        "(imap (lambda (i) (+ (P ! i).0 (P ! 0).1)) P)",
        "P",
    ];
    for (body, expected) in once.into_iter().zip([0, 0, 0, 2]) {
        let (found, text) = copies(body);
        assert_eq!(found, expected, "{body}\n{text}");
    }
    let again = [
        "(map (lambda (p) (reduce + 0.0 (map (lambda (q) (* p.0 q.0)) P))) P)",
        "(map (lambda (p) p.0) (sort (lambda (p q) (< p.0 (+ q.0 1.0))) P))",
    ];
    for body in again {
        let (found, text) = copies(body);
        assert_eq!(found, 1, "{body}\n{text}");
    }
}

/// Returns the report on a program.
fn report(text: &str) -> String {
    let compiler = Compiler::new(Options::default());
    let mut checked = compiler
        .check(Source::text("program", text))
        .unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    compiler
        .explain(&mut checked)
        .unwrap_or_else(|failure| panic!("{text}: {failure:?}"))
}

#[test]
fn the_report_says_why_operations_are_two() {
    let rows = [
        (
            "((X : vector float)) (scan + 0.0f (filter (lambda (x) (> x 0.0f)) X))",
            "in an order that depends on their places",
        ),
        (
            "((X : vector float)) (map (lambda (x) (* x 2.0f)) (scan + 0.0f X))",
            "the running results are combined in an order that does not pass through each",
        ),
        (
            "((X : vector float)) (let (Y (map exp X)) (n ((length Y) : int64)) in
               (tabulate n (lambda (i : int64) (* (Y ! i) (Y ! (- (- n 1) i))))))",
            "reads elements other than that of its own index",
        ),
    ];
    for (program, reason) in rows {
        let text = report(program);
        let lines: Vec<&str> = text.lines().filter(|l| l.contains("not fused")).collect();
        assert_eq!(lines.len(), 1, "{program}\n{text}");
        assert!(lines[0].contains(reason), "{}", lines[0]);
    }
    let fused = report("((X : vector float)) (reduce + 0.0f (map exp X))");
    assert!(!fused.contains("not fused"), "{fused}");
}

#[test]
fn the_report_says_why_indices_are_checked() {
    let rows = [
        (
            "((X : vector int) (I : vector int)) (map (lambda (i) (X ! i)) I)",
            "the index is an element of I",
        ),
        (
            "((X : vector int)) (imap (lambda (i) (X ! (* i i))) X)",
            "is no sum of known numbers, or may wrap",
        ),
    ];
    for (program, reason) in rows {
        let text = report(program);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("checked in each iteration"))
            .collect();
        assert_eq!(lines.len(), 1, "{program}\n{text}");
        assert!(lines[0].contains(reason), "{}", lines[0]);
    }
}

#[test]
fn the_report_says_what_is_changed_in_place() {
    let rows = [
        // The scan has memory of its own, which nothing else needs.
        (
            "((X : vector int) (k : int))\n(update (scan + 0 X) 0 k)",
            "update of scan in place",
        ),
        (
            "((X : vector int) (k : int))
             (let (Y (scan + 0 X))
                  (Z (update Y 0 k))
               in (Z,
                   (Y ! 1)))",
            "update of Y_data not in place, because Y_data is used again at program:5:20",
        ),
        // The first state is the caller's, so the loop starts with a copy.
        (
            "((n : int) (X : vector int)) (iterate n (lambda (v) (update v 0 1)) X)",
            "update of v_data in place",
        ),
        // The owner of the state is known only in each iteration.
        (
            "((n : int) (X : vector int) (b : bool))
             (iterate n (lambda (v) (update (if b (map (+ 1) v) X) 0 1)) X)",
            "in place if nobody else holds it at that time, in a copy otherwise",
        ),
        (
            "((X : vector int) (k : int)) (update X 0 k)",
            "update of X_data not in place, because the memory of X_data is not the function's own",
        ),
    ];
    for (program, expected) in rows {
        let text = report(program);
        let lines = text.lines().filter(|line| line.contains(": update of "));
        let changes: Vec<&str> = lines.collect();
        assert_eq!(changes.len(), 1, "{program}\n{text}");
        assert!(changes[0].contains(expected), "{}", changes[0]);
    }
}

#[test]
fn states_of_loops_are_changed_in_place() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nova-examples/loops");
    // The first state is the caller's, or the loop's own. Each branch of the sieve passes it on.
    // The result of the sieve is the survivors of a filter.
    for (name, copied, made) in [("updates", 1, 1), ("sieve", 0, 1)] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.nova"))).unwrap();
        let program = emit(&text, Stage::Loop);
        let found = ["(unique ", "(copy ", "(retain "].map(|form| count(&program, form));
        assert_eq!(found, [0, copied, 0], "{name}: {program}");
        // A state that is the result lies where the caller gets it.
        let given = count(&program, "(allocate_result ");
        assert_eq!(given, made, "{name}: {program}");
    }
}

#[test]
fn results_are_made_where_the_caller_gets_them() {
    let made = |text: &str| count(&emit(text, Stage::Loop), "(allocate_result ");
    for program in [
        "((X : vector int)) (map (+ 1) X)",
        "((X : vector int)) (filter (> 1) X)",
        "((X : vector int)) (map (* 2) (filter (> 1) (map (+ 1) X)))",
        "((X : vector int)) (reshape (1, (length X)) (map (+ 1) X))",
        "((X : vector int) (n : int)) (unrows (map (lambda (k) (map (+ k) X)) (range n)))",
        "((M : vector#2 int)) (let ((n, m) (shape M)) in
           (unrows (map (lambda (j) (map (lambda (i) (M ! (i, j))) (range n))) (range m))))",
    ] {
        assert_eq!(made(program), 1, "{program}");
    }
    // Rows of varying length are returned as their data.
    assert_eq!(
        made("((X : vector (vector int))) (map (filter (> 1)) X)"),
        0
    );
}

#[test]
fn rows_of_one_length_check_nothing() {
    let text = "((M : vector#2 int)) (let ((n, m) (shape M)) in
        (unrows (map (lambda (j) (map (lambda (i) (M ! (i, j))) (range n))) (range m))))";
    let program = flat(text);
    assert_eq!(count(&program, " length ["), 0, "{program}");
    assert_eq!(count(&program, "(operation ["), 1, "{program}");
}

#[test]
fn what_loops_count_is_known() {
    let text = "((X : vector float)) (iterate (length X) (lambda ((s, i)) ((+ (* 0.5 s) (X ! i)), (+ i 1))) (0.0, 0)).0";
    let program = flat(text);
    assert_eq!(count(&program, " index ["), 0, "{program}");
}

#[test]
fn maps_that_keep_elements_store_the_others() {
    let fold = |round: &str| {
        flat(&format!(
            "((X : vector int) (K : vector int)) (foldl (lambda (v k) {round}) X K)"
        ))
    };
    let one = fold("(tabulate (length v) (lambda (i) (if (= i k) 7 (v ! i))))");
    assert_eq!(count(&one, "(update "), 1, "{one}");
    let others =
        fold("(map (lambda (x i) (if (or (< i k) (> i 9)) x (+ x 1))) v (range (length v)))");
    assert_eq!(count(&others, "(scatter_block "), 1, "{others}");
    let all = fold("(tabulate (length v) (lambda (i) (if (> i k) (v ! (- i 1)) (v ! i))))");
    assert_eq!(count(&all, "(scatter_block "), 0, "{all}");
}

#[test]
fn loops_are_split_where_a_bound_was_moved_out() {
    let text = "((X : vector float)) (let (n ((length X) : int)) in
        (tabulate n (lambda (i) (+ (X ! (max 0 (- i 1))) (X ! (min (+ i 1) (- n 1)))))))";
    let program = emit(text, Stage::Loop);
    // The ends are handled in conditionals of their own. Between them lanes read adjacent elements.
    assert!(count(&program, "(if ") >= 2, "{program}");
    let lanes: Vec<&str> = program.split(" independent ").skip(1).collect();
    assert_eq!(lanes.len(), 1, "{program}");
    for inner in lanes {
        let inner = inner.split("(store ").next().unwrap_or_default();
        for operation in ["(max ", "(min ", "(check "] {
            assert_eq!(count(inner, operation), 0, "{program}");
        }
    }
}

#[test]
fn operations_moved_after_another_stay_there_when_it_is_fused_again() {
    // The filter reads where rows start and where they end. It is fused with the operation that
    // shifts the ends, then with the one that shifts the starts. Both concatenations move after it.
    let text = "((rows : vector (vector int)))
        (concat [rows rows []]
          (while (lambda s (< s.0 1)) (lambda s (1, []))
            (0, (map (lambda _ : vector (vector int) (filter (lambda _ false) rows)) [4]))).1)";
    flat(text);
}
