//! What may stand at a position.

use crate::client::{Client, edited, marked};
use serde_json::{Value, json};

const URI: &str = "untitled:one";

/// Returns the items at the mark of a text.
fn items(text: &str) -> Vec<Value> {
    let mut client = Client::new();
    let places = client.open(URI, text);
    let answer = client.at("textDocument/completion", URI, &places[0]);
    answer.as_array().cloned().unwrap_or_default()
}

fn labels(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .filter_map(|item| item["label"].as_str())
        .collect()
}

fn item<'i>(items: &'i [Value], label: &str) -> &'i Value {
    let mut found = items.iter().filter(|item| item["label"] == label);
    let first = found.next().unwrap_or_else(|| panic!("no {label}"));
    assert!(found.next().is_none(), "{label} twice");
    first
}

#[test]
fn names_in_scope_come_first() {
    let items = items(
        "((X : vector int))\n(define (f (lambda (x) x)))\n(let (n (length X)) (m 1) in (let (hidden 2) in 3) (+ n m§))",
    );
    assert_eq!(item(&items, "X")["detail"], "vector int");
    assert_eq!(item(&items, "n")["detail"], "int");
    assert_eq!(item(&items, "f")["detail"], "'a -> 'a");
    assert!(
        item(&items, "reduce")["documentation"]["value"]
            .as_str()
            .is_some()
    );
    assert!(!labels(&items).contains(&"hidden"));
    let range = &item(&items, "m")["textEdit"]["range"];
    assert_eq!(
        range["start"]["character"].as_u64().map(|c| c + 1),
        range["end"]["character"].as_u64()
    );
}

#[test]
fn open_texts_have_scopes_too() {
    let items = items(
        "(entry e ((n : int))\n  (let (größe (+ n 1)) in (map (lambda (y) (+ größe §\n\n(define (f 1))",
    );
    for name in ["n", "größe", "y", "f"] {
        item(&items, name);
    }
}

#[test]
fn library_names_bring_their_import() {
    let text = "((X : vector int))\n(su§ X)";
    let items = items(text);
    let sum = item(&items, "sum");
    let (plain, _) = marked(text);
    let edits: Vec<Value> = sum["additionalTextEdits"]
        .as_array()
        .into_iter()
        .flatten()
        .cloned()
        .chain([sum["textEdit"].clone()])
        .collect();
    assert_eq!(
        edited(&plain, &json!(edits)),
        "((X : vector int))\n(import \"std/vectors\")\n(sum X)"
    );
    let imported = self::items("((X : vector int))\n(import \"std/vectors\")\n(su§ X)");
    assert!(item(&imported, "sum")["additionalTextEdits"].is_null());
    let hidden = self::items("((X : vector int))\n(define (sum 1))\n(su§ X)");
    assert!(item(&hidden, "sum")["additionalTextEdits"].is_null());
}

#[test]
fn forms_are_snippets_and_types_follow_colons() {
    let forms = items("() (§)");
    assert_eq!(item(&forms, "let")["insertTextFormat"], 2);
    let define = items("§");
    let text = item(&define, "define")["textEdit"]["newText"]
        .as_str()
        .unwrap_or_default();
    assert!(text.starts_with("(define ("), "{text}");
    let types = items("(types (Pair : (int, int)))\n(entry e ((p : §)) 1)");
    assert_eq!(labels(&types)[0], "Pair");
    assert!(labels(&types).contains(&"float") && !labels(&types).contains(&"map"));
}

#[test]
fn comments_have_no_items_and_imports_have_files() {
    assert!(items("; a §").is_empty());
    assert!(items("() (trace \"§\" 1)").is_empty());
    assert!(labels(&items("(import \"§\")")).contains(&"std/lists"));
}
