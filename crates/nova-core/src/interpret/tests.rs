//! Programs as text, with their inputs and their values.

use super::*;
use crate::print;
use crate::text::{print_value, read_value};
use crate::verify::tests::read;
use std::cell::RefCell;

const LIST: &str = r#"(sum "List" [i32] [0] ("Nil" unit) ("Cons" (tuple i32 (sum 0))))"#;

/// Parses, verifies, prints and parses again, then evaluates.
pub(super) fn evaluate_text(
    sections: &str,
    inputs: &str,
    arguments: &[&str],
    body: &str,
) -> String {
    evaluate_with(sections, inputs, arguments, body, &Options::default())
}

/// Returns the value of a body without inputs.
pub(super) fn evaluate_value(sections: &str, body: &str) -> Value {
    let program = read(&format!("(program {sections} (entry \"main\" [] {body}))"));
    evaluate(&program, 0, &[], &Options::default()).unwrap()
}

fn evaluate_with(
    sections: &str,
    inputs: &str,
    arguments: &[&str],
    body: &str,
    options: &Options,
) -> String {
    let text = format!("(program {sections} (entry \"main\" [{inputs}] {body}))");
    let program = read(&text);
    let printed = print::print(&program);
    assert_eq!(print::print(&read(&printed)), printed);
    let entry = &program.entries[0];
    let types = entry.inputs.iter().map(|i| &program.variable(*i).ty);
    let values: Vec<Value> = types
        .zip(arguments)
        .map(|(ty, text)| read_value(text, ty, &program.sums).unwrap())
        .collect();
    let ty = &program.expression(entry.body).ty;
    match evaluate(&program, 0, &values, options) {
        Ok(value) => {
            assert!(value.conforms(ty, &program.sums), "{body}: {value:?}");
            print_value(&value, ty, &program.sums)
        }
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn check(body: &str, expected: &str) {
    assert_eq!(evaluate_text(LIST, "", &[], body), expected, "{body}");
}

/// Checks a body with vectors `x = [1 2 3 4 5]`, `y = [10 20 30 40 50]` of `int` and `n = 3`.
#[track_caller]
fn check_vectors(body: &str, expected: &str) {
    let inputs = "x:(vector i32) y:(vector i32) n:i32";
    let arguments = ["[1 2 3 4 5]", "[10 20 30 40 50]", "3"];
    for strict in [false, true] {
        let options = Options {
            strict,
            ..Options::default()
        };
        let value = evaluate_with("", inputs, &arguments, body, &options);
        assert_eq!(value, expected, "{body}");
    }
}

#[test]
fn expressions() {
    check("(add 1i32 2i32)", "3");
    check(
        "(let [a 1i32] [b (add a 1i32)] (tuple a b nil true))",
        "(1, 2, nil, true)",
    );
    check("(if (lt 1i32 2i32) 1.5f 2.5f)", "1.5");
    check("(apply (lambda [a:i32 b:i32] (sub a b)) 5i32 3i32)", "2");
    check(
        "(apply (apply (lambda [a:i32 b:i32] (sub a b)) 5i32) 3i32)",
        "2",
    );
    check(
        "(apply (lambda [a:i32] (lambda [b:i32] (sub a b))) 5i32 3i32)",
        "2",
    );
    check("(project 1 (tuple 1i32 2.0L))", "2.0");
    check(
        "(vector (vector i32) (vector i32 1i32) (vector i32))",
        "[[1] []]",
    );
    check("(text \"ab\")", "[97 98]");
    check(
        "(case (construct (sum 0) \"Cons\" (tuple 7i32 (construct (sum 0) \"Nil\" nil)))
           (\"Nil\" 0i32) (\"Cons\" p (project 0 p)))",
        "7",
    );
    check(
        "(case (construct (sum 0) \"Nil\" nil) (\"Cons\" 1i32) (else 2i32))",
        "2",
    );
    check(
        "(div 1i32 0i32 \"dot.nova:3:5\")",
        "dot.nova:3:5: division by zero",
    );
    check(
        "(shl 1i32 32i32 \"a:1:2\")",
        "a:1:2: shift by 32 is outside 0 to 31",
    );
    check(
        "(convert.u8 300i32 \"a:1:2\")",
        "a:1:2: a number does not fit the type it is converted to",
    );
}

#[test]
fn closures_capture_values() {
    check(
        "(let [a 10i32] [f (lambda [x:i32] (add x a))] [g (lambda [y:i32] (apply f (mul y a)))]
           (tuple (apply f 1i32) (apply g 2i32)))",
        "(11, 30)",
    );
    check(
        "(let [add3 (lambda [a:i32 b:i32 c:i32] (add (add a b) c))] [p (apply add3 1i32)]
              [q (apply p 2i32)] (tuple (apply q 3i32) (apply p 10i32 20i32)))",
        "(6, 31)",
    );
    check(
        "(apply (iterate 3i32
            (lambda [f:(-> i32 i32)] (lambda [x:i32] (mul 2i32 (apply f x))))
            (lambda [y:i32] (add y 1i32))) 4i32)",
        "40",
    );
}

