//! The canonical layout of source texts.
//!
//! [`format()`] works on tokens, not on the syntax tree. So it lays out any text whose parentheses
//! match, keeps every comment in its place (after an item, or on a line of its own) and cannot
//! change the meaning of the text. A sequence is on one line where that is short enough. Otherwise
//! `layout` decides, by the word the sequence begins with, which items begin a line. Work is linear
//! in the text. Indentation stops growing at 60 columns, so that the output is linear, too.

mod build;
mod layout;
mod print;
mod tree;

use crate::reader;
use nova_diag::{Diagnostic, FileId};

/// Columns of a line, where nothing longer stands alone.
const COLUMNS: usize = 100;

/// Lays a source text out. The errors are those of reading it, and point into the first source of a
/// map.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    format_source(text, FileId(0))
}

/// Does the work of [`format()`] for the source `file`, into which the errors point.
pub fn format_source(text: &str, file: FileId) -> Result<String, Vec<Diagnostic>> {
    let (_, diagnostics) = reader::read(text, file);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    Ok(print::print(&tree::Tree::new(text)))
}

#[cfg(test)]
mod tests;
