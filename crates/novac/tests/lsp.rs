//! `novac lsp`, as an editor starts it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Starts the server.
fn start() -> Child {
    Command::new(env!("CARGO_BIN_EXE_novac"))
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("novac starts")
}

/// Writes a message with its head.
fn send(server: &mut Child, content: &str) {
    let input = server.stdin.as_mut().expect("an input");
    write!(input, "Content-Length: {}\r\n\r\n{content}", content.len()).expect("the server reads");
}

/// Reads a message.
fn receive(output: &mut BufReader<ChildStdout>) -> String {
    let mut length = 0;
    loop {
        let mut line = String::new();
        output.read_line(&mut line).expect("the server writes");
        match line.trim() {
            "" => break,
            head => {
                if let Some(count) = head.strip_prefix("Content-Length: ") {
                    length = count.parse().expect("a length");
                }
            }
        }
    }
    let mut content = vec![0; length];
    output.read_exact(&mut content).expect("the server writes");
    String::from_utf8(content).expect("UTF-8")
}

#[test]
fn a_session_over_standard_input_and_output() {
    let mut server = start();
    let mut output = BufReader::new(server.stdout.take().expect("an output"));
    let initialize =
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    send(&mut server, initialize);
    let answer = receive(&mut output);
    assert!(answer.contains("\"renameProvider\""), "{answer}");
    send(
        &mut server,
        r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
    );
    let open = r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":
        {"uri":"untitled:a","languageId":"nova","version":1,"text":"() (lenght é🦀)"}}}"#;
    send(&mut server, open);
    let messages = receive(&mut output);
    assert!(
        messages.contains("publishDiagnostics") && messages.contains("did you mean"),
        "{messages}"
    );
    send(
        &mut server,
        r#"{"jsonrpc":"2.0","id":2,"method":"shutdown","params":null}"#,
    );
    let answer = receive(&mut output);
    assert!(answer.contains("\"id\":2"), "{answer}");
    send(
        &mut server,
        r#"{"jsonrpc":"2.0","method":"exit","params":null}"#,
    );
    assert_eq!(server.wait().expect("an end").code(), Some(0));
}

#[test]
fn an_editor_that_goes_away_ends_the_server() {
    let mut server = start();
    drop(server.stdin.take());
    assert_eq!(server.wait().expect("an end").code(), Some(1));
    let mut server = start();
    let initialize =
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    send(&mut server, initialize);
    send(
        &mut server,
        r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
    );
    drop(server.stdin.take());
    assert_eq!(server.wait().expect("an end").code(), Some(1));
}
