//! The forms of the language: the programs that are accepted, and their values (language §2–§5).

use crate::common::{fails, gives, has_type, run_traced};

#[test]
fn literals_take_the_type_of_their_context() {
    has_type("((x : double)) (+ x 1)", "double -> double");
    has_type("((x : uint8)) (+ 1 x)", "uint8 -> uint8");
    has_type("() 1", "int");
    has_type("() 1.5", "float");
    has_type("() (+ 1 2.5)", "float");
    has_type("() (sqrt 2)", "float");
    has_type(
        "() (1.5L, 1L, 1f, 7i64, 7u8)",
        "(double, double, float, int64, uint8)",
    );
    gives("((x : float)) (* 2 x)", "x=1.5", "3.0");
    fails("((x : int8)) (+ x 300)", &[217]);
    fails("() 3000000000", &[217]);
    fails("((x : float)) (+ x 16777217)", &[217]);
    fails("() (1.5 : int)", &[203]);
}

#[test]
fn conversions() {
    gives("((x : int)) (to_float x)", "x=3", "3.0");
    gives("((x : double)) (to_int x)", "x=3.9", "3");
    gives("((x : int)) (wrap_uint8 x)", "x=257", "1");
    gives("((x : int)) (to_uint8 x)", "x=257", "error conversion");
    gives("((x : double)) ((from_double x) : int)", "x=2.5", "2");
    gives("((b : bool)) (to_int32 b)", "b=true", "1");
    gives(
        "((X : vector int)) (map to_double X)",
        "X=[1 2]",
        "[1.0 2.0]",
    );
    fails("((x : int)) (to_int (from_int x))", &[214]);
}

#[test]
fn let_polymorphism() {
    gives(
        "((i : int) (x : float)) (let (double (lambda (v) (+ v v))) in ((double i), (double x)))",
        "i=4 x=1.5",
        "(8, 3.0)",
    );
    gives(
        "() (let (inc (+ 1)) in ((inc 1), (inc 1.5)))",
        "",
        "(2, 2.5)",
    );
    gives(
        "((X : vector int) (Y : vector bool)) (let (back (lambda (V) (reverse V))) in ((back X), (back Y)))",
        "X=[1 2] Y=[true false]",
        "([2 1], [false true])",
    );
    // A binding that is no function by its form does not generalise.
    fails(
        "() (let (x (if true (lambda (y) y) (lambda (y) y))) in ((x 1), (x true)))",
        &[206],
    );
    // Nested generalisation.
    gives(
        "() (let (pair (lambda (a) (let (with (lambda (b) (a, b))) in ((with 1), (with true))))) in ((pair 2.5), (pair nil)))",
        "",
        "(((2.5, 1), (2.5, true)), ((nil, 1), (nil, true)))",
    );
}

#[test]
fn partial_applications_evaluate_their_arguments_once() {
    let source = "((X : vector int)) (let (at (gather (trace \"once\" [1 0]))) in ((at X), (at [true false]), (at X)))";
    let (value, lines) = run_traced(source, "X=[7 8]");
    assert_eq!(value, "([8 7], [false true], [8 7])");
    assert_eq!(lines.len(), 1, "{lines:?}");
    let source = "() (let (unused (+ (/ 1 0))) in 2)";
    gives(source, "", "error division");
    let source = "((X : vector int)) (map (+ (trace \"once\" 5)) X)";
    let (value, lines) = run_traced(source, "X=[1 2 3]");
    assert_eq!(value, "[6 7 8]");
    assert_eq!(lines.len(), 1);
    gives("((x : int)) (let (f (- 10)) in (f x))", "x=3", "7");
}

#[test]
fn evaluation_goes_from_left_to_right() {
    let source = "() (iterate (trace \"a\" 1) (+ (trace \"b\" 2)) (trace \"c\" 3))";
    let (value, lines) = run_traced(source, "");
    assert_eq!(value, "5");
    let order: Vec<char> = lines
        .iter()
        .filter_map(|line| line.chars().next())
        .collect();
    assert_eq!(order, ['a', 'b', 'c']);
    let source = "() (and false (= 1 (/ 1 0)))";
    gives(source, "", "false");
    gives("() (or true (= 1 (/ 1 0)))", "", "true");
    gives("() (let (f and) in (f true false))", "", "false");
    gives(
        "((X : vector bool)) (reduce or false X)",
        "X=[false true]",
        "true",
    );
    gives(
        "((X : vector bool)) (map (and true) X)",
        "X=[false true]",
        "[false true]",
    );
}

