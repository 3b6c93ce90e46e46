//! Tests of `foreach`, `up` and `dn`.

use super::{codes_of, expression, input_type, parsed, show, show_pattern};
use crate::ast::{ExpressionId, ExpressionKind, Pattern, Program};

/// Returns a form of data-parallel recursion as text.
pub(super) fn show_form(program: &Program, form: &ExpressionKind) -> String {
    let write = |id: &ExpressionId| show(program, *id);
    let pattern = |p: &Pattern| show_pattern(program, p);
    match form {
        ExpressionKind::Foreach {
            datum,
            links,
            nodes,
        } => {
            let [f, d] = &**links;
            let nodes = nodes.iter().map(|node| {
                let ty = node
                    .ty
                    .as_ref()
                    .map_or(String::new(), |ty| format!("{} ", ty.text));
                format!(" [{} {ty}{}]", pattern(&node.pattern), write(&node.body))
            });
            let (f, d, nodes) = (pattern(f), pattern(d), nodes.collect::<String>());
            format!("(foreach {} {f} {d}{nodes})", write(datum))
        }
        ExpressionKind::Up { body, links } => {
            let links = links
                .iter()
                .map(|(p, e)| format!(" [{} {}]", pattern(p), write(e)));
            format!("(up{} {})", links.collect::<String>(), write(body))
        }
        ExpressionKind::Down(datum) => format!("(dn {})", write(datum)),
        other => panic!("another form: {other:?}"),
    }
}

#[test]
fn forms_of_data_parallel_recursion() {
    for (text, expected) in [
        (
            "(foreach (x M) (f d) (g x f d))",
            "(foreach M f d [x (g x f d)])",
        ),
        ("(foreach (_ M) (_ _) Nil*)", "(foreach M _ _ [_ Nil*])"),
        (
            "(foreach ((a, b) (g L)) (f d) a)",
            "(foreach (g L) f d [(tuple a b) a])",
        ),
        (
            "(foreach (x : T* int 'n (g L)) (f d) x)",
            "(foreach (g L) f d [x:(T* int 'n) x])",
        ),
        (
            "(foreach ((x : T) (g L)) (f d) x)",
            "(foreach (g L) f d [x:T x])",
        ),
        (
            "(foreach ((x : vector int) (g L)) (f d) x)",
            "(foreach (g L) f d [x:(vector#1 int) x])",
        ),
        ("(foreach ((x M)) (f d) x)", "(foreach M f d [x x])"),
        ("(foreach ((x : T M)) (f d) x)", "(foreach M f d [x:T x])"),
        (
            "(foreach ((x (g L)) (y Forest)) (f d) x (h y))",
            "(foreach (g L) f d [x x] [y Forest (h y)])",
        ),
        (
            "(foreach ((x : T M) (y : U Forest) (_ V)) (f d) 1 2 3)",
            "(foreach M f d [x:T 1] [y:U Forest 2] [_ V 3])",
        ),
        (
            "(foreach (((x : T) M) ((a, b) U)) (f d) 1 2)",
            "(foreach M f d [x:T 1] [(tuple a b) U 2])",
        ),
        ("(up Nil*)", "(up Nil*)"),
        (
            "(up (Cons* (1, x)) (x M))",
            "(up [x M] (Cons* (tuple 1 x)))",
        ),
        (
            "(up (Node* (x, y)) (x (f M)) (y : T (up Leaf*)))",
            "(up [x (f M)] [y:T (up Leaf*)] (Node* (tuple x y)))",
        ),
        ("(dn M)", "(dn M)"),
        ("((dn (f M)))", "(dn (f M))"),
        ("(dn M).0", "(dn M).0"),
        (
            "(case (dn M) (Nil* 0) (Cons* (v, _) v))",
            "(case (dn M) [Nil* 0] [Cons* (tuple v _) v])",
        ),
    ] {
        assert_eq!(expression(text), expected, "{text}");
    }
    assert_eq!(input_type("(List* int 'n)"), "(List* int 'n)");
}

#[test]
fn names_that_end_in_a_star() {
    let text = "(let (x* 1) (f** (lambda (y*) (* y* x*))) in (f** 2))";
    assert_eq!(
        expression(text),
        "(let [x* 1] [f** (lambda (y*) (* y* x*))] (f** 2))"
    );
}

