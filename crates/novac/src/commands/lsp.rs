//! `novac lsp`: the language server.

use crate::cli::Common;
use crate::terminal::{End, Outcome};

/// Serves an editor on standard input and output. A client that ends without `shutdown` gives the exit status 1, as
/// the protocol wants it.
pub fn serve(common: &Common) -> Outcome {
    match nova_lsp::serve_stdio(common.options()) {
        Ok(nova_lsp::End::Asked) => Ok(()),
        Ok(nova_lsp::End::Abrupt) => Err(End::silent(1)),
        Err(error) => Err(End::failed(format!("error: {error}"))),
    }
}