#[test]
fn map_takes_as_many_vectors_as_its_function_takes_arguments() {
    gives("((X : vector int)) (map (+ 1) X)", "X=[1 2]", "[2 3]");
    gives("((X : vector int)) (map + X X)", "X=[1 2]", "[2 4]");
    gives(
        "((X : vector (vector int))) (map (map (+ 1)) X)",
        "X=[[1] [2 3]]",
        "[[2] [3 4]]",
    );
    gives(
        "((X : vector int)) (map (lambda (a b c) (+ a (* b c))) X X X)",
        "X=[1 2]",
        "[2 6]",
    );
    gives(
        "((X : vector int)) (let (each map) in ((each (+ 1) X), (each + X X)))",
        "X=[1 2]",
        "([2 3], [2 4])",
    );
    gives(
        "((X : vector int)) (let (f (lambda (g V) (map g V))) in (f neg X))",
        "X=[1 2]",
        "[-1 -2]",
    );
    gives(
        "((X : vector int)) ((lambda (m) (m neg X)) map)",
        "X=[1 2]",
        "[-1 -2]",
    );
    gives(
        "((X : vector int)) (let (both (map +)) in (both X X))",
        "X=[1 2]",
        "[2 4]",
    );
    gives(
        "((X : vector int)) (let (add (map + X)) in (add X))",
        "X=[1 2]",
        "[2 4]",
    );
    fails("((X : vector int)) (map neg X X)", &[205]);
    fails("((X : vector int)) (map 3 X)", &[204]);
}

#[test]
fn elements_of_rectangular_vectors() {
    gives(
        "((M : vector#2 int)) (map (reduce + 0) M)",
        "M=[[1 2] [3 4]]",
        "[3 7]",
    );
    gives("((M : vector#2 int)) (M ! (1, 0))", "M=[[1 2] [3 4]]", "3");
    gives(
        "((M : vector#2 int)) (let (p (1, 0)) in (M ! p))",
        "M=[[1 2] [3 4]]",
        "3",
    );
    gives(
        "((M : vector#2 int)) (length M)",
        "M=[[1 2] [3 4] [5 6]]",
        "3",
    );
    gives(
        "((M : vector#2 int)) (shape M)",
        "M=[[1 2] [3 4] [5 6]]",
        "(3, 2)",
    );
    gives("((V : vector int)) (shape V)", "V=[1 2 3]", "3");
    fails("((M : vector#2 int)) (M ! 1)", &[203]);
    fails("((M : vector int)) (M ! (1, 2))", &[206]);
}

#[test]
fn shapes_of_rectangular_vectors() {
    gives(
        "((M : vector#2 int)) (flatten M)",
        "M=[[1 2] [3 4]]",
        "[1 2 3 4]",
    );
    gives(
        "((M : vector (vector int))) (flatten M)",
        "M=[[1 2] [] [3]]",
        "[1 2 3]",
    );
    gives(
        "((M : vector#2 int)) (transpose M)",
        "M=[[1 2] [3 4]]",
        "[[1 3] [2 4]]",
    );
    gives(
        "((V : vector int)) (reshape (2, 2) V)",
        "V=[1 2 3 4]",
        "[[1 2] [3 4]]",
    );
    gives(
        "((M : vector#2 int)) (reshape 4 M)",
        "M=[[1 2] [3 4]]",
        "[1 2 3 4]",
    );
    gives(
        "() (tabulate (2, 3) (lambda (p) (+ (* 10 p.0) p.1)))",
        "",
        "[[0 1 2] [10 11 12]]",
    );
    gives(
        "() (tabulate (2, 3) (lambda ((i, j)) (+ (* 10 i) j)))",
        "",
        "[[0 1 2] [10 11 12]]",
    );
    gives("() (tabulate 3 (* 2))", "", "[0 2 4]");
}

