//! Tables of nodes: their order and their errors.

use super::tests::{evaluate_text, evaluate_value};

/// Lists of `int` and their nodes.
const LISTS: &str = r#"
    (sum "List" [i32] [0] ("Nil" unit) ("Cons" (tuple i32 (sum 0))))
    (sum "List*" [i32 i32] [] (node_of 0) ("Nil*" unit) ("Cons*" (tuple i32 i32)))"#;

/// Rose trees with a list of trees, and their nodes.
const ROSES: &str = r#"
    (sum "Rose" [i32] [0 1] ("Rose" (tuple i32 (sum 1))))
    (sum "List" [(sum 0)] [0 1] ("Nil" unit) ("Cons" (tuple (sum 0) (sum 1))))
    (sum "Rose*" [i32 i32] [] (node_of 0) ("Rose*" (tuple i32 (sum 3))))
    (sum "List" [i32] [3] ("Nil" unit) ("Cons" (tuple i32 (sum 3))))"#;

/// Trees with a vector of trees in a group with their forests.
const FORESTS: &str = r#"
    (sum "Tree" [] [0 1] ("Tree" (tuple i32 (sum 1))))
    (sum "Forest" [] [0 1] ("Forest" (vector (sum 0))))
    (sum "Tree*" [i32 i32] [] (node_of 0) ("Tree*" (tuple i32 i32)))
    (sum "Forest*" [i32 i32] [] (node_of 1) ("Forest*" (vector i32)))"#;

#[track_caller]
fn check_body(sections: &str, ty: &str, argument: &str, body: &str, expected: &str) {
    let input = format!("x_0:{ty}");
    assert_eq!(
        evaluate_text(sections, &input, &[argument], body),
        expected,
        "{body}"
    );
}

#[test]
fn a_table_has_the_nodes_breadth_first() {
    let body = "(table (vector (sum 1)) x_0)";
    let list = "(Cons (7, (Cons (8, Nil))))";
    let expected = "[(Cons* (7, 1)) (Cons* (8, 2)) Nil*]";
    check_body(LISTS, "(sum 0)", list, body, expected);
    check_body(LISTS, "(sum 0)", "Nil", body, "[Nil*]");
    check_body(
        ROSES,
        "(sum 0)",
        "(Rose (1, (Cons ((Rose (2, (Cons ((Rose (4, Nil)), Nil)))), (Cons ((Rose (3, Nil)), Nil))))))",
        "(table (vector (sum 2)) x_0)",
        "[(Rose* (1, (Cons (1, (Cons (2, Nil)))))) (Rose* (2, (Cons (3, Nil)))) (Rose* (3, Nil)) (Rose* (4, Nil))]",
    );
    check_body(
        FORESTS,
        "(sum 0)",
        "(Tree (1, (Forest [(Tree (2, (Forest []))) (Tree (3, (Forest [])))])))",
        "(table (tuple (vector (sum 2)) (vector (sum 3))) x_0)",
        "([(Tree* (1, 0)) (Tree* (2, 1)) (Tree* (3, 2))], [(Forest* [1 2]) (Forest* []) (Forest* [])])",
    );
    check_body(
        FORESTS,
        "(sum 1)",
        "(Forest [])",
        "(table (tuple (vector (sum 3)) (vector (sum 2))) x_0)",
        "([(Forest* [])], [])",
    );
}

#[test]
fn a_shared_node_has_one_number() {
    let body = r#"(let [t (construct (sum 1) "Cons" (tuple x_0 (construct (sum 1) "Cons"
        (tuple x_0 (construct (sum 1) "Nil" nil)))))]
        (table (vector (sum 2)) (construct (sum 0) "Rose" (tuple 5i32 t))))"#;
    let expected = "[(Rose* (5, (Cons (1, (Cons (1, Nil)))))) (Rose* (2, Nil))]";
    check_body(ROSES, "(sum 0)", "(Rose (2, Nil))", body, expected);
}

