//! Tests of the pass that lets loops reclaim nodes: which loops do, through which variables they pass on
//! links, and that values stay the same.

use crate::programs::{after, read};
use crate::values::text_of_value;
use nova_core::{ScalarValue, Value};
use nova_loop::ir::Program;

/// A program whose function makes a list `l` in a loop over `i`, and gives the tag of its first node. Before the
/// loop it has a link `nil`, and `other`, another list.
fn program(before: &str, body: &str) -> String {
    format!(
        "(program (sum \"List\" [i32] [0] (\"Nil\" unit) (\"Cons\" (tuple i32 (sum 0))))
          (entry \"f\" [(\"n\" i64)] i32 \"f\")
          (function \"f\" [n:i64] [r:i32]
            (declare nil:i64)
            (new 0 0 [] nil)
            (declare other:i64)
            (new 0 1 [3i32 nil] other)
            (declare l:i64 nil)
            {before}
            (for i n sequential {body})
            (set r (tag 0 l))))"
    )
}

fn run(text: &str, pass: fn(&mut Program)) -> String {
    let before = read(text);
    let (after, text) = after(&before, pass);
    for n in [0, 1, 5, 40] {
        let input = [Value::Scalar(ScalarValue::I64(n))];
        let values = [&before, &after].map(|program| text_of_value(program, &input));
        assert_eq!(values[0], values[1], "{n}: {text}");
    }
    text
}

/// Returns the names of the variables through which the loops of a program pass on links, in the order of the
/// text; `None` if no loop reclaims nodes.
fn states(before: &str, body: &str) -> Option<Vec<String>> {
    let text = run(&program(before, body), nova_reclaim::nodes::run);
    let mut found = None;
    for line in text.split("(reclaim_nodes [0] [").skip(1) {
        let list = line.split('[').nth(2).unwrap_or_default();
        let list = list.split(']').next().unwrap_or_default();
        let names = list.split(' ').filter(|name| !name.is_empty());
        let names = names.map(|name| name.split('_').next().unwrap_or(name).to_string());
        found.get_or_insert_with(Vec::new).extend(names);
    }
    found
}

#[track_caller]
fn reclaims(before: &str, body: &str, expected: &[&str]) {
    let found = states(before, body);
    assert_eq!(
        found.as_deref(),
        Some(&expected.iter().map(|s| s.to_string()).collect::<Vec<_>>()[..])
    );
}

#[track_caller]
fn keeps(before: &str, body: &str) {
    assert_eq!(states(before, body), None);
}

const NEW: &str = "(declare a:i64) (new 0 1 [7i32 l] a)";

#[test]
fn loops_that_lose_nodes_reclaim_them() {
    reclaims(
        "",
        "(declare a:i64) (new 0 1 [7i32 nil] a) (set l a)",
        &["l"],
    );
    // Nobody keeps the node.
    reclaims("", NEW, &[]);
    // A part of the state is lost.
    reclaims(
        "",
        &format!(
            "{NEW}
             (set l a)
             (if (eq i32 (tag 0 l) 1i32)
               (do (declare x:i32) (declare rest:i64) (payload 0 1 l [x rest]) (set l rest)))"
        ),
        &["l"],
    );
    // Only one of two branches keeps what was made before.
    reclaims(
        "",
        &format!("{NEW} (if (lt i64 i 7) (do (set l a)) (do (set l nil)))"),
        &["l"],
    );
    // Both states are passed on, and the first one becomes the second one.
    reclaims(
        "(declare m:i64 nil)",
        "(declare a:i64) (new 0 1 [7i32 nil] a) (set m l) (set l a)",
        &["l", "m"],
    );
}

#[test]
fn loops_that_keep_all_nodes_have_nothing_to_reclaim() {
    keeps("", &format!("{NEW} (set l a)"));
    keeps("", &format!("(if (lt i64 i 5) (do {NEW} (set l a)))"));
    keeps(
        "",
        &format!(
            "(if (lt i64 i 5)
               (do {NEW} (set l a))
               (do (declare b:i64) (new 0 1 [1i32 l] b) (declare c:i64) (new 0 1 [2i32 b] c) (set l c)))"
        ),
    );
    // A state that leads to older nodes only.
    keeps(
        "(declare m:i64 other)",
        &format!(
            "{NEW} (set l a)
             (if (eq i32 (tag 0 m) 1i32)
               (do (declare x:i32) (declare rest:i64) (payload 0 1 m [x rest]) (set m rest)))"
        ),
    );
    // Nodes that hold nothing are not made anew.
    keeps("", "(declare a:i64) (new 0 0 [] a) (set l a)");
}

