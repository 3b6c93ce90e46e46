//! Data-parallel recursion in programs without errors: the types that links, nodes and their types
//! may have, checked by the values of the interpreter.

use crate::common::{check, core, run};

const LIST: &str = "(types (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a))))))";
const TREE: &str = "(types (Tree 'a : (+ (Node : ('a, (Forest 'a)))))
                           (Forest 'a : (+ (None : unit) (More : ((Tree 'a), (Forest 'a))))))";
const SUM: &str = "(define (sum (lambda (L) (case L (Nil 0) (Cons (v, rest) (+ v (sum rest)))))))";

/// Returns the value of an expression on the list `L` of 1, 2 and 3.
fn on_list(definitions: &str, body: &str) -> String {
    let list = "(Cons (1, (Cons (2, (Cons (3, Nil))))))";
    run(
        &format!("() {LIST} {SUM} {definitions} (let (L {list}) in {body})"),
        "",
    )
}

#[test]
fn links_stand_where_values_do() {
    let bodies = [
        // Parts of a payload that are read later.
        "(Cons* p (Cons* ((+ p.0 1), (f p.1))))",
        // Functions without annotations, used at several types.
        "(Cons* (v, l) (let (same (lambda (a) a)) in (Cons* ((same (+ v 1)), (same (f (same l))))))) ",
        "(Cons* (v, l) (let (apply (lambda (g a) (g a))) in (Cons* ((+ v 1), (apply f l)))))",
        // A link in a vector, and the functions as values.
        "(Cons* (v, l) (Cons* ((+ v 1), ((map f [l]) ! 0))))",
        "(Cons* (v, l) (Cons* ((+ v (length (map d [l]))), (f l))))",
        // Another form inside, over other data.
        "(Cons* (v, l) (Cons* ((+ v (sum (up (Cons* (1, k)) (k Nil)))), (f l))))",
    ];
    for arm in bodies {
        let body = format!("(sum (foreach (x L) (f d) (case x (Nil* Nil*) {arm})))");
        assert_eq!(on_list("", &body), "9", "{arm}");
    }
}

#[test]
fn a_literal_in_a_node_takes_its_type_later() {
    let zeros = "(foreach (x L) (f d) (case x (Nil* Nil*) (Cons* (_, l) (Cons* (0, (f l))))))";
    let body = format!("(+ 1.5 (case {zeros} (Nil 0) (Cons (v, _) v)))");
    assert_eq!(on_list("", &body), "1.5");
}

#[test]
fn definitions_on_data_are_polymorphic() {
    let with = "(define (with (lambda (g K)
        (foreach (x K) (f d) (case x (Nil* Nil*) (Cons* (v, l) (Cons* ((g v), (f l)))))))))";
    let body = "((sum (with (+ 1) L)), (case (with (lambda (v) (v, 0.5)) L) (Nil 0) (Cons ((v, _), _) v)))";
    assert_eq!(on_list(with, body), "(9, 1)");
}

#[test]
fn a_group_tells_its_types_by_the_names_of_bodies() {
    let text = format!(
        "() {TREE}
        (define (next (lambda (T) (foreach ((x T) (y Forest)) (f d)
          (case x (Node* p (Node* ((+ p.0 1), (f p.1)))))
          (case y (None* None*) (More* p (More* ((f p.0), (f p.1)))))))))
        (case (next (Node (1, (More ((Node (5, None)), None)))))
          (Node (v, k) (case k (None 0) (More (t, _) (case t (Node (w, _) (+ v w)))))))"
    );
    assert_eq!(run(&text, ""), "8");
}

#[test]
fn the_root_of_a_datum_is_of_any_integer_type() {
    for suffix in ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"] {
        let body = format!("(sum (datum 1{suffix} (table L)))");
        assert_eq!(on_list("", &body), "5", "{suffix}");
    }
}

#[test]
fn node_types_stand_in_types_and_boundaries() {
    let text = "((X : vector Cell) (B : Box))
        (types
          (Cell : (List* int int))
          (Box : (+ (Empty : unit) (Full : (Cell, vector (List* Box int))) (Deep : Box)))
          (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a))))))
        (foreign (g : Cell -> vector (List* float int)))
        ((datum 0 X),
         (map g X),
         (foreach (b B) (f d)
           (case b
             (Empty* Empty*)
             (Full* (c, V) (Full* (c, (map (lambda (n) (case n (Nil* Nil*) (Cons* (a, k) (Cons* ((f a), k))))) V))))
             (Deep* l (Deep* (f l))))))";
    core(text);
}

