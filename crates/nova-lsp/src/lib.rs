//! The language server of NOVA: what editors ask about programs, by the Language Server Protocol.
//!
//! [`serve`] answers a client on a connection, [`serve_stdio`] one on standard input and output. The server is one
//! thread. It takes messages in their order, and checks a changed document as a whole when no message waits
//! (docs/decisions/language-server.md).
//!
//! [`text`], [`uri`] and [`tokens`] know texts and files. [`analysis`] is what the compiler knows about a document,
//! [`world`] holds the open documents. Each feature is a file with one function for each request, and `server` is
//! the table of these.

pub mod actions;
pub mod analysis;
mod builtins;
pub mod completion;
pub mod diagnostics;
mod edits;
pub mod formatting;
pub mod forms;
pub mod hover;
mod imports;
pub mod library;
pub mod occurrences;
pub mod places;
pub mod rename;
mod server;
pub mod signature;
pub mod symbols;
pub mod text;
pub mod tokens;
pub mod uri;
mod workspace;
pub mod world;

use lsp_server::Connection;
use nova_driver::Options;

pub use server::{End, serve};

/// Serves a client on standard input and output until it ends the session.
///
/// # Errors
/// The client does not begin the session as the protocol wants it, or its messages cannot be read.
pub fn serve_stdio(options: Options) -> Result<End, String> {
    let (connection, threads) = Connection::stdio();
    let end = serve(&connection, options);
    // The thread that writes ends with the connection. The thread that reads ends with `exit`, or with the input.
    drop(connection);
    if end == Ok(End::Asked) {
        threads.join().map_err(|error| error.to_string())?;
    }
    end
}
