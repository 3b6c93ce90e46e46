//! The main loop: one message after the other, and messages about documents when no other waits.

use crate::text::Encoding;
use crate::world::{Refusal, World};
use crate::{
    actions, completion, diagnostics, formatting, hover, places, rename, signature, symbols, uri,
};
use lsp_server::{
    Connection, ErrorCode, ExtractError, Message, Notification, Request, RequestId, Response,
};
use lsp_types::notification::{self as note, Notification as _};
use lsp_types::request::{self as ask, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions,
    HoverProviderCapability, InitializeParams, InitializeResult, NumberOrString, OneOf,
    RenameOptions, ServerCapabilities, ServerInfo, SignatureHelpOptions,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions,
};
use nova_driver::{Compiler, Options, pipeline};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;

/// The way in which a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client asked for it.
    Asked,
    /// The client went away, or ended without asking first.
    Abrupt,
}

/// Serves a client until it ends the session.
///
/// # Errors
/// The client does not begin the session as the protocol wants it.
pub fn serve(connection: &Connection, options: Options) -> Result<End, String> {
    let compiler = Compiler::new(Options {
        library: true,
        ..options
    });
    let mut world = World::new(compiler);
    let (id, params) = match connection.initialize_start() {
        Ok(started) => started,
        Err(error) => return Err(error.to_string()),
    };
    let params: InitializeParams =
        serde_json::from_value(params).map_err(|error| format!("initialize: {error}"))?;
    begin(&mut world, &params);
    let result = InitializeResult {
        capabilities: capabilities(world.encoding),
        server_info: Some(ServerInfo {
            name: "novac lsp".to_string(),
            version: Some(env!("CARGO_PKG_VERSION").to_string()),
        }),
    };
    let result = serde_json::to_value(result).map_err(|error| error.to_string())?;
    let finished = connection.initialize_finish(id, result);
    finished.map_err(|error| error.to_string())?;
    let mut server = Server {
        connection,
        world,
        waiting: VecDeque::new(),
        is_shut_down: false,
    };
    Ok(server.run())
}

/// Takes over what a client says about itself.
fn begin(world: &mut World, params: &InitializeParams) {
    let general = params.capabilities.general.as_ref();
    let offered = general.and_then(|general| general.position_encodings.as_deref());
    world.encoding = Encoding::choose(offered.unwrap_or_default());
    let documents = params.capabilities.text_document.as_ref();
    let completion = documents.and_then(|documents| documents.completion.as_ref());
    let item = completion.and_then(|completion| completion.completion_item.as_ref());
    world.snippets = item.and_then(|item| item.snippet_support).unwrap_or(false);
    let folders = params.workspace_folders.iter().flatten();
    world.folders = folders
        .filter_map(|folder| uri::path_of(&folder.uri))
        .collect();
    // Older clients name one folder.
    #[allow(deprecated)]
    if let (true, Some(root)) = (world.folders.is_empty(), &params.root_uri) {
        world.folders.extend(uri::path_of(root));
    }
}

/// Returns what the server can do.
fn capabilities(encoding: Encoding) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(TextDocumentSyncSaveOptions::Supported(true)),
                ..TextDocumentSyncOptions::default()
            },
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec!["(".to_string(), "\"".to_string()]),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec![" ".to_string()]),
            ..SignatureHelpOptions::default()
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    }
}

struct Server<'a> {
    connection: &'a Connection,
    world: World,
    /// The messages that have arrived and wait.
    waiting: VecDeque<Message>,
    is_shut_down: bool,
}