#[test]
fn children_stand_before_parents_in_the_order_of_evaluation() {
    for (text, expected) in [
        ("(foreach ((x a) (y T)) (f d) b c)", "a b c"),
        ("(up c (x a) (y b))", "a b c"),
        ("(dn a)", "a"),
    ] {
        let (program, diagnostics) = parsed(text);
        assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
        let last = program.arena.len() - 1;
        assert_eq!(program.entries[0].body.index(), last, "{text}");
        let names = program.arena.iter().filter_map(|e| match &e.kind {
            ExpressionKind::Name(name) => Some(&**name),
            _others => None,
        });
        assert_eq!(names.collect::<Vec<_>>().join(" "), expected, "{text}");
    }
}

/// Returns the messages about a program, in order.
fn messages(text: &str) -> Vec<String> {
    let (_, diagnostics) = parsed(text);
    assert!(
        diagnostics
            .iter()
            .all(|d| !d.code.0 != 107 || d.help.as_ref().is_some_and(|help| !help.is_empty())),
        "{text}: {diagnostics:?}"
    );
    diagnostics.into_iter().map(|d| d.message).collect()
}

/// Checks that each program has one message.
fn check_messages(programs: &[(&str, &str)]) {
    for (text, expected) in programs {
        assert_eq!(messages(text), [*expected], "{text}");
    }
}

#[test]
fn malformed_foreach_says_what_is_wrong() {
    check_messages(&[
        ("(foreach)", "this `foreach` is empty"),
        (
            "(foreach (x M))",
            "the functions `(f d)` and the body of this `foreach` are missing",
        ),
        (
            "(foreach (x M) (f d))",
            "the body of this `foreach` is missing",
        ),
        (
            "(foreach (x M) (Cons* (1, x)))",
            "the functions `(f d)` of this `foreach` are missing",
        ),
        (
            "(foreach x (f d) x)",
            "expected a node and its datum `(x M)`, found `x`",
        ),
        (
            "(foreach () (f d) x)",
            "expected a node and its datum `(x M)`, found `()`",
        ),
        (
            "(foreach (x) (f d) x)",
            "the datum that this `foreach` goes over is missing",
        ),
        (
            "(foreach (x g L) (f d) x)",
            "expected a name and one datum, found more items",
        ),
        (
            "(foreach (x M) f x)",
            "expected the two functions `(f d)`, found `f`",
        ),
        (
            "(foreach (x M) (f d e) x)",
            "expected the two functions `(f d)`, found a form in parentheses",
        ),
        (
            "(foreach (x M) (f, d) x)",
            "no comma stands between the two functions of `foreach`",
        ),
        (
            "(foreach (x M) ((a, b) d) x)",
            "expected a name for the function that renames links, found a form in parentheses",
        ),
        (
            "(foreach (x M) (f (d : T)) x)",
            "expected a name for the function that follows links, found a form in parentheses",
        ),
        (
            "(foreach (x M) (f 3) x)",
            "expected a name for the function that follows links, found the number `3`",
        ),
        (
            "(foreach (x M) (if d) x)",
            "`if` is a reserved word and cannot name a variable",
        ),
    ]);
}

#[test]
fn bodies_and_names_of_foreach_fit_together() {
    check_messages(&[
        ("(foreach (x M) (f d) g x)", "expected one body, found 2"),
        (
            "(foreach ((x M) (y T)) (f d) x)",
            "this `foreach` goes over 2 types and has one body",
        ),
        (
            "(foreach ((x M) (y T)) (f d) x y x)",
            "this `foreach` goes over 2 types and has 3 bodies",
        ),
        (
            "(foreach ((x M) y) (f d) x y)",
            "expected a node and its type `(y T)`, found `y`",
        ),
        (
            "(foreach ((x M) (y (List int))) (f d) x y)",
            "expected the name of a type of the group, found a form in parentheses",
        ),
        ("(foreach (x M) (f f) x)", "the name `f` is given twice"),
        ("(foreach (x M) (x d) x)", "the name `x` is given twice"),
        (
            "(foreach ((x M) (d T)) (f d) x 1)",
            "the name `d` is given twice",
        ),
        (
            "(foreach ((a, a) M) (f d) a)",
            "the name `a` is given twice",
        ),
    ]);
}