#[test]
fn rows_of_rectangular_vectors() {
    gives(
        "((M : vector#2 int)) (rows M)",
        "M=[[1 2] [3 4]]",
        "[[1 2] [3 4]]",
    );
    has_type(
        "((M : vector#3 int)) (rows M)",
        "vector#3 int -> vector (vector#2 int)",
    );
    has_type(
        "((M : vector (vector int))) (unrows M)",
        "vector (vector int) -> vector#2 int",
    );
    has_type(
        "((M : vector#2 int)) (map (lambda (r) (r ! 0)) M)",
        "vector#2 int -> vector int",
    );
    has_type(
        "((M : vector#2 int)) (filter (lambda (r) (= 0 (r ! 0))) M)",
        "vector#2 int -> vector (vector int)",
    );
}

#[test]
fn what_is_not_known_yet_waits() {
    // The function comes before the vector that determines its argument type.
    gives(
        "((X : vector int) (Y : vector int)) (map (lambda (p) (let (a p.0) (b p.1) in (- a b))) (zip X Y))",
        "X=[5 6] Y=[1 2]",
        "[4 4]",
    );
    gives(
        "((M : vector#2 int)) ((lambda (f) (f M)) (lambda (m) (m ! (0, 1))))",
        "M=[[1 2]]",
        "2",
    );
    // At the end of the binding, `!` and the vector functions take a vector.
    gives(
        "((X : vector int)) (let (second (lambda (v) (v ! 1))) in (second X))",
        "X=[5 6]",
        "6",
    );
    gives(
        "((X : vector int)) (let (total (lambda (v) (reduce + 0 v))) in (total X))",
        "X=[5 6]",
        "11",
    );
    fails(
        "() (let (first (lambda (p) p.0)) in (first (1, 2)))",
        &[214],
    );
    gives(
        "() (let (first (lambda (p : (int, int)) p.0)) in (first (1, 2)))",
        "",
        "1",
    );
}

#[test]
fn ranges() {
    gives("() (range 3)", "", "[0 1 2]");
    gives("() (range 1 3)", "", "[1 2]");
    gives("() (range 5 -2 0)", "", "[5 3 1]");
    has_type("((n : uint8)) (range n)", "uint8 -> vector uint8");
    gives("((X : vector int)) (map range X)", "X=[1 2]", "[[0] [0 1]]");
    gives(
        "((X : vector int)) (map range X [2 4])",
        "X=[1 2]",
        "[[1] [2 3]]",
    );
    fails("() (range 1 2 3 4)", &[218]);
}

#[test]
fn sums_and_matches() {
    let maybe = "(types (Maybe 'a : (+ (Some : 'a) (None : unit))))";
    gives(
        &format!("((X : vector int)) {maybe} (map Some X)"),
        "X=[1]",
        "[(Some 1)]",
    );
    gives(
        &format!("() {maybe} ((None nil) : (Maybe int))"),
        "",
        "None",
    );
    gives(
        &format!("((m : (Maybe int))) {maybe} (case m (Some x (+ x 1)) (None 0))"),
        "m=(Some 4)",
        "5",
    );
    gives(
        &format!("((m : (Maybe (int, int)))) {maybe} (case m (Some (a, b) (- a b)) (_ 0))"),
        "m=(Some (4, 1))",
        "3",
    );
    gives(&format!("() {maybe} (case 3 (_ 4))"), "", "4");
    fails(
        &format!("((m : (Maybe int))) {maybe} (case m (Some x x))"),
        &[209],
    );
    fails(
        &format!("((m : (Maybe int))) {maybe} (case m (Some x x) (Some y y) (None 0))"),
        &[210],
    );
    fails(
        &format!("((m : (Maybe int))) {maybe} (case m (Some x x) (Non 0) (None 0))"),
        &[201],
    );
    fails(&format!("() {maybe} None"), &[214]);
    fails(&format!("() {maybe} (Some neg)"), &[213]);
}

#[test]
fn recursive_and_mutually_recursive_types() {
    let source = "((t : Tree)) (types (Tree : (+ (Node : (int, Forest)))) (Forest : (+ (End : unit) (More : (Tree, Forest)))))
        (define (tree (lambda (t : Tree) : int (case t (Node (v, f) (+ v (forest f))))))
                (forest (lambda (f) (case f (End 0) (More (t, r) (+ (tree t) (forest r)))))))
        (tree t)";
    gives(source, "t=(Node (1, (More ((Node (2, End)), End))))", "3");
    let program = crate::common::core(source);
    assert_eq!(program.sums.len(), 2);
    assert!(program.sums.iter().all(|sum| sum.group.len() == 2));
}