impl Server<'_> {
    fn run(&mut self) -> End {
        loop {
            self.take_arrived();
            match self.waiting.pop_front() {
                Some(Message::Notification(note)) if note.method == note::Exit::METHOD => {
                    return match self.is_shut_down {
                        true => End::Asked,
                        false => End::Abrupt,
                    };
                }
                Some(Message::Notification(note)) => self.note(note),
                Some(Message::Request(request)) => self.request(request),
                // The server asks nothing.
                Some(Message::Response(_)) => {}
                // Changes that follow each other closely are checked once.
                None if self.publish_next() => {}
                None => match self.connection.receiver.recv() {
                    Ok(message) => self.arrive(message),
                    Err(_) => return End::Abrupt,
                },
            }
        }
    }

    /// Takes all messages that have arrived.
    fn take_arrived(&mut self) {
        while let Ok(message) = self.connection.receiver.try_recv() {
            self.arrive(message);
        }
    }

    /// Takes a message. A cancellation takes effect at once on a request that waits.
    fn arrive(&mut self, message: Message) {
        if let Message::Notification(note) = &message
            && note.method == note::Cancel::METHOD
        {
            let params = serde_json::from_value(note.params.clone());
            if let Ok(lsp_types::CancelParams { id }) = params {
                self.cancel(&match id {
                    NumberOrString::Number(id) => RequestId::from(id),
                    NumberOrString::String(id) => RequestId::from(id),
                });
            }
            return;
        }
        self.waiting.push_back(message);
    }

    fn cancel(&mut self, id: &RequestId) {
        let is_it = |message: &Message| matches!(message, Message::Request(r) if r.id == *id);
        if let Some(at) = self.waiting.iter().position(is_it) {
            self.waiting.remove(at);
            let message = "the request was cancelled".to_string();
            let code = ErrorCode::RequestCanceled as i32;
            self.send(Response::new_err(id.clone(), code, message));
        }
    }

    /// Sends a message. A client that went away is noticed when the next one is received.
    fn send(&self, message: impl Into<Message>) {
        let _ = self.connection.sender.send(message.into());
    }

    /// Sends the messages about a document that the client does not have. Returns false if there is none.
    fn publish_next(&mut self) -> bool {
        let Some(uri) = self.world.next_unpublished() else {
            return false;
        };
        let world = &mut self.world;
        let published = guarded(|| Ok(diagnostics::published(world, &uri)));
        if let Ok(Some(params)) = published {
            let method = note::PublishDiagnostics::METHOD.to_string();
            self.send(Notification::new(method, params));
        }
        true
    }

    /// Takes a notification. One that the server does not know, or cannot read, has no effect.
    fn note(&mut self, note: Notification) {
        let world = &mut self.world;
        match note.method.as_str() {
            note::DidOpenTextDocument::METHOD => {
                if let Some(params) = read::<note::DidOpenTextDocument>(note) {
                    let document = params.text_document;
                    world.open(document.uri, document.version, document.text);
                }
            }
            note::DidChangeTextDocument::METHOD => {
                if let Some(params) = read::<note::DidChangeTextDocument>(note) {
                    let document = params.text_document;
                    world.change(&document.uri, document.version, params.content_changes);
                }
            }
            note::DidCloseTextDocument::METHOD => {
                if let Some(params) = read::<note::DidCloseTextDocument>(note) {
                    let uri = params.text_document.uri;
                    world.close(&uri);
                    let method = note::PublishDiagnostics::METHOD.to_string();
                    self.send(Notification::new(method, diagnostics::withdrawn(uri)));
                }
            }
            note::DidSaveTextDocument::METHOD | note::DidChangeWatchedFiles::METHOD => {
                world.forget_all();
            }
            _unknown => {}
        }
    }

    /// Answers a request.
    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        let response = if request.method == ask::Shutdown::METHOD {
            self.is_shut_down = true;
            Response::new_ok(id, ())
        } else if self.is_shut_down {
            let message = "the server was shut down".to_string();
            Response::new_err(id, ErrorCode::InvalidRequest as i32, message)
        } else {
            answer(&mut self.world, request)
        };
        self.send(response);
    }
}

/// Reads the parameters of a notification.
fn read<N: note::Notification>(note: Notification) -> Option<N::Params> {
    note.extract(N::METHOD).ok()
}

/// Answers a request with the function for its method.
fn answer(world: &mut World, request: Request) -> Response {
    match request.method.as_str() {
        ask::HoverRequest::METHOD => with::<ask::HoverRequest>(world, request, hover::hover),
        ask::GotoDefinition::METHOD => {
            with::<ask::GotoDefinition>(world, request, places::definition)
        }
        ask::References::METHOD => with::<ask::References>(world, request, places::references),
        ask::DocumentHighlightRequest::METHOD => {
            with::<ask::DocumentHighlightRequest>(world, request, places::highlights)
        }
        ask::PrepareRenameRequest::METHOD => {
            with::<ask::PrepareRenameRequest>(world, request, rename::prepare)
        }
        ask::Rename::METHOD => with::<ask::Rename>(world, request, rename::rename),
        ask::DocumentSymbolRequest::METHOD => {
            with::<ask::DocumentSymbolRequest>(world, request, symbols::symbols)
        }
        ask::Formatting::METHOD => with::<ask::Formatting>(world, request, formatting::formatting),
        ask::Completion::METHOD => with::<ask::Completion>(world, request, completion::completion),
        ask::SignatureHelpRequest::METHOD => {
            with::<ask::SignatureHelpRequest>(world, request, signature::signature)
        }
        ask::CodeActionRequest::METHOD => {
            with::<ask::CodeActionRequest>(world, request, actions::actions)
        }
        _unknown => {
            let message = format!("unknown method {}", request.method);
            Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
        }
    }
}

/// Answers a request with a function. Neither a request that cannot be read nor a panic ends the server.
fn with<R>(
    world: &mut World,
    request: Request,
    body: fn(&mut World, R::Params) -> Result<R::Result, Refusal>,
) -> Response
where
    R: ask::Request,
    R::Params: DeserializeOwned,
    R::Result: Serialize,
{
    let id = request.id.clone();
    let (id, params) = match request.extract::<R::Params>(R::METHOD) {
        Ok(extracted) => extracted,
        Err(ExtractError::JsonError { error, .. }) => {
            let code = ErrorCode::InvalidParams as i32;
            return Response::new_err(id, code, error.to_string());
        }
        Err(ExtractError::MethodMismatch(request)) => {
            let code = ErrorCode::MethodNotFound as i32;
            return Response::new_err(request.id, code, request.method);
        }
    };
    match guarded(|| body(world, params)) {
        Ok(result) => Response::new_ok(id, result),
        Err(refusal) => Response::new_err(id, refusal.code as i32, refusal.message),
    }
}

/// Runs `body` under the compiler's guard. A panic is a refusal.
fn guarded<R>(body: impl FnOnce() -> Result<R, Refusal>) -> Result<R, Refusal> {
    let result = pipeline::guard("lsp", || Ok(body()));
    result.unwrap_or_else(|error| {
        Err(Refusal {
            code: ErrorCode::InternalError,
            message: error.to_string(),
        })
    })
}