#[test]
fn malformed_up_and_dn_say_what_is_wrong() {
    check_messages(&[
        ("(up)", "this `up` is empty"),
        ("(up 1 x)", "expected a binding `(name value)`, found `x`"),
        ("(up 1 (x))", "the value of `x` is missing"),
        (
            "(up 1 (x f y))",
            "expected one value for `x`, found several items",
        ),
        (
            "(up 1 ((x a) (y b)))",
            "the bindings of `up` stand without parentheses around them all",
        ),
        ("(up 1 (x a) (x b))", "the name `x` is given twice"),
        ("(dn)", "the datum of this `dn` is missing"),
        ("(dn f x)", "expected one datum, found 2 items"),
        ("(f dn)", "the reserved word `dn` cannot stand here"),
        (
            "(let (up 1) in 2)",
            "`up` is a reserved word and cannot name a variable",
        ),
    ]);
}

#[test]
fn parts_of_malformed_forms_are_read() {
    for text in [
        "(foreach (x 300u8))",
        "(foreach (x M) (g 300u8))",
        "(foreach (x 300u8) f x)",
        "(foreach x (f d) 300u8)",
        "(foreach (x M) (f d) x 300u8)",
        "(foreach ((x 300u8) y) (f d) x y)",
        "(up 300u8 x)",
        "(up 1 (x f 300u8))",
        "(dn f (g 300u8))",
    ] {
        let codes = codes_of(text);
        let mut codes: Vec<&str> = codes.split(' ').collect();
        codes.sort_unstable();
        assert_eq!(codes, ["104", "107"], "{text}");
    }
    let (program, diagnostics) =
        parsed("(define (g (foreach (x M) (f d)))) (entry a () 1) (entry b () (dn))");
    assert_eq!(diagnostics.len(), 2, "{diagnostics:?}");
    assert_eq!((program.definitions.len(), program.entries.len()), (1, 2));
    for lost in ["x", "M", "f", "d"] {
        assert!(program.lost.may_hold(lost), "{lost}");
    }
}

#[test]
fn types_and_constructors_with_the_names_of_nodes() {
    for (text, expected) in [
        ("(types (T* : int)) 1", "108"),
        ("(types (T* 'a : (+ (A : 'a)))) 1", "108"),
        ("(types (T : (+ (A* : int) (B : int)))) 1", "108"),
        ("(types (T* : (+ (A* : int) (B** : int)))) 1", "108 108 108"),
        ("((x : (+ (A* : int)))) 1", "108"),
        ("(types (* : int)) 1", ""),
        ("(types (T : (+ (* : int)))) 1", ""),
        ("(types (T*x : int)) 1", ""),
    ] {
        assert_eq!(codes_of(text), expected, "{text}");
    }
}

#[test]
fn deep_and_wide_forms() {
    let depth = 100_000;
    for (open, close) in [
        ("(foreach (x ", ") (f d) x)"),
        ("(foreach (x M) (f d) ", ")"),
        ("(up ", ")"),
        ("(up 1 (x ", "))"),
        ("(dn ", ")"),
    ] {
        let text = format!("{}y{}", open.repeat(depth), close.repeat(depth));
        assert_eq!(codes_of(&text), "", "{open}");
    }
    for (open, close) in [
        ("(foreach (x ", ") (f d) 1 1)"),
        ("(foreach (x M) (f d) 1 ", ")"),
        ("(foreach (x ", ") f 1)"),
        ("(foreach (x g ", ") (f d) 1)"),
        ("(foreach ((x ", ") y) (f d) 1 1)"),
        ("(foreach (x M) ", ")"),
        ("(up 1 (x f ", "))"),
        ("(dn f ", ")"),
    ] {
        let text = format!("{}y{}", open.repeat(depth), close.repeat(depth));
        assert_ne!(codes_of(&text), "", "{open}");
    }
    let types: String = (0..depth).map(|i| format!("(x T{i})")).collect();
    let text = format!("(foreach ((x M) {types}) (f d) {})", "1 ".repeat(depth + 1));
    assert_eq!(codes_of(&text), "");
    let links: String = (0..depth).map(|i| format!("(x{i} M)")).collect();
    assert_eq!(codes_of(&format!("(up 1 {links})")), "");
}
