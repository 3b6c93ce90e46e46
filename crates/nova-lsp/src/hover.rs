//! The text beside the pointer: types, comments, meanings.

use crate::analysis::Analysis;
use crate::builtins::builtin_page;
use crate::forms::form_of;
use crate::occurrences::Occurrence;
use crate::tokens::Context;
use crate::world::{Refusal, World};
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};
use nova_diag::Span;
use nova_driver::parsed::Origin;
use nova_infer::Referent;

/// Number of bytes of a declared type that are shown.
const SHOWN: usize = 1000;

/// Answers with the type and the meaning of what stands at a position.
pub fn hover(world: &mut World, params: HoverParams) -> Result<Option<Hover>, Refusal> {
    let place = params.text_document_position_params;
    world.at(
        &place.text_document.uri,
        place.position,
        |world, analysis, offset| {
            let Some((span, value)) = text_at(analysis, offset) else {
                return Ok(None);
            };
            Ok(Some(Hover {
                contents: HoverContents::Markup(markdown(value)),
                range: Some(analysis.range(span, world.encoding)),
            }))
        },
    )
}

/// Returns a text as Markdown.
pub fn markdown(value: String) -> MarkupContent {
    let kind = MarkupKind::Markdown;
    MarkupContent { kind, value }
}

/// Returns code and a text below it as Markdown.
pub fn page(code: &str, text: &str) -> String {
    let block = format!("```nova\n{code}\n```");
    match text {
        "" => block,
        _ => format!("{block}\n\n{text}"),
    }
}

/// Returns the page of a built-in function.
pub fn builtin_text(name: &str) -> Option<String> {
    let page_of = builtin_page(name)?;
    let code = format!("{name} : {}", page_of.ty);
    let text = format!("`({name} {})`: {}", page_of.arguments, page_of.meaning);
    Some(page(&code, &text))
}

fn text_at(analysis: &Analysis, offset: usize) -> Option<(Span, String)> {
    let root = analysis.root();
    let text = &analysis.text(root).text;
    let context = Context::at(text, offset);
    if context.is_comment() {
        return None;
    }
    if let Some(occurrence) = analysis.occurrence_at(offset) {
        return Some((occurrence.span, name_text(analysis, occurrence)?));
    }
    let mut imports = analysis.parsed().imports.iter();
    let covers = |span: Span| {
        let (start, end) = (span.start as usize, span.end as usize);
        span.file == root && start <= offset && offset <= end
    };
    if let Some(import) = imports.find(|import| covers(import.span)) {
        let shown = match import.origin.as_ref()? {
            Origin::File(path) => path.display().to_string(),
            Origin::Library(name) => format!("The file `{name}` of the standard library."),
        };
        return Some((import.span, shown));
    }
    // A word or a bracket begins at the offset, or ends there.
    let word = Context::at(text, offset + 1).token.or(context.token);
    if let Some(word) = word
        && let Some(form) = form_of(&text[word.start..word.end])
    {
        let span = Span::new(root, word.start as u32, word.end as u32);
        return Some((span, page(form.written, form.meaning)));
    }
    let is_blank = word.is_none() && !text[offset..].starts_with(['(', '[', ')', ']']);
    let before = text[..offset].ends_with([')', ']']);
    if is_blank && !before {
        return None;
    }
    let (span, ty) = analysis.index()?.expression_at(root, offset as u32)?;
    Some((span, page(&ty.to_string(), "")))
}

/// Returns the page of a name: its type where it stands, its type as it is declared if that differs, and its
/// comment.
fn name_text(analysis: &Analysis, occurrence: &Occurrence) -> Option<String> {
    let index = analysis.index()?;
    let referent = occurrence.referent;
    if let Referent::Builtin(name) = referent {
        let mut text = builtin_text(name)?;
        if let Some(here) = index.type_at(occurrence.span) {
            text += &format!("\n\nHere: `{here}`");
        }
        return Some(text);
    }
    if let Referent::Type(number) = referent {
        let declared = analysis.tree().types.get(number as usize)?;
        let written = analysis.written(declared.span);
        let code = match written.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &written[..end]),
            None => written.to_string(),
        };
        return Some(page(&code, &analysis.documentation(referent)));
    }
    let name = analysis.written(occurrence.span);
    let declared = index.type_of(referent);
    let here = index.type_at(occurrence.span);
    let shown = declared.as_ref().or(here.as_ref());
    let ty = shown.map_or_else(|| "_".to_string(), ToString::to_string);
    let mut text = page(&format!("{name} : {ty}"), &analysis.documentation(referent));
    if let (Some(declared), Some(here)) = (&declared, &here)
        && declared.text != here.text
    {
        text += &format!("\n\nHere: `{here}`");
    }
    Some(text)
}
