//! Declarations, uses, outlines, layout.

use crate::client::{Client, edited, marked};
use serde_json::{Value, json};
use std::path::PathBuf;

const URI: &str = "untitled:one";

fn starts(places: &Value) -> Vec<Value> {
    let all = places.as_array().into_iter().flatten();
    all.map(|place| place.get("range").unwrap_or(place)["start"].clone())
        .collect()
}

/// The request for the places of a name.
fn references(client: &mut Client, uri: &str, place: &Value) -> Value {
    let params = json!({
        "textDocument": {"uri": uri}, "position": place, "context": {"includeDeclaration": true},
    });
    client.ask("textDocument/references", params)
}

#[test]
fn names_lead_to_their_declarations_and_uses() {
    let mut client = Client::new();
    let text = "((§n : int))\n(types (T : (+ (§A : int) (B : unit))))\n\
                (let (n (+ §n 1)) (x (§A n)) in (case x (§A n n) (B 0)))";
    let places = client.open(URI, text);
    let target = client.at("textDocument/definition", URI, &places[2]);
    assert_eq!(starts(&target), [places[0].clone()]);
    let target = client.at("textDocument/definition", URI, &places[4]);
    assert_eq!(starts(&target), [places[1].clone()]);
    let found = references(&mut client, URI, &places[0]);
    assert_eq!(starts(&found), [places[0].clone(), places[2].clone()]);
    let found = client.at("textDocument/documentHighlight", URI, &places[1]);
    assert_eq!(
        starts(&found),
        [places[1].clone(), places[3].clone(), places[4].clone()]
    );
    let kinds: Vec<_> = found
        .as_array()
        .into_iter()
        .flatten()
        .map(|h| h["kind"].clone())
        .collect();
    assert_eq!(kinds, [3, 2, 2]);
}

#[test]
fn nothing_is_found_where_nothing_stands() {
    let mut client = Client::new();
    let places = client.open(URI, "() (nothing §1)§ ; c");
    for method in [
        "textDocument/definition",
        "textDocument/documentHighlight",
        "textDocument/hover",
    ] {
        assert_eq!(
            client.at(method, URI, &json!({"line": 0, "character": 5})),
            Value::Null,
            "{method}"
        );
    }
    assert_eq!(references(&mut client, URI, &places[0]), Value::Null);
    let far = json!({"line": 99, "character": 99});
    assert_eq!(client.at("textDocument/definition", URI, &far), Value::Null);
}

#[test]
fn other_names_of_builtins_are_names_of_their_own() {
    let mut client = Client::new();
    let places = client.open(
        URI,
        "(define (§add +))\n(let (§m map) in (§m (§add 1) [1 2]))",
    );
    let found = references(&mut client, URI, &places[3]);
    assert_eq!(starts(&found), [places[0].clone(), places[3].clone()]);
    let found = references(&mut client, URI, &places[1]);
    assert_eq!(starts(&found), [places[1].clone(), places[2].clone()]);
}

#[test]
fn nodes_are_places_of_their_types() {
    let mut client = Client::new();
    let text = "((L : List))\n(types (List : (+ (Nil : unit) (§Cons : (int, List)))))\n\
                (foreach (x L) (f d) (case x (Nil* Nil*) (§Cons* (v, l) (§Cons* ((+ v 1), (f l))))))";
    let places = client.open(URI, text);
    assert_eq!(starts(&references(&mut client, URI, &places[1])), places);
}