#[test]
fn recursion() {
    let fib = "(letrec [fib:(-> i32 i32) (lambda [n:i32]
        (if (lt n 2i32) n (add (apply fib (sub n 1i32)) (apply fib (sub n 2i32)))))]
        (apply fib 20i32))";
    check(fib, "6765");
    let even = |n: &str| {
        format!(
            "(letrec [even:(-> i32 bool) (lambda [n:i32] (if (eq n 0i32) true (apply odd (sub n 1i32))))]
                     [odd:(-> i32 bool) (lambda [m:i32] (if (eq m 0i32) false (apply even (sub m 1i32))))]
               (apply even {n}))"
        )
    };
    check(&even("3000001i32"), "false");
    // The recursive function is captured by another.
    check(
        "(letrec [f:(-> i32 i32) (lambda [n:i32]
             (let [g (lambda [k:i32] (apply f k))]
               (if (eq n 0i32) 5i32 (apply g (sub n 1i32)))))] (apply f 1000000i32))",
        "5",
    );
    // Tail calls of functions that return functions.
    check(
        "(letrec [f:(-> i32 (-> i32 i32)) (lambda [n:i32] (lambda [a:i32]
             (if (eq n 0i32) a (apply f (sub n 1i32) (add a 1i32)))))] (apply f 1000000i32 0i32))",
        "1000000",
    );
}

