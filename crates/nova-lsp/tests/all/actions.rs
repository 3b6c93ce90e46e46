//! Corrections.

use crate::client::{Client, edited};
use serde_json::{Value, json};

const URI: &str = "untitled:one";

/// Returns the titles of the corrections of a text with the texts after each.
fn corrections(text: &str) -> Vec<(String, String)> {
    let mut client = Client::new();
    client.open(URI, text);
    let far = json!({"line": 99, "character": 0});
    let params = json!({
        "textDocument": {"uri": URI},
        "range": {"start": {"line": 0, "character": 0}, "end": far},
        "context": {"diagnostics": []},
    });
    let answer = client.ask("textDocument/codeAction", params);
    let all = answer.as_array().into_iter().flatten();
    let correction = |action: &Value| {
        assert_eq!(action["kind"], "quickfix");
        assert_eq!(action["diagnostics"][0]["source"], "nova");
        let title = action["title"].as_str().unwrap_or_default().to_string();
        (title, edited(text, &action["edit"]["changes"][URI]))
    };
    all.map(correction).collect()
}

fn pair(title: &str, text: &str) -> (String, String) {
    (title.to_string(), text.to_string())
}

#[test]
fn misspelt_names_are_corrected() {
    assert_eq!(
        corrections("((größe🦀 : int)) (+ größe🦀 (lenght [1]))"),
        [pair(
            "Write `length`",
            "((größe🦀 : int)) (+ größe🦀 (length [1]))"
        )]
    );
}

#[test]
fn library_names_are_imported() {
    let found = corrections("((X : vector int))\n(dot X X)");
    assert!(
        found.contains(&pair(
            "Import `std/vectors`",
            "((X : vector int))\n(import \"std/vectors\")\n(dot X X)"
        )),
        "{found:#?}"
    );
}

#[test]
fn unused_bindings_are_renamed_or_left_out() {
    assert_eq!(
        corrections("() (let (x 1) (y (+ 1 2)) (z 3) in (+ x z))"),
        [
            pair(
                "Call it `_y`",
                "() (let (x 1) (_y (+ 1 2)) (z 3) in (+ x z))"
            ),
            pair("Leave `y` out", "() (let (x 1) (z 3) in (+ x z))"),
        ]
    );
    assert_eq!(
        corrections("() (let ((x : int) 1) in (+ 1 2))"),
        [
            pair("Call it `_x`", "() (let ((_x : int) 1) in (+ 1 2))"),
            pair("Leave `x` out", "() (+ 1 2)"),
        ]
    );
    // A part of a pattern cannot be left out.
    assert_eq!(corrections("() (let ((a, b) (1, 2)) in a)").len(), 0);
}

#[test]
fn suspicious_code_is_replaced() {
    let found = corrections("((X : vector int)) (filter (> 0) X)");
    assert_eq!(
        found,
        [pair(
            "Write `(lambda (a) (> a 0))`",
            "((X : vector int)) (filter (lambda (a) (> a 0)) X)"
        )]
    );
}

#[test]
fn nothing_is_corrected_in_right_and_empty_texts() {
    assert!(corrections("() (+ 1 2)").is_empty());
    assert!(corrections("").is_empty());
}