#[test]
fn inner_loops_reclaim_their_own_nodes() {
    let inner = "(declare b:i64) (new 0 1 [1i32 nil] b) (set l b)";
    reclaims("", &format!("(for j n sequential {inner})"), &["l", "l"]);
    // The inner loop keeps all nodes, and the outer one loses them.
    reclaims(
        "",
        &format!("(set l nil) (for j n sequential {NEW} (set l a))"),
        &["l"],
    );
}

#[test]
fn links_that_are_not_known_exactly_stay() {
    // An array of links outlives the iterations.
    keeps(
        "(local links:(pointer i64) 40)",
        "(declare a:i64) (new 0 1 [7i32 nil] a) (if (lt i64 i 40) (do (store links i a)))",
    );
    // A state holds a link or another number.
    keeps(
        "(declare m:i64 5)",
        "(declare a:i64) (new 0 1 [7i32 nil] a) (set m a) (set l a)",
    );
    // A number that is computed from links.
    keeps(
        "(declare m:i64 0)",
        "(declare a:i64) (new 0 1 [7i32 nil] a) (set m (sub i64 a l)) (set l a)",
    );
}

#[test]
fn places_reserved_before_a_loop_are_not_reclaimed_in_it() {
    let before = "(declare first:i64) (reserve_nodes 0 n first)";
    let body =
        "(declare a:i64) (new 0 1 [7i32 nil] a) (store_node 0 1 (add i64 first i) [1i32 nil])
                (set l a)";
    keeps(before, body);
}

#[test]
fn a_device_keeps_the_nodes_of_which_it_has_copies() {
    let body = "(declare a:i64) (new 0 1 [7i32 nil] a) (set l a)";
    let kernel = "(declare x:(pointer i32)) (declare xb:block) (allocate xb x i32 4)
                  (for g 4 grid (store x g (tag 0 other))) (release xb)";
    let host_only = run(&program("", body), nova_reclaim::nodes::run_for_device);
    assert!(host_only.contains("reclaim_nodes"), "{host_only}");
    let shared = run(&program(kernel, body), nova_reclaim::nodes::run_for_device);
    assert!(!shared.contains("reclaim_nodes"), "{shared}");
}

/// Runs the pass on a function whose threads run `body` for `i`. They may store links in `u`, and the result
/// in `t`.
fn in_threads(body: &str) -> String {
    let text = format!(
        "(program nodes_by_threads (sum \"List\" [i32] [0] (\"Nil\" unit) (\"Cons\" (tuple i32 (sum 0))))
          (entry \"f\" [(\"n\" i64)] (vector i64) \"f\")
          (function \"f\" [n:i64] [m:i64 t:(pointer i64) tb:block]
            (set m n)
            (allocate tb t i64 n)
            (declare u:(pointer i64))
            (declare ub:block)
            (allocate ub u i64 n)
            (for i n grid (declare l:i64) (new 0 0 [] l) {body})
            (release ub)))"
    );
    run(&text, nova_reclaim::nodes::run)
}

/// A list of a hundred nodes, made in a loop of an iteration that loses most of them.
const LOSES: &str = "(for k 100 sequential (declare a:i64) (declare nil:i64) (new 0 0 [] nil)
    (new 0 1 [7i32 nil] a) (set l a))";

#[test]
fn loops_in_threads_reclaim_nodes() {
    // The link leaves the iteration, so that only the loop reclaims nodes.
    let text = in_threads(&format!("{LOSES} (store u i l) (store t i i)"));
    assert_eq!(text.matches("(reclaim_nodes [0]").count(), 1, "{text}");
    assert!(text.contains("[l_"), "{text}");
}

#[test]
fn threads_drop_what_no_iteration_gives_away() {
    // At the end of the iteration, whatever the limit was.
    let text = in_threads(&format!("{LOSES} (store t i i)"));
    assert_eq!(text.matches("(reclaim_nodes [0]").count(), 2, "{text}");
    let end = text.rsplit("(reclaim_nodes [0]").next().unwrap();
    assert!(
        end.starts_with(" [first") && end.contains("[] [])"),
        "{text}"
    );
    assert!(text.contains("(set limit"), "{text}");
    // One that makes nothing drops nothing.
    let text = in_threads("(store t i i)");
    assert!(!text.contains("nodes ["), "{text}");
}

#[test]
fn kernels_reclaim_nothing() {
    let text = in_threads(&format!("{LOSES} (store t i i)"));
    let loses = run(&text, nova_reclaim::nodes::run_for_device);
    assert_eq!(text, loses);
}
