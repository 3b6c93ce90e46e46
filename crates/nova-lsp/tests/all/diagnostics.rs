//! Messages about documents.

use crate::client::Client;
use serde_json::json;

const URI: &str = "untitled:one";

#[test]
fn errors_have_codes_places_and_help() {
    let mut client = Client::new();
    client.open(URI, "((é🦀 : int))\n(+ é🦀 lenght)");
    let messages = client.diagnostics(URI, 1);
    assert_eq!(messages.len(), 1, "{messages:#?}");
    let message = &messages[0];
    // The crab takes two units of UTF-16.
    assert_eq!(
        message["range"]["start"],
        json!({"line": 1, "character": 7})
    );
    assert_eq!(message["range"]["end"], json!({"line": 1, "character": 13}));
    assert_eq!(message["severity"], 1);
    assert_eq!(message["source"], "nova");
    assert!(
        message["code"]
            .as_str()
            .is_some_and(|code| code.starts_with('N'))
    );
    let text = message["message"].as_str().unwrap_or_default();
    assert!(text.contains("help: did you mean `length`?"), "{text}");
}

#[test]
fn columns_are_bytes_where_the_client_offers_them() {
    let general = json!({"positionEncodings": ["utf-8", "utf-16"]});
    let mut client = Client::with(json!({"capabilities": {"general": general}}));
    client.open(URI, "((é🦀 : int))\n(+ é🦀 lenght)");
    let messages = client.diagnostics(URI, 1);
    assert_eq!(
        messages[0]["range"]["start"],
        json!({"line": 1, "character": 10})
    );
}

#[test]
fn parse_scope_and_type_errors_stand_together() {
    let mut client = Client::new();
    client.open(
        URI,
        "(define (a (let (x) x)) (b nothing))\n(entry e ((x : int)) (+ x true))",
    );
    let messages = client.diagnostics(URI, 1);
    let lines: Vec<_> = messages
        .iter()
        .map(|m| m["range"]["start"]["line"].clone())
        .collect();
    assert_eq!(lines, [0, 0, 1], "{messages:#?}");
}

#[test]
fn other_places_are_related_information() {
    let mut client = Client::new();
    client.open(URI, "(define (a 1) (a 2))\na");
    let messages = client.diagnostics(URI, 1);
    let related = &messages[0]["relatedInformation"][0];
    assert_eq!(related["location"]["uri"], URI);
    assert_eq!(
        related["location"]["range"]["start"],
        json!({"line": 0, "character": 9})
    );
}

#[test]
fn changes_are_checked_and_corrected_texts_have_no_messages() {
    let mut client = Client::new();
    client.open(URI, "");
    assert_eq!(
        client.diagnostics(URI, 1).len(),
        1,
        "an empty program has no expression"
    );
    let change = |text: &str, (line, from, upto): (u32, u32, u32)| {
        let at = |character| json!({"line": line, "character": character});
        json!({"range": {"start": at(from), "end": at(upto)}, "text": text})
    };
    client.note(
        "textDocument/didChange",
        json!({
            "textDocument": {"uri": URI, "version": 2},
            "contentChanges": [change("() (+ 1 x)", (0, 0, 0)), change("2", (0, 8, 9))],
        }),
    );
    assert!(client.diagnostics(URI, 2).is_empty());
    client.change(URI, 3, "() (let (x 1) in 2)");
    let messages = client.diagnostics(URI, 3);
    assert_eq!(messages[0]["severity"], 2);
    assert_eq!(
        messages[0]["tags"],
        json!([1]),
        "the name is shown as unused"
    );
}

#[test]
fn errors_of_imported_files_stand_at_the_import() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("a path");
    std::fs::write(path.join("lib.nova"), "(define (a nothing))").expect("a file");
    let uri = |name: &str| format!("file://{}/{name}", path.display());
    let mut client = Client::new();
    client.open(&uri("program.nova"), "(import \"lib.nova\")\na");
    let messages = client.diagnostics(&uri("program.nova"), 1);
    assert_eq!(messages.len(), 1, "{messages:#?}");
    assert_eq!(
        messages[0]["range"]["start"],
        json!({"line": 0, "character": 8})
    );
    let related = &messages[0]["relatedInformation"][0]["location"];
    assert_eq!(related["uri"], uri("lib.nova"));
    // The text in the editor counts, not that of the file.
    client.open(&uri("lib.nova"), "(define (a 1))");
    assert!(client.diagnostics(&uri("program.nova"), 1).is_empty());
    client.change(&uri("lib.nova"), 2, "(define (b 1))");
    assert_eq!(client.diagnostics(&uri("program.nova"), 1).len(), 1);
    client.note(
        "textDocument/didClose",
        json!({"textDocument": {"uri": uri("lib.nova")}}),
    );
    let messages = client.diagnostics(&uri("program.nova"), 1);
    assert!(
        messages[0]["message"]
            .as_str()
            .is_some_and(|m| m.contains("nothing"))
    );
}

#[test]
fn a_missing_import_is_an_error_at_its_place() {
    let mut client = Client::new();
    client.open(URI, "(import \"std/nothing\" \"missing.nova\")\n1");
    assert_eq!(client.diagnostics(URI, 1).len(), 2);
}
