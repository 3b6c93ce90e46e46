//! The programs of nova.txt, with the evident corrections where they do not type as printed, and
//! every example program with its tests.

use crate::common::{core, fails, gives, has_type, run_entry};
use nova_core::text::{print_value, read_value};
use std::path::Path;

#[test]
fn fib_by_mu() {
    // §3.1.3
    let source = "((n : int))
        ((mu (fib : int -> int)
           (lambda (n : int)
             (if (< n 2) then 1
              else (+ (fib (- n 1)) (fib (- n 2)))))) n)";
    gives(source, "n=10", "89");
}

#[test]
fn maybe_and_lists_of_integers() {
    // §3.1.2
    let source = "((m : Maybe)) (types (Maybe : (+ (Some : int) (None : unit))))
        (case m (Some x (+ x 1)) (None n 0))";
    gives(source, "m=(Some 2)", "3");
    gives(source, "m=None", "0");
    let source = "((l : IntList)) (types (IntList : (+ (Nil : unit) (Cons : (int, IntList)))))
        ((mu (sum : IntList -> int)
           (lambda (l : IntList) (case l (Nil n 0) (Cons c (+ c.0 (sum c.1)))))) l)";
    gives(source, "l=(Cons (1, (Cons (2, Nil))))", "3");
}

#[test]
fn length_of_a_polymorphic_list() {
    // §3.5
    let source = "((input : (List float)))
        (types (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a))))))
        (let
          (len (mu (len : int -> (List 'a) -> int)
            (lambda (l : int) (xs : (List 'a)) : int
              (case xs
                (Nil x l)
                (Cons xs (len (+ l 1) (xs.1)))))))
        in (len 0 input))";
    gives(source, "input=(Cons (1.5, (Cons (2.5, Nil))))", "2");
    assert_eq!(crate::common::check(source).warnings(), [0u16; 0]);
}

#[test]
fn reduction_of_a_polymorphic_tree() {
    // §3.5
    let source = "((input : (Tree int)))
        (types (Tree 'a : (+ (Leaf : 'a) (Node : ('a, (Tree 'a), (Tree 'a))))))
        (let
          (red
            (mu (red : ('a -> 'a -> 'a) -> (Tree 'a) -> 'a)
              (lambda (f : 'a -> 'a -> 'a) (t : (Tree 'a)) : 'a
                (case t
                  (Leaf l (l))
                  (Node n
                    (let
                      (left (red f (n.1)))
                      (right (red f (n.2)))
                      (f (n.0) (f left right))))))))
        in (red + input))";
    gives(source, "input=(Node (1, (Leaf 2), (Leaf 3)))", "6");
}

#[test]
fn increment_at_every_number_type() {
    // §3.3
    let source = "((i : int) (x : float))
        (let (increment (lambda (x : 'a) : 'a (from_double (+ (to_double x) 1.0L))))
         in ((increment i), (increment x)))";
    gives(source, "i=4 x=1.5", "(5, 2.5)");
}

#[test]
fn common_subexpressions() {
    // §5
    let source = "((X : vector int) (Z : vector int))
        (let (f (lambda (x : int) (y : int) (z : int) : int (+ (- x z) (- y z)))) in (map f X X Z))";
    gives(source, "X=[5 7] Z=[1 2]", "[8 10]");
}

#[test]
fn nested_maps() {
    // §5.1
    let source = "((X : vector (vector int))) (map (map (lambda (x : int) : int (+ x 1))) X)";
    gives(source, "X=[[1 2 3] [4 5]]", "[[2 3 4] [5 6]]");
    let source = "((X : vector (vector int))) (map (lambda (x) (reduce + 0 x)) X)";
    gives(source, "X=[[1 2 3] [4 5]]", "[6 9]");
}

#[test]
fn foreign_functions() {
    // §3.1.1
    let source =
        "((X : vector int)) (foreign (f : (int -> int)) (g : int -> float -> bool)) (map f X)";
    has_type(source, "vector int -> vector int");
    let program =
        core("((x : int)) (foreign (g : int -> float -> bool)) (let (h (g x)) in (h 1.5))");
    assert_eq!(program.foreigns[0].parameters.len(), 2);
}

/// Programs of figure 3: production and form, source, inputs, value.
const GRAMMAR: &[(&str, &str, &str, &str)] = &[
    ("Const: digits", "() 42", "", "42"),
    ("Const: digits with a point", "() (+ 1.5 0.25)", "", "1.75"),
    ("Const: true, false", "() (and true false)", "", "false"),
    ("Const: nil", "() nil", "", "nil"),
    ("ArithOp", "((a : int)) (+ (* a 3) (- (/ a 2) 1))", "a=7", "23"),
    (
        "CompareOp",
        "((a : int)) [(= a 2) (~= a 2) (< a 2) (<= a 2) (> a 2) (>= a 2)]",
        "a=2",
        "[true false false true false true]",
    ),
    ("LogicOp", "((a : bool)) (or (and a a) (not a))", "a=false", "true"),
    (
        "MathOp",
        "((x : double)) (+ (+ (abs x) (sqrt (abs x))) (log (exp x)))",
        "x=-4",
        "2.0",
    ),
    (
        "BitwiseOp",
        "((a : int)) [(& a 6) (| a 8) (^ a 1) (~ a) (<< a 2) (>> a 1)]",
        "a=5",
        "[4 13 4 -6 20 2]",
    ),
    ("VectorOp: map", "((X : vector int)) (map + X X)", "X=[1 2]", "[2 4]"),
    ("VectorOp: reduce", "((X : vector int)) (reduce + 0 X)", "X=[1 2]", "3"),
    (
        "VectorOp: permute",
        "((X : vector int)) (permute [1 0] X)",
        "X=[1 2]",
        "[2 1]",
    ),
    (
        "VectorOp: gather",
        "((X : vector int)) (gather [1 1] X)",
        "X=[1 2]",
        "[2 2]",
    ),
    (
        "VectorOp: slice",
        "((X : vector int)) (slice 0 2 3 X)",
        "X=[1 2 3]",
        "[1 3]",
    ),
    ("VectorOp: range", "((n : int)) (range n)", "n=3", "[0 1 2]"),
    ("VectorOp: length", "((X : vector int)) ((length X) : int)", "X=[4]", "1"),
    (
        "VectorOp: scan",
        "((X : vector int)) (scan + 0 X)",
        "X=[1 2 3]",
        "[1 3 6]",
    ),
    (
        "VectorOp: filter",
        "((X : vector int)) (filter (< 1) X)",
        "X=[1 2 3]",
        "[2 3]",
    ),
    ("Id: a built-in", "() (let (f +) in (f 1 2))", "", "3"),
    (
        "SimpleType: basic types",
        "((a : int) (b : int32) (c : int16) (d : int8) (e : float) (f : double) (g : bool) (h : unit))
         (a, b, c, d, e, f, g, h)",
        "a=1 b=2 c=3 d=4 e=1.5 f=2.5 g=true h=nil",
        "(1, 2, 3, 4, 1.5, 2.5, true, nil)",
    ),
    ("SimpleType: tuple", "((p : (int, float))) p.1", "p=(1, 2.5)", "2.5"),
    (
        "SimpleType: sum",
        "((s : (+ (A : int) (B : float)))) (case s (A a a) (B b 7))",
        "s=(B 1.5)",
        "7",
    ),
    (
        "SimpleType: sum, as the figure prints it",
        "((s : + (A : int) (B : float))) (case s (A a a) (B b 7))",
        "s=(A 3)",
        "3",
    ),
    (
        "SimpleType: vector",
        "((X : vector vector int)) (X ! 1)",
        "X=[[1] [2 3]]",
        "[2 3]",
    ),
    (
        "SimpleType: vector#1",
        "((X : vector#1 int)) (X ! 1)",
        "X=[1 2]",
        "2",
    ),
    (
        "SimpleType: vector#n",
        "((X : vector#3 int)) (X ! (0, 1, 0))",
        "X=[[[1] [2]]]",
        "2",
    ),
    (
        "Type: identifier",
        "((p : P)) (types (P : (int, int))) (+ p.0 p.1)",
        "p=(1, 2)",
        "3",
    ),
    (
        "Type: function, parentheses",
        "((a : int)) (let (f (lambda (g : (int -> (int)) -> int) : int (g (+ 1)))) in (f (lambda (h) (h a))))",
        "a=1",
        "2",
    ),
    ("Expr: application", "((a : int)) ((lambda (f) (f a 1)) -)", "a=3", "2"),
    ("Expr: tuple", "((a : int)) (a, (a, nil))", "a=3", "(3, (3, nil))"),
    ("Expr: tuple access", "((a : int)) ((a, 7) . 1)", "a=3", "7"),
    ("Expr: vector access", "((X : vector int)) (X ! 0)", "X=[5]", "5"),
    ("Expr: if", "((a : int)) (if (< a 2) then 1 else 2)", "a=3", "2"),
    (
        "Expr: case",
        "((m : M)) (types (M : (+ (Some : int) (None : unit)))) (case m (Some x x) (None n 0))",
        "m=None",
        "0",
    ),
    ("Expr: let", "((a : int)) (let (b (+ a 1)) (c (* b 2)) in (- c a))", "a=3", "5"),
    (
        "Expr: lambda",
        "((a : int)) ((lambda (x : int) (y : int) : int (- x y)) a 1)",
        "a=3",
        "2",
    ),
    (
        "Expr: mu",
        "((a : int)) ((mu (f : int -> int) (lambda (n : int) : int (if (< n 1) then 0 else (+ n (f (- n 1)))))) a)",
        "a=3",
        "6",
    ),
    (
        "Expr: mu of what gives a lambda",
        "((a : int)) ((mu (f : int -> int) (let (k 3) in (lambda (n : int) : int (if (< n 1) then k else (f (- n 1)))))) a)",
        "a=5",
        "3",
    ),
    ("Expr: parentheses", "((a : int)) ((((a))))", "a=3", "3"),
    (
        "TypeCtorDecl without parentheses around the sum",
        "((m : M)) (types (M : + (Some : int) (None : unit))) (case m (Some x x) (None n 0))",
        "m=(Some 4)",
        "4",
    ),
];

#[test]
fn every_production_of_the_grammar() {
    for (production, source, inputs, value) in GRAMMAR {
        println!("{production}");
        gives(source, inputs, value);
    }
    // Foreign functions have no value in these tests.
    has_type(
        "((a : int)) (types (T : int)) (foreign (f : int -> float) (g : (T, T) -> int)) (f (g (a, a)))",
        "int -> float",
    );
}

#[test]
fn sums_where_types_stand_are_one_type() {
    let programs = [
        // Through a synonym, and together with a declaration.
        "((a : S)) (types (S : (+ (A : int) (B : float)))) \
         ((lambda (s : (+ (A : int) (B : float))) (case s (A x x) (B y 0))) a)",
        "((a : (+ (A : int) (B : float)))) (types (I : int) (S : vector (+ (A : I) (B : float)))) \
         (let (f (lambda (xs : S) (case (xs ! 0) (A x x) (B y 0)))) in (f [a]))",
        // With type variables: an instance of the most general one.
        "((a : (+ (A : int) (B : float)))) \
         (let (f (lambda (s : (+ (A : 'a) (B : float))) (d : 'a) : 'a (case s (A x x) (B y d)))) in (f a 0))",
        // As an instance of a declared one.
        "((a : (+ (A : int) (B : float)))) (types (E 'x 'y : (+ (A : 'x) (B : 'y)))) \
         ((lambda (e : (E int float)) (case e (A x x) (B y 0))) a)",
    ];
    for program in programs {
        gives(program, "a=(A 5)", "5");
    }
    has_type(
        "((s : (+ (A : int) (B : (+ (C : vector float)))))) s",
        "(+ (A : int) (B : (+ (C : vector float)))) -> (+ (A : int) (B : (+ (C : vector float))))",
    );
    // A sum without a name may contain itself through a named type.
    gives(
        "((t : T)) (types (T : (+ (End : unit) (Node : vector (+ (Left : T) (Right : int)))))) \
         ((mu (f : T -> int) (lambda (t : T) (case t (End 0) \
            (Node xs (+ 1 (reduce + 0 (map (lambda (x) (case x (Left l (f l)) (Right r r))) xs))))))) t)",
        "t=(Node [(Right 4) (Left End) (Left (Node []))])",
        "6",
    );
}

#[test]
fn a_constructor_belongs_to_one_sum() {
    let wrong = [
        // Other payloads, other constructors, another order.
        "((a : (+ (A : int))) (b : (+ (A : float)))) a",
        "((a : (+ (A : int))) (b : (+ (A : int) (B : int)))) a",
        "((a : (+ (A : int) (B : int))) (b : (+ (B : int) (A : int)))) a",
        "((a : (+ (A : int) (A : int)))) a",
        "((a : (+ (A : int)))) (types (T : (+ (A : int) (B : int)))) a",
        "((a : (+ (A : int)))) (foreign (A : int -> int)) a",
        "((a : (+ (A : int)))) (define (A 3)) a",
    ];
    for program in wrong {
        let outcome = crate::common::check(program);
        assert!(
            outcome.errors().contains(&110),
            "{program}\n{}",
            outcome.messages()
        );
        assert!(
            outcome.messages().contains("first here"),
            "{}",
            outcome.messages()
        );
    }
    fails(
        "((a : T)) (types (T : vector (+ (A : T) (B : int)))) 1",
        &[212],
    );
    fails("((a : (+ (A : 'a)))) 1", &[216]);
    fails("((a : (+ (A : int -> int)))) 1", &[213]);
    fails("((a : (+ (A : nowhere)))) 1", &[202]);
    fails("((a : +A)) (types (+A : int)) 1", &[108]);
}

#[test]
fn the_example_programs_pass_their_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nova-examples");
    let mut tests = 0;
    for folder in ["paper", "tutorial"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("the examples");
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path
                .extension()
                .is_some_and(|extension| extension == "nova")
            {
                let source = std::fs::read_to_string(&path).expect("an example");
                tests += run_tests(&source);
            }
        }
    }
    assert!(tests > 20, "{tests}");
}

/// Runs the `;; test` lines of a source. Returns their number.
fn run_tests(source: &str) -> usize {
    let lines = source
        .lines()
        .filter_map(|line| line.strip_prefix(";; test "));
    let program = core(source);
    let mut count = 0;
    for line in lines {
        let (inputs, expected) = line.split_once("=>").expect("an expectation");
        let named = program
            .entries
            .iter()
            .enumerate()
            .find_map(|(index, entry)| {
                let inputs = inputs.trim().strip_prefix(&*entry.name)?;
                Some((index, inputs.trim().strip_prefix(':')?))
            });
        let (index, inputs) = named.unwrap_or((0, inputs));
        let found = run_entry(&program, index, inputs).0;
        let ty = &program.expression(program.entries[index].body).ty;
        let expected = match read_value(expected, ty, &program.sums) {
            Ok(value) => print_value(&value, ty, &program.sums),
            Err(_) => expected.trim().to_string(),
        };
        assert_eq!(found, expected, "{line}");
        count += 1;
    }
    count
}