#[test]
fn sums_without_names_stand_between_nodes() {
    let text = "()
        (types (Tree 'a : (+ (Leaf : unit)
                             (Node : ('a, (+ (None : unit)
                                             (Some : (Tree 'a))
                                             (Both : ((Tree 'a), (+ (Left : (Tree 'a)) (Right : int))))))))))
        (define (sum (lambda (T) (case T
          (Leaf 0)
          (Node (v, m) (+ v (case m
            (None 0)
            (Some t (sum t))
            (Both (t, o) (+ (sum t) (case o (Left u (sum u)) (Right k k)))))))))))
        (let (leaf (Node (1, None)))
             (T (Node (10, (Both (leaf, (Left (Node (2, (Some leaf)))))))))
             (S (foreach (n T) (f d) (case n
               (Leaf* Leaf*)
               (Node* (v, m) (Node* ((* 2 v), (case m
                 (None None)
                 (Some l (Some (f l)))
                 (Both (l, o) (Both ((f l), (case o (Left k (Left (f k))) (Right k (Right k))))))))))))) in
         ((sum T), (sum S), (sum (datum 0 (table S)))))";
    assert_eq!(run(text, ""), "(14, 28, 28)");
}

#[test]
fn sums_without_names_are_one_type_with_and_without_links() {
    let text = "((x : (+ (None : unit) (Some : (Tree int)))))
        (types (Tree 'a : (+ (Leaf : unit) (Node : ('a, (+ (None : unit) (Some : (Tree 'a))))))))
        (define (link (lambda (n : (Tree* int int)) (case n
          (Leaf* (None : (+ (None : unit) (Some : int))))
          (Node* (v, m) m)))))
        (case x (None (link Leaf*)) (Some t (link ((table t) ! 0))))";
    core(text);
    let other = text.replace("(Some : int)", "(Some : int) (More : int)");
    assert!(!check(&other).errors().is_empty());
}

#[test]
fn one_mistake_gives_one_error() {
    let list = "((L : (List int))) (types (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a))))))";
    let cases = [
        (
            "(foreach (x L) (f d) (case x (Nil* Nil*) (Cons* (v, l) (Cons (v, (f l))))))",
            226,
        ),
        (
            "(foreach (x L) (f d) (case x (Nil* (Cons* (0, 0))) (Cons* (v, l) (Cons* (v, (f l))))))",
            224,
        ),
        ("(up (Cons (1, l)) (l L))", 226),
        ("(up (Cons* (l, l)) (l L))", 223),
        (
            "((lambda (keep) (up (Cons* (1, (keep l))) (l L))) (lambda (m) m))",
            223,
        ),
        (
            "((lambda (keep) (foreach (x L) (f d) (case x (Nil* Nil*) (Cons* (v, l) (Cons* ((keep l), (f l))))))) (lambda (m) 0))",
            223,
        ),
        ("(datum 0.0 [(Cons* (1, 1)) Nil*])", 206),
        (
            "(foreach (x L) (f d) (case x (Nil* Nil*) (Cons* (v, l) (if (> v 0) then (up (Cons* (v, m)) (m L)) else Nil*))))",
            226,
        ),
        (
            "(foreach (x L) (f d) (case x (Nil* Nil*) (Cons* (v, l) (Cons* ((f l), v)))))",
            224,
        ),
        (
            "(foreach (x L) (f d) (let (r (d (case x (Nil* 0) (Cons* (_, l) l)))) in (case x (Nil* Nil*) (Cons* (v, l) (Cons* (v, (f l)))))))",
            224,
        ),
        (
            "(foreach (x L) (f d) (case x (Nil* Nil*) (Cons* (v, l) (if (< v 0) then x else (Cons* (v, (f l)))))))",
            224,
        ),
    ];
    for (body, code) in cases {
        let text = format!("{list} {body}");
        let errors = check(&text).errors();
        assert_eq!(errors, [code], "{body}");
    }
}
