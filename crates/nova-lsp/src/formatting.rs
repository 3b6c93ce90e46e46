//! The canonical layout.

use crate::world::{Refusal, World};
use lsp_types::{DocumentFormattingParams, TextEdit};

/// Answers with the edit that lays a document out as `novac fmt` does. A text that cannot be read stays.
pub fn formatting(
    world: &mut World,
    params: DocumentFormattingParams,
) -> Result<Option<Vec<TextEdit>>, Refusal> {
    let text = &world.document(&params.text_document.uri)?.text;
    let Ok(laid_out) = nova_syntax::format(&text.text) else {
        return Ok(None);
    };
    if *laid_out == *text.text {
        return Ok(Some(Vec::new()));
    }
    let range = text.whole(world.encoding);
    let new_text = laid_out;
    Ok(Some(vec![TextEdit { range, new_text }]))
}
