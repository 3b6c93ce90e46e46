//! How sessions begin and end, and what does not end them.

use crate::client::{Client, at};
use lsp_server::ErrorCode;
use nova_lsp::End;
use serde_json::{Value, json};

const URI: &str = "untitled:one";

#[test]
fn a_session_ends_as_the_protocol_wants_it() {
    let mut client = Client::new();
    assert_eq!(client.ask("shutdown", Value::Null), Value::Null);
    let late = client.try_ask(
        "textDocument/hover",
        at(URI, &json!({"line": 0, "character": 0})),
    );
    assert_eq!(late, Err("the server was shut down".to_string()));
    client.note("exit", Value::Null);
    assert_eq!(client.join(), Ok(End::Asked));
    let mut client = Client::new();
    client.note("exit", Value::Null);
    assert_eq!(client.join(), Ok(End::Abrupt));
    assert_eq!(
        Client::new().join(),
        Ok(End::Abrupt),
        "the client went away"
    );
}

#[test]
fn wrong_messages_do_not_end_a_session() {
    let mut client = Client::new();
    let unknown = client.try_ask("textDocument/nothing", json!({}));
    assert_eq!(
        unknown,
        Err("unknown method textDocument/nothing".to_string())
    );
    assert!(
        client
            .try_ask("textDocument/hover", json!({"wrong": 1}))
            .is_err()
    );
    client.note("textDocument/didChange", json!({"wrong": 1}));
    client.note(
        "textDocument/didClose",
        json!({"textDocument": {"uri": URI}}),
    );
    client.change(URI, 2, "() 1");
    client.note("$/nothing", json!({}));
    client.open(URI, "() 1");
    assert!(client.diagnostics(URI, 1).is_empty());
    assert_eq!(client.end(), Ok(End::Asked));
}

#[test]
fn waiting_requests_are_cancelled() {
    // The server is busy with a large document while the request and its cancellation arrive.
    let mut client = Client::new();
    let functions = (0..300).map(|k| format!("  (f{k} (lambda (x) (+ x {k})))\n"));
    let text = format!("(define\n{})\n1", functions.collect::<String>());
    client.open(URI, &text);
    let params = at(URI, &json!({"line": 1, "character": 3}));
    let first = client.send("textDocument/hover", params.clone());
    let second = client.send("textDocument/hover", params);
    client.note("$/cancelRequest", json!({"id": 3}));
    assert!(client.response(&first).response_result.is_ok());
    // The cancellation may be late; then the request is answered.
    if let Err(error) = client.response(&second).response_result {
        assert_eq!(error.code, ErrorCode::RequestCanceled as i32);
    }
    client.note("$/cancelRequest", json!({"id": 99}));
    assert_eq!(client.end(), Ok(End::Asked));
}

#[test]
fn deep_texts_are_checked() {
    let mut client = Client::new();
    let text = format!("() {}1{}", "(+ 1 ".repeat(20_000), ")".repeat(20_000));
    client.open(URI, &text);
    assert!(client.diagnostics(URI, 1).is_empty());
    client.change(URI, 2, &"(".repeat(20_000));
    assert!(!client.diagnostics(URI, 2).is_empty());
    let place = json!({"line": 0, "character": 20_000});
    client.at("textDocument/completion", URI, &place);
    assert_eq!(client.end(), Ok(End::Asked));
}
