//! The transcript of a session, compared with `transcript.txt`. `UPDATE_EXPECTED=1` writes it anew.

use crate::client::{Client, at};
use nova_lsp::End;
use serde_json::{Value, json};
use std::path::Path;

const URI: &str = "untitled:dot";

const TEXT: &str = "((X : vector float) (Y : vector float))
(define
  ; The scalar product.
  (product (lambda (a b) (reduce + 0.0 (map * a b)))))
(let (unused 1)
 in (product§ X §y))
";

#[test]
fn the_transcript_of_a_session() {
    let mut client = Client::new();
    let places = client.open(URI, TEXT);
    let mut out = String::new();
    let mut add = |title: &str, answer: &Value| {
        let answer = serde_json::to_string_pretty(answer).expect("text");
        out += &format!("== {title}\n{answer}\n");
    };
    add("publishDiagnostics", &json!(client.diagnostics(URI, 1)));
    for method in ["hover", "definition", "documentHighlight", "prepareRename"] {
        let answer = client.at(&format!("textDocument/{method}"), URI, &places[0]);
        add(method, &answer);
    }
    let answer = client.at("textDocument/signatureHelp", URI, &places[1]);
    add("signatureHelp", &answer);
    let mut params = at(URI, &places[0]);
    params["newName"] = json!("dot");
    add("rename", &client.ask("textDocument/rename", params));
    let params = json!({
        "textDocument": {"uri": URI},
        "range": {"start": places[1], "end": places[1]},
        "context": {"diagnostics": []},
    });
    add("codeAction", &client.ask("textDocument/codeAction", params));
    assert_eq!(client.end(), Ok(End::Asked));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/transcript.txt");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&file, &out).expect("a file");
    }
    let expected = std::fs::read_to_string(&file).expect("the transcript");
    assert_eq!(out, expected);
}
