//! Recursive data that stay tables between operations on all nodes.

use crate::support::{apply, read, value};
use nova_flat::ir::Program;
use nova_flat::print::print;

/// Returns a program on a list of integers. `body` computes the link `r` from `L` and `n`.
fn program(body: &str) -> String {
    format!(
        "(program
          (sum \"List\" [i32] [0] (\"Nil\" unit) (\"Cons\" (tuple i32 (sum 0))))
          (sum \"List*\" [i32 i32] [] (node_of 0) (\"Nil*\" unit) (\"Cons*\" (tuple i32 i32)))
          (entry \"f\" [(\"L\" (sum 0)) (\"n\" i32)] (sum 0) \"f\")
          (function \"f\" [L:i64 n:i32] [result:i64] (do {body} (in r))))"
    )
}

/// Adds 1 to the values.
const ADD: &str = "(let [x:i32] (add i32 e 1i32)) (let [h:i32] (index l [i]))";

/// Fails for the value 2.
const FAIL: &str = "(let [q:bool] (ne i32 e 2i32)) (let [] (check q division []))
    (let [x:i32] (mul i32 e 3i32)) (let [h:i32] (index l [i]))";

/// Leaves out every second node.
const DROP: &str =
    "(let [x:i32] (add i32 e 0i32)) (let [b8:u8] (index t [i])) (let [own:i32] (convert.i32 u8 b8)) (let [g:i32] (index l [i]))
    (let [h:i32] (switch own (do (in g)) (do
      (let [w:i64] (convert.i64 i32 g)) (let [n8:u8] (index t [w])) (let [next:i32] (convert.i32 u8 n8))
      (let [k:i32] (switch next (do (in g)) (do (let [z:i32] (index l [w])) (in z)))) (in k))))";

/// Returns the statements of a `foreach` from one link to another. Its names end in `k`.
fn foreach(open: &str, from: &str, to: &str, step: &str, k: usize) -> String {
    let text = format!(
        "(let [c:i64 t:[c]u8 v:[c]i32 l:[c]i32] ({open} [[0 1]] FROM))
         (let [a:[c]u8 b:[c]i32 d:[c]i32] (operation [c] [i:i64] [] (do
           (let [m:u8] (index t [i])) (let [e:i32] (index v [i])) {step} (in m x h))
           (map) (map) (map)))
         (let [TO:i64] (close [[0 1]] 0 [c a b d]))"
    );
    let own = [
        "c", "t", "v", "l", "a", "b", "d", "i", "m", "e", "x", "h", "q", "own", "g", "w", "next",
        "k", "z", "b8", "n8", "tag",
    ];
    let mut renamed = String::new();
    let mut word = String::new();
    for character in text.chars().chain([' ']) {
        if character.is_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        renamed.push_str(&word);
        // A word of an expression stands behind a parenthesis.
        if own.contains(&word.as_str()) {
            renamed.push_str(&format!("_{k}"));
        }
        word.clear();
        renamed.push(character);
    }
    renamed.replace("FROM", from).replace("TO", to)
}

/// Returns the program after the pass. Its values must stay the same.
#[track_caller]
fn changed(body: &str) -> Program {
    let mut program = read(&program(body));
    let values = |program: &Program| -> Vec<String> {
        let lists = [
            "Nil",
            "(Cons (1, Nil))",
            "(Cons (2, Nil))",
            "(Cons (1, (Cons (2, (Cons (3, (Cons (4, Nil))))))))",
        ];
        let runs = lists.iter().flat_map(|list| [0, 1, 2].map(|n| (list, n)));
        runs.map(|(list, n)| value(program, &[list, &n.to_string()]))
            .collect()
    };
    let expected = values(&program);
    let mut for_device = program.clone();
    apply(
        |program| drop(nova_opt::tables::run(program)),
        &mut for_device,
    );
    assert_eq!(values(&for_device), expected, "{}", print(&for_device));
    assert!(!print(&for_device).contains("(shrink "));
    apply(
        |program| drop(nova_opt::tables::run_with_smaller_tables(program)),
        &mut program,
    );
    assert_eq!(values(&program), expected, "{}", print(&program));
    apply(nova_opt::simplify::run, &mut program);
    assert_eq!(values(&program), expected, "{}", print(&program));
    program
}

/// Returns the numbers of openings and closings of tables.
fn conversions(program: &Program) -> (usize, usize) {
    let text = print(program);
    let count = |word: &str| text.matches(&format!("({word} [[")).count();
    (
        count("open") + count("loose_open"),
        count("close") + count("checked_close"),
    )
}

#[test]
fn a_foreach_of_a_foreach_reads_its_tables() {
    let body = [
        foreach("loose_open", "L", "p", ADD, 1),
        foreach("loose_open", "p", "r", DROP, 2),
    ];
    assert_eq!(conversions(&changed(&body.concat())), (1, 1));
}

#[test]
fn nodes_that_are_not_reached_do_not_fail() {
    let body = [
        foreach("loose_open", "L", "p", DROP, 1),
        foreach("loose_open", "p", "r", FAIL, 2),
    ];
    assert_eq!(conversions(&changed(&body.concat())), (2, 2));
    // Tables that were just opened have no other nodes.
    let body = [
        foreach("open", "L", "p", ADD, 1),
        foreach("loose_open", "L", "r", FAIL, 2),
        "(let [z:i32] (tag 0 p))".to_string(),
    ];
    assert_eq!(conversions(&changed(&body.concat())).0, 1);
    // An exact opening reads the tables of an earlier one, which must then be exact.
    let body = [
        foreach("loose_open", "L", "p", FAIL, 1),
        foreach("open", "L", "r", ADD, 2),
        "(let [z:i32] (tag 0 p))".to_string(),
    ];
    let program = changed(&body.concat());
    assert_eq!(conversions(&program).0, 1);
    assert!(!print(&program).contains("loose_open"));
}

#[test]
fn exact_tables_are_opened() {
    let body = [
        foreach("loose_open", "L", "p", DROP, 1),
        foreach("open", "p", "r", ADD, 2),
    ];
    assert_eq!(conversions(&changed(&body.concat())), (2, 2));
}

#[test]
fn states_of_loops_are_tables() {
    let step = foreach("loose_open", "s", "next", ADD, 1);
    let body = format!(
        "(let [last:i32 r:i64] (while [j:i32 = n s:i64 = L] (do (let [more:bool] (gt i32 j 0i32)) (in more))
           (do {step} (let [fewer:i32] (sub i32 j 1i32)) (in fewer next))))"
    );
    let program = changed(&body);
    assert_eq!(conversions(&program), (1, 1), "{}", print(&program));
    assert!(
        !print(&program).contains("(shrink "),
        "its links stay the same"
    );
    // The condition reads the root, and the loop stays as it is if its operation may fail.
    let step = foreach("loose_open", "s", "next", DROP, 1);
    let ends = "(let [own:i32] (tag 0 s)) (let [more:bool] (switch own (do (in false)) (do
        (let [value:i32 link:i64] (payload 0 1 s)) (let [behind:i32] (tag 0 link))
        (let [goes:bool] (ne i32 behind 0i32)) (in goes))))";
    let body =
        format!("(let [r:i64] (while [s:i64 = L] (do {ends} (in more)) (do {step} (in next))))");
    let program = changed(&body);
    assert_eq!(conversions(&program), (1, 1), "{}", print(&program));
    assert_eq!(print(&program).matches("(shrink ").count(), 1);
}