#[test]
fn library_names_lead_to_a_copy_of_the_library() {
    let mut client = Client::new();
    let places = client.open(URI, "(import \"§std/vectors\")\n(§sum [1 2])");
    let target = client.at("textDocument/definition", URI, &places[1]);
    let uri = target[0]["uri"].as_str().expect("a file");
    let path = PathBuf::from(uri.strip_prefix("file://").expect("a file"));
    let text = std::fs::read_to_string(path).expect("the copy");
    let line = target[0]["range"]["start"]["line"]
        .as_u64()
        .expect("a line") as usize;
    assert!(
        text.lines()
            .nth(line)
            .is_some_and(|line| line.contains("(sum (lambda"))
    );
    let file = client.at("textDocument/definition", URI, &places[0]);
    assert_eq!(file["uri"], uri);
    // The copy is a document like others.
    client.open(uri, &text);
    assert!(client.diagnostics(uri, 1).is_empty());
}

#[test]
fn names_are_found_across_files_of_the_workspace() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("a path");
    let uri = |name: &str| format!("file://{}/{name}", path.display());
    std::fs::write(path.join("lib.nova"), "(define (size 3))").expect("a file");
    std::fs::write(path.join("other.nova"), "(import \"lib.nova\")\n(+ size 1)").expect("a file");
    let mut client = Client::with(json!({
        "capabilities": {}, "workspaceFolders": [{"uri": uri("").trim_end_matches('/'), "name": "w"}],
    }));
    let places = client.open(&uri("main.nova"), "(import \"lib.nova\")\n§size");
    let found = references(&mut client, &uri("main.nova"), &places[0]);
    let files: Vec<_> = found
        .as_array()
        .into_iter()
        .flatten()
        .map(|l| l["uri"].clone())
        .collect();
    assert_eq!(
        files,
        [uri("lib.nova"), uri("main.nova"), uri("other.nova")]
    );
    let target = client.at("textDocument/definition", &uri("main.nova"), &places[0]);
    assert_eq!(target[0]["uri"], uri("lib.nova"));
}

/// The outline as indented lines.
fn outline(symbols: &Value, depth: usize, text: &mut String) {
    for symbol in symbols.as_array().into_iter().flatten() {
        let detail = symbol["detail"].as_str().unwrap_or("-");
        let name = symbol["name"].as_str().unwrap_or("?");
        *text += &format!("{}{name} {} {detail}\n", "  ".repeat(depth), symbol["kind"]);
        outline(&symbol["children"], depth + 1, text);
    }
}

#[test]
fn outlines_have_types_functions_and_entries() {
    let mut client = Client::new();
    client.open(
        URI,
        "((X : vector int))\n(types (T : (+ (A : int) (B : unit))) (P : (int, int)))\n\
         (foreign (g : int -> int))\n(define (f (lambda (x) x)) (k 2) (wrong (lambda (x) nothing)))\n(map f X)",
    );
    let params = json!({"textDocument": {"uri": URI}});
    let symbols = client.ask("textDocument/documentSymbol", params.clone());
    let mut text = String::new();
    outline(&symbols, 0, &mut text);
    assert_eq!(
        text,
        "untitled 6 -\n  X 13 vector int\nT 10 -\n  A 22 int\n  B 22 unit\nP 23 -\ng 11 int -> int\n\
         f 12 'a -> 'a\nk 14 int\nwrong 12 'a -> _\n"
    );
    client.change(URI, 2, "");
    assert_eq!(client.ask("textDocument/documentSymbol", params), json!([]));
}

#[test]
fn layouts_are_those_of_the_formatter() {
    let mut client = Client::new();
    let text = "(( X:int ) )\r\n; é🦀\n( + X\n1 )";
    client.open(URI, text);
    let params =
        json!({"textDocument": {"uri": URI}, "options": {"tabSize": 2, "insertSpaces": true}});
    let edits = client.ask("textDocument/formatting", params.clone());
    let formatted = nova_syntax::format(text).expect("a text");
    assert_eq!(edited(&marked(text).0, &edits), formatted);
    client.change(URI, 2, &formatted);
    assert_eq!(
        client.ask("textDocument/formatting", params.clone()),
        json!([])
    );
    client.change(URI, 3, "(open");
    assert_eq!(client.ask("textDocument/formatting", params), Value::Null);
}
