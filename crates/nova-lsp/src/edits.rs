//! Edits of documents.

use lsp_types::{TextEdit, Uri, WorkspaceEdit};
use std::collections::HashMap;

/// Returns the edits of some documents as one.
// The key holds a cache, which takes no part in its comparison.
#[allow(clippy::mutable_key_type)]
pub fn workspace_edit(edits: impl IntoIterator<Item = (Uri, TextEdit)>) -> WorkspaceEdit {
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (uri, edit) in edits {
        changes.entry(uri).or_default().push(edit);
    }
    WorkspaceEdit {
        changes: Some(changes),
        ..WorkspaceEdit::default()
    }
}