#[test]
fn results_of_branches_are_tables() {
    let step = foreach("loose_open", "L", "p", ADD, 1);
    let body = format!(
        "(let [more:bool] (gt i32 n 0i32)) (let [s:i64] (if more (do {step} (in p)) (do (in L)))) {}",
        foreach("loose_open", "s", "r", DROP, 2)
    );
    let program = changed(&body);
    assert_eq!(conversions(&program), (2, 1), "{}", print(&program));
}

#[test]
fn nodes_that_a_condition_chooses_are_read_from_tables() {
    // The two nodes are of one table, so that the number of the chosen one is known.
    let body = format!(
        "{} (let [own:i32] (tag 0 p)) (let [r:i64] (switch own (do (in L)) (do
           (let [v0:i32 next:i64] (payload 0 1 p)) (let [more:bool] (gt i32 n 0i32))
           (let [s:i64] (if more (do (in next)) (do (in p)))) (let [tag:i32] (tag 0 s))
           (let [other:i64] (switch tag (do (in L)) (do (let [v1:i32 last:i64] (payload 0 1 s))
             (let [end:i32] (tag 0 last)) (let [new:i64] (switch end
               (do (let [none:i64] (new 0 0 [])) (in none)) (do (in L)))) (in new))))
           (in other))))",
        foreach("loose_open", "L", "p", ADD, 1)
    );
    let program = changed(&body);
    assert_eq!(conversions(&program), (1, 0), "{}", print(&program));
    // The nodes are of two tables. Only the constructor is known.
    let body = format!(
        "{} {} (let [more:bool] (gt i32 n 0i32)) (let [s:i64] (if more (do (in p)) (do (in q0))))
         (let [tag:i32] (tag 0 s))
         (let [r:i64] (switch tag (do (let [none:i64] (new 0 0 [])) (in none)) (do (in L))))",
        foreach("loose_open", "L", "p", ADD, 1),
        foreach("loose_open", "L", "q0", DROP, 2)
    );
    let program = changed(&body);
    assert_eq!(conversions(&program), (1, 0), "{}", print(&program));
}