#[test]
fn synonyms() {
    gives(
        "((p : Point)) (types (Point : (float, float))) (+ p.0 p.1)",
        "p=(1.0, 2.0)",
        "3.0",
    );
    has_type(
        "() (types (Op 'a : 'a -> 'a -> 'a)) ((lambda (f : (Op int)) (f 1 2)) +)",
        "int",
    );
    has_type(
        "((x : (Pair int bool))) (types (Pair 'a 'b : ('a, 'b))) x.1",
        "(int, bool) -> bool",
    );
    fails("() (types (A : (int, B)) (B : vector A)) 1", &[212]);
}

#[test]
fn definitions() {
    gives(
        "((n : int)) (define (even (lambda (n) (if (= n 0) true (odd (- n 1))))) (odd (lambda (n) (if (= n 0) false (even (- n 1)))))) (even n)",
        "n=10",
        "true",
    );
    gives(
        "((n : int)) (define (m (+ n 1)) (k (* m m))) (+ k m)",
        "n=2",
        "12",
    );
    gives(
        "() (define (twice (lambda (f x) (f (f x))))) ((twice neg 1), (twice not true))",
        "",
        "(1, true)",
    );
    gives(
        "() (define (a (f 1)) (f (lambda (x) (+ x b))) (b 2)) a",
        "",
        "3",
    );
    fails("() (define (a (+ a 1))) a", &[220]);
    fails("() (define (a (f 1)) (f (lambda (x) (+ x a)))) a", &[220]);
    // Definitions that no entry uses are checked, but not evaluated.
    gives("() (define (unused (/ 1 0))) 3", "", "3");
    fails("() (define (unused (+ 1 true))) 3", &[206]);
}

#[test]
fn entries() {
    let source = "(define (sum (reduce + 0))) (entry total ((X : vector int)) (sum X)) (entry mean ((X : vector float)) (/ (sum X) (to_float (length X))))";
    let outcome = crate::common::check(source);
    assert_eq!(outcome.errors(), [0u16; 0], "{}", outcome.messages());
    let types: Vec<_> = outcome
        .checked
        .types
        .iter()
        .map(|t| t.text.as_str())
        .collect();
    assert_eq!(types, ["vector int -> int", "vector float -> float"]);
    fails("(entry main () 1)", &[219]);
    fails("((f : int -> int)) (f 1)", &[216]);
    fails("((x : 'a)) 1", &[216]);
    fails("() neg", &[216]);
    fails("() []", &[214]);
}

#[test]
fn iteration_with_functions_as_state() {
    gives(
        "() ((iterate 3 (lambda (f x) (f (+ x 1))) neg) 4)",
        "",
        "-7",
    );
    gives("() (iterate 3 (lambda (f x) (f (+ x 1))) neg 4)", "", "-7");
    gives("() (while (> 100) (* 2) 1)", "", "128");
    gives(
        "((X : vector int)) (foldl (lambda (f x) (lambda (y) (f (+ x y)))) neg X 1)",
        "X=[1 2]",
        "-4",
    );
}

#[test]
fn patterns() {
    gives("() (let ((a, (b, _)) (1, (2, 3))) in (+ a b))", "", "3");
    gives("() ((lambda ((a, b) c) (- (- a b) c)) (9, 2) 3)", "", "4");
    gives("() (let (_ (/ 1 0)) in 1)", "", "error division");
    has_type("() (let ((x : double) 1) in x)", "double");
    fails("() (let ((a, b) (1, 2, 3)) in a)", &[203]);
}

