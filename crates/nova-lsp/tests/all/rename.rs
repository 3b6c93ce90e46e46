//! Other names.

use crate::client::{Client, at, edited, marked};
use serde_json::{Value, json};

const URI: &str = "untitled:one";

/// Renames the name at the first mark. Returns the new text, or why the name is refused.
fn renamed(text: &str, name: &str) -> Result<String, String> {
    let mut client = Client::new();
    let places = client.open(URI, text);
    let mut params = at(URI, &places[0]);
    params["newName"] = json!(name);
    let edit = client.try_ask("textDocument/rename", params)?;
    Ok(edited(&marked(text).0, &edit["changes"][URI]))
}

#[test]
fn all_places_change() {
    let found = renamed(
        "((n : int)) (let (é🦀 (+ n 1)) (m §n) in (* n é🦀 m))",
        "größe",
    );
    assert_eq!(
        found.as_deref(),
        Ok("((größe : int)) (let (é🦀 (+ größe 1)) (m größe) in (* größe é🦀 m))")
    );
    let nodes = renamed(
        "((L : List))\n(types (List : (+ (Nil : unit) (Cons : (int, Li§st)))))\n\
         (define (g (lambda (x : (List* int List)) x)))\n(up Nil*)",
        "Chain",
    );
    assert_eq!(
        nodes.as_deref(),
        Ok(
            "((L : Chain))\n(types (Chain : (+ (Nil : unit) (Cons : (int, Chain)))))\n\
            (define (g (lambda (x : (Chain* int Chain)) x)))\n(up Nil*)"
        )
    );
}

#[test]
fn names_that_would_change_the_meaning_are_refused() {
    let text = "((n : int) (k : int)) (let (m 2) in (let (x (+ m k)) in (* §n x)))";
    for name in ["k", "m", "x"] {
        let why = renamed(text, name).expect_err(name);
        assert!(why.contains("would mean something else"), "{why}");
    }
    for (name, why) in [
        ("lambda", "`lambda` is a reserved word"),
        ("nil", "`nil` is a reserved word"),
        ("map", "`map` is a built-in function"),
        ("a b", "`a b` cannot be a name"),
        ("1", "`1` cannot be a name"),
        ("x.0", "`x.0` cannot be a name"),
        ("", "`` cannot be a name"),
        ("_", "`_` cannot be a name"),
        ("(f)", "`(f)` cannot be a name"),
        ("a;", "`a;` cannot be a name"),
    ] {
        assert_eq!(renamed(text, name), Err(why.to_string()), "{name}");
    }
    // A name that nothing sees may be reused, and a text with errors can change.
    assert!(renamed("((§n : int)) (+ n (let (x 1) in x))", "x").is_ok());
    assert!(renamed("((n : int)) (+ n (let (§x 1) in x))", "y").is_ok());
    assert!(renamed("((§n : int)) (+ n nothing)", "m").is_ok());
    assert!(renamed("((§n : int)) (+ n nothing)", "nothing").is_err());
}

#[test]
fn builtins_and_the_library_stay() {
    let mut client = Client::new();
    let places = client.open(
        URI,
        "(import \"std/vectors\")\n(§let (§x [1]) in (§+ 1 (§sum x)))§",
    );
    let answers: Vec<_> = places
        .iter()
        .map(|place| client.try_ask("textDocument/prepareRename", at(URI, place)))
        .collect();
    assert_eq!(answers[0], Ok(Value::Null), "a form is no name");
    assert_eq!(
        answers[1].as_ref().map(|answer| &answer["placeholder"]),
        Ok(&json!("x"))
    );
    assert!(
        answers[2]
            .as_ref()
            .is_err_and(|why| why.contains("built-in"))
    );
    assert!(
        answers[3]
            .as_ref()
            .is_err_and(|why| why.contains("standard library"))
    );
    assert_eq!(answers[4], Ok(Value::Null));
}

#[test]
fn files_of_the_workspace_change_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("a path");
    let uri = |name: &str| format!("file://{}/{name}", path.display());
    std::fs::write(
        path.join("lib.nova"),
        "(define (size 3) (twice (* 2 size)))",
    )
    .expect("a file");
    std::fs::write(
        path.join("o.nova"),
        "(import \"lib.nova\")\n(let (big 1) in (+ size big))",
    )
    .expect("a file");
    let mut client = Client::with(json!({"capabilities": {}, "rootUri": uri("")}));
    let places = client.open(&uri("main.nova"), "(import \"lib.nova\")\n(+ §size twice)");
    let mut params = at(&uri("main.nova"), &places[0]);
    params["newName"] = json!("big");
    let why = client.try_ask("textDocument/rename", params.clone());
    assert!(why.is_err_and(|why| why.contains("o.nova:2")));
    params["newName"] = json!("extent");
    let edit = client.ask("textDocument/rename", params);
    let count = |name: &str| edit["changes"][uri(name)].as_array().map_or(0, Vec::len);
    assert_eq!(
        [count("lib.nova"), count("main.nova"), count("o.nova")],
        [2, 1, 1]
    );
}