/// Returns the names of the arrays of the table that a `foreach` gives: tags, values and links.
#[track_caller]
fn arrays_after(step: &str) -> Vec<String> {
    let program = changed(&foreach("open", "L", "r", step, 1));
    let text = print(&program);
    let list = text.split("(close [[0 1]] 0 [").nth(1);
    let list = list.and_then(|rest| rest.split(']').next());
    let names = list.unwrap_or_else(|| panic!("{text}")).split(' ').skip(1);
    names
        .map(|name| name.split('_').next().unwrap_or(name).to_string())
        .collect()
}

#[test]
fn components_that_a_foreach_leaves_as_they_are_are_those_before() {
    let links = "(let [h:i32] (index l [i]))";
    assert_eq!(arrays_after(ADD), ["t", "b", "l"]);
    // The payload of the other constructor holds zeros.
    let tag = "(let [tag:i32] (convert.i32 u8 m))";
    let by_case = |values: &str| format!("{tag} (let [x:i32] (switch tag {values})) {links}");
    let same = by_case("(do (in 0i32)) (do (in e))");
    assert_eq!(arrays_after(&same), ["t", "v", "l"]);
    let other = by_case("(do (in e)) (do (in 0i32))");
    assert_eq!(arrays_after(&other), ["t", "b", "l"]);
    let constant = by_case("(do (in 1i32)) (do (in e))");
    assert_eq!(arrays_after(&constant), ["t", "b", "l"]);
    // The last case is also that of the constructors behind it.
    let all = by_case("(do (in 0i32))");
    assert_eq!(arrays_after(&all), ["t", "b", "l"]);
    // A comparison tells the constructor, too, but not one of another number.
    let compared = |case: &str| {
        format!(
            "{tag} (let [q:bool] (eq {case})) (let [x:i32] (if q (do (in 0i32)) (do (in e)))) {links}"
        )
    };
    assert_eq!(arrays_after(&compared("i32 tag 0i32")), ["t", "v", "l"]);
    assert_eq!(arrays_after(&compared("i32 e 0i32")), ["t", "b", "l"]);
    assert_eq!(arrays_after(&compared("u8 m 1u8")), ["t", "b", "l"]);
    // The value of another node.
    let elsewhere = format!("(let [x:i32] (index v [0])) {links}");
    assert_eq!(arrays_after(&elsewhere), ["t", "b", "l"]);
}