#[test]
fn deep_recursion() {
    let sum = |n: &str| {
        format!(
            "(letrec [sum:(-> i32 i32) (lambda [n:i32]
               (if (eq n 0i32) 0i32 (add 1i32 (apply sum (sub n 1i32) \"a:1:1\"))))] (apply sum {n}))"
        )
    };
    check(&sum("900000i32"), "900000");
    check(&sum("-1i32"), "a:1:1: recursion too deep");
    // Recursion through a loop body uses the host's stack.
    let nested = |n: &str| {
        format!(
            "(letrec [depth:(-> i32 i32) (lambda [n:i32] (if (eq n 0i32) 0i32
               (index (map (lambda [k:i32] (add 1i32 (apply depth k \"a:1:1\")))
                           (vector i32 (sub n 1i32))) 0i32)))] (apply depth {n}))"
        )
    };
    check(&nested("100000i32"), "100000");
    check(&nested("-1i32"), "a:1:1: recursion too deep");
}

#[test]
fn long_lists() {
    let body = "(letrec
        [build:(-> i32 (-> (sum 0) (sum 0))) (lambda [n:i32 l:(sum 0)]
          (if (eq n 0i32) l
            (apply build (sub n 1i32) (construct (sum 0) \"Cons\" (tuple n l)))))]
        [total:(-> (sum 0) (-> i64 i64)) (lambda [m:(sum 0) t:i64]
          (case m (\"Nil\" t)
            (\"Cons\" p (apply total (project 1 p) (add t (convert.i64 (project 0 p)))))))]
        (apply total (apply build 1000000i32 (construct (sum 0) \"Nil\" nil)) 0))";
    check(body, "500000500000");
}

#[test]
fn maps_and_folds() {
    check_vectors(
        "(map (lambda [a:i32 b:i32] (add a b)) x y)",
        "[11 22 33 44 55]",
    );
    check_vectors("(map (lambda [a:i32] (add a n)) x)", "[4 5 6 7 8]");
    check_vectors("(imap (lambda [k:i32 a:i32] (mul k a)) x)", "[0 2 6 12 20]");
    check_vectors("(reduce (lambda [a:i32 b:i32] (add a b)) 100i32 x)", "115");
    check_vectors(
        "(reduce_comm (lambda [a:i32 b:i32] (max a b)) 0i32 y)",
        "50",
    );
    check_vectors(
        "(scan (lambda [a:i32 b:i32] (add a b)) 1i32 x)",
        "[2 4 7 11 16]",
    );
    check_vectors(
        "(exscan (lambda [a:i32 b:i32] (add a b)) 1i32 x)",
        "[1 2 4 7 11]",
    );
    check_vectors("(foldl (lambda [a:i32 b:i32] (sub b a)) 0i32 x)", "3");
    check_vectors("(filter (lambda [a:i32] (gt a 2i32)) x)", "[3 4 5]");
    check_vectors(
        "(partition (lambda [a:i32] (gt a 2i32)) x)",
        "([3 4 5], [1 2])",
    );
    check_vectors("(sort (lambda [a:i32 b:i32] (ge a b)) x)", "[5 4 3 2 1]");
    check_vectors(
        "(histogram (lambda [a:i32 b:i32] (add a b)) 1i32 n (vector i32 0i32 2i32 0i32 -1i32 3i32) y)",
        "[41 1 21]",
    );
    check_vectors("(iterate n (lambda [s:i32] (mul s 2i32)) 5i32)", "40");
    check_vectors("(iterate -1i32 (lambda [s:i32] (mul s 2i32)) 5i32)", "5");
    check_vectors(
        "(while (lambda [t:i32] (lt t 100i32)) (lambda [s:i32] (mul s 2i32)) n)",
        "192",
    );
    check_vectors("(tabulate n (lambda [k:i32] (mul k k)))", "[0 1 4]");
    check_vectors(
        "(tabulate_array n 2 (lambda [i:i32 j:i64] (add (convert.i64 i) (mul 10 j))))",
        "[[0 10] [1 11] [2 12]]",
    );
    check_vectors(
        "(map (lambda [a:i32] (reduce (lambda [b:i32 c:i32] (add b c)) 0i32 (range 0i32 1i32 a))) x)",
        "[0 1 3 6 10]",
    );
}

#[test]
fn vectors() {
    check_vectors("(permute (vector i64 4 3 2 1 0) x)", "[5 4 3 2 1]");
    check_vectors("(gather (vector u8 4u8 0u8 4u8) x)", "[5 1 5]");
    check_vectors("(slice 1i32 2i32 4i32 x)", "[2 4]");
    check_vectors("(slice 4i32 -2i32 -1i32 x)", "[5 3 1]");
    check_vectors("(slice 9i32 1i32 9i32 x)", "[]");
    check_vectors("(range 0 2 5)", "[0 2 4]");
    check_vectors("(range 250u8 2u8 255u8)", "[250 252 254]");
    check_vectors("(range 3i32 -1i32 0i32)", "[3 2 1]");
    check_vectors("(length x)", "5");
    check_vectors("(length i8 x)", "5");
    check_vectors("(index x 4i32)", "5");
    check_vectors(
        "(scatter x (vector i32 0i32 9i32 0i32) (vector i32 7i32 8i32 9i32))",
        "[9 2 3 4 5]",
    );
    check_vectors("(zip x y)", "[(1, 10) (2, 20) (3, 30) (4, 40) (5, 50)]");
    check_vectors("(unzip (zip x y))", "([1 2 3 4 5], [10 20 30 40 50])");
    check_vectors("(concat x y)", "[1 2 3 4 5 10 20 30 40 50]");
    check_vectors("(reverse x)", "[5 4 3 2 1]");
    check_vectors("(replicate n true)", "[true true true]");
    check_vectors("(rotate -1i32 x)", "[5 1 2 3 4]");
    check_vectors("(rotate 7 (vector f32))", "[]");
    check_vectors("(update x 1i32 9i32)", "[1 9 3 4 5]");
    check_vectors("(reshape 5i32 1 x)", "[[1] [2] [3] [4] [5]]");
    check_vectors("(shape (reshape 1i32 5 x))", "(1, 5)");
    check_vectors("(shape (tuple i64 u8) (reshape 1i32 5 x))", "(1, 5)");
    check_vectors(
        "(transpose (reshape 2i32 3i32 (range 0i32 1i32 6i32)))",
        "[[0 3] [1 4] [2 5]]",
    );
    check_vectors("(flatten (rows (reshape 1i32 5i32 x)))", "[1 2 3 4 5]");
    check_vectors("(rows (reshape 2i32 0i32 (vector i32)))", "[[] []]");
    check_vectors(
        "(unrows (vector (vector i32) x y))",
        "[[1 2 3 4 5] [10 20 30 40 50]]",
    );
    check_vectors("(shape (unrows (vector (vector i32))))", "(0, 0)");
    check_vectors(
        "(unrows (rows (reshape 1i32 5i32 1i32 x)))",
        "[[[1] [2] [3] [4] [5]]]",
    );
    check_vectors(
        "(unflatten (vector i32 2i32 0i32 3i32) x)",
        "[[1 2] [] [3 4 5]]",
    );
    check_vectors(
        "(segments i64 (unflatten (vector i32 2i32 0i32 3i32) x))",
        "[2 0 3]",
    );
    check_vectors("(array_index (reshape 1i32 5i32 x) 0i32 3)", "4");
    check_vectors("(split 5i32 x)", "[[1 2 3 4 5]]");
    check_vectors(
        "(as_scalar (reverse (as_vector2 (vector i32 1i32 2i32 3i32 4i32))))",
        "[3 4 1 2]",
    );
    check_vectors(
        "(reduce_seq.to_private (lambda [a:i32 b:i32] (sub a b)) 0i32 (map_seq (lambda [c:i32] c) x))",
        "-15",
    );
}

#[test]
fn errors_of_vectors() {
    let p = "\"a:1:1\")";
    let error = |body: &str, message: &str| {
        check_vectors(&format!("({body} {p}"), &format!("a:1:1: {message}"));
    };
    error("index x 5i32", "index 5 is out of range for length 5");
    error("index x -1", "index -1 is out of range for length 5");
    error(
        "map (lambda [a:i32 b:i32] a) x (vector i32)",
        "lengths differ: 5 and 0",
    );
    error("permute (vector i32 0i32) x", "lengths differ: 1 and 5");
    error(
        "permute (vector i32 0i32 1i32 1i32 9i32 2i32) x",
        "the indices are no permutation: 1",
    );
    error(
        "gather (vector i32 0i32 7i32 -1i32) x",
        "index 7 is out of range for length 5",
    );
    error("slice 1i32 0i32 9i32 x", "a step of zero");
    error(
        "slice 3i32 1i32 9i32 x",
        "index 5 is out of range for length 5",
    );
    error(
        "slice -1 1 2000000000000 x",
        "index -1 is out of range for length 5",
    );
    error("zip x (vector i32)", "lengths differ: 5 and 0");
    error("update x 5i32 1i32", "index 5 is out of range for length 5");
    error("scatter x (vector i32) x", "lengths differ: 0 and 5");
}

#[test]
fn errors_of_sizes() {
    let p = "\"a:1:1\")";
    let error = |body: &str, message: &str| {
        check_vectors(&format!("({body} {p}"), &format!("a:1:1: {message}"));
    };
    error("range 1i32 0i32 2i32", "a step of zero");
    error("split 2i32 x", "rows of 2 elements for a vector of 5");
    error("split 0i32 x", "rows of 0 elements for a vector of 5");
    error("as_vector4 x", "rows of 4 elements for a vector of 5");
    error("range 0 1 1000000000000", "out of memory");
    error(
        "range -9223372036854775808 1 9223372036854775807",
        "out of memory",
    );
    error("replicate 1000000000000 1.0L", "out of memory");
    error("replicate -1i32 1.0L", "a negative length: -1");
    error("tabulate -2i32 (lambda [k:i32] k)", "a negative length: -2");
    error(
        "tabulate_array 9223372036854775807 9223372036854775807 (lambda [k:i64 l:i64] k)",
        "out of memory",
    );
    error(
        "histogram (lambda [a:i32 b:i32] a) 0i32 -1i32 (vector i32) x",
        "a negative length: -1",
    );
    error(
        "histogram (lambda [a:i32 b:i32] a) 0i32 1i32 (vector i32) x",
        "lengths differ: 0 and 5",
    );
    error(
        "length i8 (replicate 128i32 true)",
        "length 128 does not fit its type",
    );
    error("reshape 2i32 -1i32 x", "a negative length: -1");
    error(
        "reshape 2i32 2i32 x",
        "a shape of 4 elements for a vector of 5",
    );
    error(
        "unrows (vector (vector i32) x (vector i32) (vector i32 1i32))",
        "lengths differ: 5 and 0",
    );
    error(
        "unflatten (vector i32 9i32 -1i32) x",
        "a negative length: -1",
    );
    error(
        "unflatten (vector i32 2i32 2i32) x",
        "lengths differ: 4 and 5",
    );
    error(
        "array_index (reshape 1i32 5i32 x) 1i32 9i32",
        "index 1 is out of range for length 1",
    );
}

#[test]
fn trace_writes_a_line() {
    let lines = RefCell::new(Vec::new());
    let options = Options {
        trace: &|line| lines.borrow_mut().push(line.to_string()),
        ..Options::default()
    };
    let body = "(add (trace (text \"a =\") 1i32) (trace (text \"b\") 2i32))";
    assert_eq!(evaluate_with("", "", &[], body, &options), "3");
    assert_eq!(lines.into_inner(), ["a = 1", "b 2"]);
}

/// A hundred thousand updates of a vector of a hundred thousand elements: in place, or for minutes.
#[test]
fn updates_in_place() {
    let loops = [
        "(iterate 100000i32 (lambda [s:(tuple (vector i32) i32)]
            (tuple (update (project 0 s) (project 1 s) 1i32) (add (project 1 s) 1i32)))
            (tuple x 0i32))",
        "(while (lambda [t:(tuple (vector i32) i32)] (lt (project 1 t) 100000i32))
            (lambda [s:(tuple (vector i32) i32)] (let [v (project 0 s)] [k (project 1 s)]
              (tuple (if (eq (rem k 2i32) 0i32) v (update v k 1i32)) (add k 1i32))))
            (tuple x 0i32))",
        "(letrec [go:(-> i32 (-> (vector i32) (tuple (vector i32) i32))) (lambda [k:i32 v:(vector i32)]
            (if (eq k 100000i32) (tuple v k)
              (let [old (index v k)] (apply go (add k 1i32) (update v k (add old 1i32))))))]
            (apply go 0i32 x))",
        "(foldl (lambda [s:(tuple (vector i32) i32) k:i32]
            (tuple (update (project 0 s) k (project 1 s)) k)) (tuple x 0i32) (range 0i32 1i32 100000i32))",
    ];
    for body in loops {
        let body = format!("(let [x (replicate 100000i32 0i32)] (length (project 0 {body})))");
        assert_eq!(evaluate_text("", "", &[], &body), "100000");
    }
}

#[test]
fn values_are_not_changed_under_other_names() {
    check(
        "(let [a (vector i32 1i32 2i32)] [b (update a 0i32 9i32)] [c (update a 1i32 8i32)] (tuple b c))",
        "([9 2], [1 8])",
    );
    check(
        "(let [p (tuple (vector i32 1i32) 5i32)] [b (update (project 0 p) 0i32 9i32)] (tuple b p))",
        "([9], ([1], 5))",
    );
    check(
        "(let [a (vector i32 1i32)] (map (lambda [k:i32] (update a 0i32 k)) (vector i32 7i32 8i32)))",
        "[[7] [8]]",
    );
    check(
        "(let [a (vector i32 1i32)] [f (lambda [k:i32] (update a 0i32 k))]
              (tuple (apply f 1i32) (apply f 2i32) a))",
        "([1], [2], [1])",
    );
    check(
        "(let [a (vector i32 1i32)]
              (tuple (if (eq (length a) 1i32) (update a 0i32 2i32) (vector i32)) 1i32))",
        "([2], 1)",
    );
}

#[test]
fn functions_of_loops_run_after_the_operands() {
    check_vectors("(map (lambda [k:i32] (length x)) x)", "[5 5 5 5 5]");
    check_vectors(
        "(foldl (lambda [a:i32 b:i32] (add a (index x 0i32))) n x)",
        "8",
    );
    check_vectors(
        "(let [v (add n 1i32)] (iterate v (lambda [s:i32] (add s v)) v))",
        "20",
    );
    check_vectors(
        "(let [v (add n 1i32)] (while (lambda [t:i32] (lt t v)) (lambda [s:i32] v) (sub v 1i32)))",
        "4",
    );
    check_vectors(
        "(let [v (add n 1i32)] (tabulate v (lambda [k:i32] (mul k v))))",
        "[0 4 8 12]",
    );
    check_vectors(
        "(let [v (add n 1i32)] (apply (iterate v (lambda [f:(-> i32 i32)] f) (lambda [k:i32] (add k v))) v))",
        "8",
    );
}

/// Nested bindings, conditionals and calls are parsed, verified, printed and run in linear time.
#[test]
fn large_programs() {
    let mut body = String::from("(let [x_0 0i32]");
    for k in 1..10_000 {
        body += &format!(" [x_{k} (add x_{} 1i32)]", k - 1);
    }
    body += " x_9999)";
    check(&body, "9999");
    let mut body = String::from("0i32");
    for k in 1..10_000 {
        body = format!("(if (eq n {k}i32) (add n {k}i32) {body})");
    }
    let value = evaluate_text("", "n:i32", &["7"], &body);
    assert_eq!(value, "14");
    let mut body = String::from("0i32");
    for _ in 0..100_000 {
        body = format!("(add 1i32 {body})");
        if body.len() > 2_000_000 {
            break;
        }
    }
    let sums = body.matches("add").count();
    check(&body, &sums.to_string());
}

#[test]
fn long_chains_of_functions() {
    let chain = |n: &str| {
        format!(
            "(apply (iterate {n} (lambda [f:(-> i32 i32)] (lambda [x:i32] (add 1i32 (apply f x))))
               (lambda [y:i32] y)) 0i32)"
        )
    };
    check(&chain("500000i32"), "500000");
}