#[test]
fn recursion_is_monomorphic_inside() {
    gives(
        "((n : int)) ((mu (fact : int -> int) (lambda (n : int) (if (< n 2) 1 (* n (fact (- n 1)))))) n)",
        "n=5",
        "120",
    );
    gives(
        "((n : int)) ((mu (fact) (lambda (n) (if (< n 2) 1 (* n (fact (- n 1)))))) n)",
        "n=5",
        "120",
    );
    fails("() ((mu (f : int) 3) 1)", &[204, 220]);
    let nested = "(types (Nested 'a : (+ (Flat : 'a) (Nest : (Nested ('a, 'a))))))";
    fails(
        &format!(
            "() {nested} (define (size (lambda (t) (case t (Flat x 1) (Nest n (size n)))))) (size (Flat 1))"
        ),
        &[301],
    );
    fails(&format!("((t : (Nested int))) {nested} 1"), &[302]);
    gives(&format!("() {nested} 1"), "", "1");
}

#[test]
fn annotation_variables_have_the_outermost_binding_as_scope() {
    let source = "() (let (id (lambda (x : 'a) : 'a x)) in ((id 1), (id true)))";
    gives(source, "", "(1, true)");
    assert_eq!(crate::common::check(source).warnings(), [0u16; 0]);
    let source = "() ((lambda (x : 'a) : 'a (+ x 1)) 2)";
    gives(source, "", "3");
    assert_eq!(crate::common::check(source).warnings(), [215]);
}

#[test]
fn all_independent_errors_come_at_once() {
    fails(
        "((x : int) (f : float)) ((+ x true), (unknown f), (x 1), (sqrt x), (let (y (- f \"a\")) in y))",
        &[203, 201, 204, 206, 203],
    );
}

#[test]
fn commuting_reductions_are_recognised() {
    let commutes = |f: &str, z: &str, ty: &str| {
        let program = crate::common::core(&format!("((X : vector {ty})) (reduce {f} {z} X)"));
        let text = nova_core::print::print(&program);
        text.contains("reduce_comm")
    };
    assert!(commutes("+", "0", "int"));
    assert!(commutes("(lambda (a b) (max a b))", "0", "float"));
    assert!(commutes("and", "true", "bool"));
    assert!(commutes(
        "(lambda (p q) ((+ p.0 q.0), (min p.1 q.1)))",
        "(0, 0.0)",
        "(int, float)"
    ));
    assert!(commutes(
        "(lambda ((a, b) (c, d)) ((+ a c), (or b d)))",
        "(0, false)",
        "(int, bool)"
    ));
    assert!(!commutes("-", "0", "int"));
    assert!(!commutes("(lambda (a b) a)", "0", "int"));
    assert!(!commutes("(lambda (a b) (+ a a))", "0", "int"));
    assert!(!commutes(
        "(lambda (p q) ((+ p.0 q.1), (min p.1 q.0)))",
        "(0, 0)",
        "(int, int)"
    ));
}

#[test]
fn bindings_inside_of_hoisted_arguments_have_their_own_levels() {
    gives(
        "() (let (f (reduce + (let (h (lambda (y) y)) in (h 1)))) in (f [1.5 2.0]))",
        "",
        "4.5",
    );
    gives(
        "() (let (f (foldl (lambda (a x) (+ a 1)) (let (h (lambda (y) y)) in (h 1)))) in ((f [1.5]), (f [true])))",
        "",
        "(2, 2)",
    );
}

#[test]
fn builtins_can_be_hidden_and_renamed() {
    gives(
        "((X : vector int)) (let (map reverse) in (map X))",
        "X=[1 2]",
        "[2 1]",
    );
    gives("() ((lambda (+) (+ 1)) neg)", "", "-1");
    gives(
        "() (define (add +) (sum add)) ((sum 1 2), (add 1.5 2))",
        "",
        "(3, 3.5)",
    );
    gives("((length : int)) (+ length 1)", "length=2", "3");
}

#[test]
fn open_types_are_reported_beside_errors_elsewhere() {
    fails(
        "() (define (a (length [])) (b (+ 1 true))) (+ a b)",
        &[214, 206],
    );
    fails("() (define (a (+ (length []) true))) a", &[206]);
}

#[test]
fn annotation_variables_of_entries_are_their_own() {
    let source = "(entry one () ((lambda (x : 'a) x) 1)) (entry two () ((lambda (x : 'a) x) true))";
    let outcome = crate::common::check(source);
    assert_eq!(outcome.errors(), [0u16; 0], "{}", outcome.messages());
    assert_eq!(outcome.warnings(), [215, 215]);
}