#[test]
fn a_datum_is_made_of_a_table() {
    let body = "(datum 1i32 x_0)";
    let ty = "(vector (sum 1))";
    let nodes = "[Nil* (Cons* (8, 2)) (Cons* (7, 0))]";
    check_body(LISTS, ty, nodes, body, "(Cons (8, (Cons (7, Nil))))");
    check_body(LISTS, ty, nodes, "(node_at x_0 2i32)", "(Cons* (7, 0))");
    check_body(
        LISTS,
        ty,
        nodes,
        r#"(unchecked_datum 0i32 (map (lambda [n_1:(sum 1)] (case n_1
            ("Nil*" (construct (sum 1) "Cons*" (tuple 1i32 1i32))) ("Cons*" (construct (sum 1) "Nil*" nil)))) x_0))"#,
        "(Cons (1, Nil))",
    );
    let both = "(tuple (vector (sum 2)) (vector (sum 3)))";
    let tables = "([(Tree* (1, 0)) (Tree* (2, 1))], [(Forest* [1 1]) (Forest* [])])";
    check_body(
        FORESTS,
        both,
        tables,
        "(datum 0i32 x_0)",
        "(Tree (1, (Forest [(Tree (2, (Forest []))) (Tree (2, (Forest [])))])))",
    );
}

#[test]
fn wrong_tables_are_errors() {
    let list = |nodes: &str, expected: &str| {
        let body = "(datum 0i32 x_0 \"a:1:2\")";
        check_body(LISTS, "(vector (sum 1))", nodes, body, expected);
    };
    list("[]", "a:1:2: link 0 is out of range for 0 nodes");
    list(
        "[Nil* (Cons* (1, 2))]",
        "a:1:2: link 2 is out of range for 2 nodes",
    );
    list(
        "[Nil* (Cons* (1, -1)) (Cons* (1, 9))]",
        "a:1:2: link -1 is out of range for 3 nodes",
    );
    list("[(Cons* (1, 0))]", "a:1:2: a node contains itself");
    list(
        "[Nil* (Cons* (1, 2)) (Cons* (1, 1))]",
        "a:1:2: a node contains itself",
    );
    let tables = "([(Tree* (1, 0))], [(Forest* [0])])";
    check_body(
        FORESTS,
        "(tuple (vector (sum 2)) (vector (sum 3)))",
        tables,
        "(datum 0i32 x_0 \"a:1:2\")",
        "a:1:2: a node contains itself",
    );
    check_body(
        ROSES,
        "(vector (sum 2))",
        "[(Rose* (1, (Cons (0, Nil))))]",
        "(datum 0i32 x_0 \"a:1:2\")",
        "a:1:2: a node contains itself",
    );
    check_body(
        ROSES,
        "(vector (sum 2))",
        "[(Rose* (1, Nil)) (Rose* (1, (Cons (1, (Cons (2, Nil))))))]",
        "(datum 1i32 x_0 \"a:1:2\")",
        "a:1:2: link 2 is out of range for 2 nodes",
    );
}

#[test]
fn long_and_shared_data_take_one_step_for_each_node() {
    let count = 1_000_000;
    let cons = r#"(lambda [l_1:(sum 0) k_2:i32] (construct (sum 0) "Cons" (tuple k_2 l_1)))"#;
    let long =
        format!("(foldl {cons} (construct (sum 0) \"Nil\" nil) (range 0i32 1i32 {count}i32))");
    let body =
        format!("(length (table (vector (sum 1)) (datum 0i32 (table (vector (sum 1)) {long}))))");
    assert_eq!(
        evaluate_text(LISTS, "", &[], &body),
        (count + 1).to_string()
    );
    let roses = r#"(let [l (foldl (lambda [l_1:(sum 1) k_2:i32] (construct (sum 1) "Cons" (tuple x_0 l_1)))
        (construct (sum 1) "Nil" nil) (range 0i32 1i32 1000000i32))]
        (length (table (vector (sum 2)) (datum 0i32 (table (vector (sum 2)) (construct (sum 0) "Rose" (tuple 5i32 l)))))))"#;
    check_body(ROSES, "(sum 0)", "(Rose (2, Nil))", roses, "2");
    let trees = r#"
        (sum "Tree" [] [0] ("Leaf" unit) ("Node" (tuple (sum 0) (sum 0))))
        (sum "Tree*" [i32] [] (node_of 0) ("Leaf*" unit) ("Node*" (tuple i32 i32)))"#;
    let doubled = r#"(iterate 200i32 (lambda [t_1:(sum 0)] (construct (sum 0) "Node" (tuple t_1 t_1)))
        (construct (sum 0) "Leaf" nil))"#;
    let body = format!("(datum 0i32 (table (vector (sum 1)) {doubled}))");
    let value = evaluate_value(trees, &body);
    let again = format!("(length (table (vector (sum 1)) {body}))");
    assert_eq!(evaluate_text(trees, "", &[], &again), "201");
    assert!(value.same(&evaluate_value(trees, doubled)));
}
