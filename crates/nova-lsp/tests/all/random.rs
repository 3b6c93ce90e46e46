//! Random edits of the example programs: the server answers everything, and names no place outside of a document.

use crate::client::Client;
use nova_lsp::End;
use nova_lsp::text::{Encoding, Text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const URI: &str = "untitled:random";

/// Pieces of text that edits insert.
const PIECES: [&str; 20] = [
    "(",
    ")",
    "[",
    "]",
    " ",
    "\n",
    "x",
    "0",
    "é🦀",
    "\"",
    ";",
    "#|",
    "(let (x 1) in ",
    "(lambda (x) ",
    "(define (f ",
    "map",
    ":",
    ",",
    "\r\n",
    "(import \"std/vectors\")",
];

/// Numbers of a linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "nova") {
            found.push(path);
        }
    }
    found.sort();
}

/// Fails where a range in an answer lies outside of the document.
fn check(answer: &Value, text: &Text) {
    match answer {
        Value::Object(fields) => {
            if let (Some(start), Some(end)) = (fields.get("start"), fields.get("end")) {
                let position = |value: &Value| -> lsp_types::Position {
                    serde_json::from_value(value.clone()).expect("a position")
                };
                let places = [position(start), position(end)];
                assert!(places[0] <= places[1], "{answer}");
                for place in places {
                    let offset = text.offset(place, Encoding::Utf16);
                    assert_eq!(text.position(offset, Encoding::Utf16), place, "{answer}");
                }
                return;
            }
            for (name, value) in fields {
                // Places in other files are checked by these files' tests.
                let is_other = fields.get("uri").is_some_and(|uri| uri != URI);
                if !(is_other && name == "range") {
                    check(value, text);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| check(item, text)),
        _others => {}
    }
}

/// Edits a program a few times, and asks everything after each edit.
fn session(client: &mut Client, random: &mut Random, text: &str) {
    client.open(URI, text);
    let mut text = Text::new(text);
    for version in 2..8 {
        let mut place = || {
            let offset = random.below(text.text.len() + 1);
            text.position(offset, Encoding::Utf16)
        };
        let (a, b) = (place(), place());
        let (from, upto) = (a.min(b), a.max(b));
        // Most edits take away little.
        let near = lsp_types::Position::new(from.line, from.character + 3);
        let upto = if random.below(4) > 0 {
            near.min(upto)
        } else {
            upto
        };
        let range = lsp_types::Range::new(from, upto);
        let piece = PIECES[random.below(PIECES.len())];
        text = text.replaced(range, piece, Encoding::Utf16);
        client.note(
            "textDocument/didChange",
            json!({
                "textDocument": {"uri": URI, "version": version},
                "contentChanges": [{"range": range, "text": piece}],
            }),
        );
        let messages = client.diagnostics(URI, version);
        check(&json!(messages), &text);
        ask_everything(client, random, &text);
    }
    client.note(
        "textDocument/didClose",
        json!({"textDocument": {"uri": URI}}),
    );
}

fn ask_everything(client: &mut Client, random: &mut Random, text: &Text) {
    let place = text.position(random.below(text.text.len() + 1), Encoding::Utf16);
    let document = json!({"uri": URI});
    let at = json!({"textDocument": document, "position": place});
    for method in [
        "hover",
        "definition",
        "documentHighlight",
        "completion",
        "signatureHelp",
    ] {
        let answer = client.ask(&format!("textDocument/{method}"), at.clone());
        check(&answer, text);
    }
    let mut params = at.clone();
    params["context"] = json!({"includeDeclaration": true});
    check(&client.ask("textDocument/references", params), text);
    let mut params = at.clone();
    params["newName"] = json!("other");
    // Both may be refused.
    for (method, params) in [("prepareRename", at), ("rename", params)] {
        if let Ok(answer) = client.try_ask(&format!("textDocument/{method}"), params) {
            check(&answer, text);
        }
    }
    let params = json!({"textDocument": document});
    check(&client.ask("textDocument/documentSymbol", params), text);
    let whole = text.whole(Encoding::Utf16);
    let params = json!({"textDocument": document, "range": whole, "context": {"diagnostics": []}});
    check(&client.ask("textDocument/codeAction", params), text);
    let params = json!({"textDocument": document, "options": {"tabSize": 2, "insertSpaces": true}});
    check(&client.ask("textDocument/formatting", params), text);
}

#[test]
fn random_edits_are_answered_with_places_inside() {
    let mut files = Vec::new();
    programs(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nova-examples"),
        &mut files,
    );
    assert!(files.len() > 20, "{}", files.len());
    let sessions = std::env::var("NOVA_LSP_SESSIONS").ok();
    let sessions = sessions.and_then(|count| count.parse().ok()).unwrap_or(40);
    let mut random = Random(1);
    let mut client = Client::new();
    for _ in 0..sessions {
        let text = std::fs::read_to_string(&files[random.below(files.len())]).expect("a text");
        session(&mut client, &mut random, &text);
    }
    assert_eq!(client.end(), Ok(End::Asked));
}
