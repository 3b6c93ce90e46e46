//! A scripted client that talks to a server in this process.

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use nova_driver::Options;
use nova_lsp::End;
use serde_json::{Value, json};
use std::thread::JoinHandle;
use std::time::Duration;

/// The mark of a position in the text of a test.
pub const MARK: char = '§';

/// A client with its server.
pub struct Client {
    connection: Connection,
    server: Option<JoinHandle<Result<End, String>>>,
    next: i32,
    /// The notifications that have arrived and were not asked for yet.
    pub notes: Vec<Notification>,
    /// The responses that have arrived and were not asked for yet.
    responses: Vec<Response>,
}

/// Returns a text without marks, and the positions of these in UTF-16.
pub fn marked(text: &str) -> (String, Vec<Value>) {
    let (mut plain, mut places) = (String::new(), Vec::new());
    let (mut line, mut column) = (0, 0);
    for c in text.chars() {
        match c {
            MARK => places.push(json!({"line": line, "character": column})),
            _ => {
                plain.push(c);
                column += c.len_utf16();
                if c == '\n' {
                    line += 1;
                    column = 0;
                }
            }
        }
    }
    (plain, places)
}

impl Client {
    /// Starts a session of a client with snippets and without folders.
    pub fn new() -> Client {
        Client::with(json!({
            "capabilities": {"textDocument": {"completion": {"completionItem": {"snippetSupport": true}}}}
        }))
    }

    /// Starts a session with these parameters of `initialize`.
    pub fn with(params: Value) -> Client {
        let (server, connection) = Connection::memory();
        let options = Options::default();
        let server = std::thread::spawn(move || nova_lsp::serve(&server, options));
        let mut client = Client {
            connection,
            server: Some(server),
            next: 0,
            notes: Vec::new(),
            responses: Vec::new(),
        };
        client.ask("initialize", params);
        client.note("initialized", json!({}));
        client
    }

    /// Sends a request and returns its number.
    pub fn send(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request::new(id.clone(), method.to_string(), params);
        self.connection
            .sender
            .send(request.into())
            .expect("a server");
        id
    }

    /// Sends a notification.
    pub fn note(&mut self, method: &str, params: Value) {
        let note = Notification::new(method.to_string(), params);
        self.connection.sender.send(note.into()).expect("a server");
    }

    fn receive(&mut self) -> Message {
        let limit = Duration::from_secs(60);
        let message = self.connection.receiver.recv_timeout(limit);
        message.expect("an answer within a minute")
    }

    /// Returns the response to a request.
    pub fn response(&mut self, id: &RequestId) -> Response {
        loop {
            if let Some(at) = self.responses.iter().position(|r| r.id == *id) {
                return self.responses.remove(at);
            }
            match self.receive() {
                Message::Response(response) => self.responses.push(response),
                Message::Notification(note) => self.notes.push(note),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Sends a request and returns its result.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.try_ask(method, params)
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Sends a request and returns its result, or the message of its error.
    pub fn try_ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.send(method, params);
        let response = self.response(&id);
        response.response_result.map_err(|error| error.message)
    }

    /// Opens a document. Marks in the text are left out; their positions are returned.
    pub fn open(&mut self, uri: &str, text: &str) -> Vec<Value> {
        let (text, places) = marked(text);
        self.note(
            "textDocument/didOpen",
            json!({"textDocument": {"uri": uri, "languageId": "nova", "version": 1, "text": text}}),
        );
        places
    }

    /// Replaces the whole text of a document.
    pub fn change(&mut self, uri: &str, version: i32, text: &str) -> Vec<Value> {
        let (text, places) = marked(text);
        self.note(
            "textDocument/didChange",
            json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}),
        );
        places
    }

    /// Asks about a position in a document.
    pub fn at(&mut self, method: &str, uri: &str, position: &Value) -> Value {
        self.ask(method, at(uri, position))
    }

    /// Waits for the messages about a document in a version.
    pub fn diagnostics(&mut self, uri: &str, version: i32) -> Vec<Value> {
        loop {
            let is_it = |note: &Notification| {
                note.params["uri"] == uri && note.params["version"] == version
            };
            if let Some(at) = self.notes.iter().rposition(is_it) {
                let params = self.notes[at].params.clone();
                self.notes.clear();
                return params["diagnostics"].as_array().expect("messages").clone();
            }
            match self.receive() {
                Message::Notification(note) => self.notes.push(note),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Ends the session.
    pub fn end(mut self) -> Result<End, String> {
        self.ask("shutdown", Value::Null);
        self.note("exit", Value::Null);
        self.join()
    }

    /// Waits for the end of the server.
    pub fn join(mut self) -> Result<End, String> {
        let server = self.server.take().expect("a server");
        drop(self);
        server.join().expect("no panic")
    }
}

/// Returns the parameters of a request about a position.
pub fn at(uri: &str, position: &Value) -> Value {
    json!({"textDocument": {"uri": uri}, "position": position})
}

/// Returns the text of a hover.
pub fn hovered(answer: &Value) -> String {
    answer["contents"]["value"]
        .as_str()
        .unwrap_or_default()
        .to_string()
}

/// Returns the text with edits of the protocol, in UTF-16.
pub fn edited(text: &str, edits: &Value) -> String {
    use nova_lsp::text::{Encoding, Text};
    let mut edits: Vec<lsp_types::TextEdit> = serde_json::from_value(edits.clone()).expect("edits");
    edits.sort_by_key(|edit| edit.range.start);
    let mut text = Text::new(text);
    for edit in edits.iter().rev() {
        text = text.replaced(edit.range, &edit.new_text, Encoding::Utf16);
    }
    text.text.to_string()
}
