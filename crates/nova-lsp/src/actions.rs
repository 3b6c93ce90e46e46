//! Corrections of what the compiler reports.

use crate::analysis::Analysis;
use crate::diagnostics::translated;
use crate::edits::workspace_edit;
use crate::imports::import_edit;
use crate::occurrences::Occurrence;
use crate::tokens::sequence_around;
use crate::world::{Refusal, World};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse,
    TextEdit, Uri,
};
use nova_diag::{Diagnostic, Span, codes};
use nova_syntax::ast::{ExpressionKind, PatternKind};

/// Answers with the corrections of the messages in a range.
pub fn actions(
    world: &mut World,
    params: CodeActionParams,
) -> Result<Option<CodeActionResponse>, Refusal> {
    let uri = params.text_document.uri;
    let text = &world.document(&uri)?.text;
    let start = text.offset(params.range.start, world.encoding);
    let end = text.offset(params.range.end, world.encoding);
    let only = params.context.only;
    let is_wanted = only.is_none_or(|kinds| {
        kinds
            .iter()
            .any(|kind| *kind == CodeActionKind::QUICKFIX || *kind == CodeActionKind::EMPTY)
    });
    if !is_wanted {
        return Ok(None);
    }
    world.with(&uri, |world, analysis| {
        let touches = |message: &&Diagnostic| {
            let span = message.primary.span;
            start <= span.end as usize && span.start as usize <= end
        };
        let mut found = Vec::new();
        for message in analysis.own_messages().filter(touches) {
            for fix in fixes(world, &uri, analysis, message)? {
                let diagnostic = translated(world, &uri, analysis, message);
                let edits = fix.edits.into_iter().map(|edit| (uri.clone(), edit));
                found.push(CodeActionOrCommand::CodeAction(CodeAction {
                    title: fix.title,
                    kind: Some(CodeActionKind::QUICKFIX),
                    diagnostics: Some(vec![diagnostic]),
                    edit: Some(workspace_edit(edits)),
                    is_preferred: Some(fix.is_preferred),
                    ..CodeAction::default()
                }));
            }
        }
        Ok(Some(found))
    })
}

struct Fix {
    title: String,
    edits: Vec<TextEdit>,
    is_preferred: bool,
}

/// Returns the corrections of a message.
fn fixes(
    world: &World,
    uri: &Uri,
    analysis: &Analysis,
    message: &Diagnostic,
) -> Result<Vec<Fix>, Refusal> {
    let place = message.primary.span;
    let edit = |span: Span, new_text: String| TextEdit {
        range: analysis.range(span, world.encoding),
        new_text,
    };
    let mut found = Vec::new();
    if let Some(replacement) = replacement(message) {
        found.push(Fix {
            title: format!("Write `{replacement}`"),
            edits: vec![edit(place, replacement.to_string())],
            is_preferred: true,
        });
    }
    if Analysis::is_unbound(message) {
        let name = analysis.written(place);
        let text = &world.document(uri)?.text;
        let known = world.library.names(&world.compiler).iter();
        for known in known.filter(|known| known.name == name) {
            found.push(Fix {
                title: format!("Import `{}`", known.file),
                edits: vec![import_edit(text, &known.file, world.encoding)],
                is_preferred: true,
            });
        }
    }
    if message.code == codes::UNUSED_NAME {
        found.extend(unused(world, analysis, place));
    }
    Ok(found)
}

/// Returns what a message says to write instead of its place.
fn replacement(message: &Diagnostic) -> Option<&str> {
    let help = message.help.as_deref()?;
    let starts: &[&str] = match message.code {
        code if code == codes::SUSPICIOUS => &["write `"],
        code if code == codes::SUBSCRIPT => &["an element is read with `"],
        _others => &["did you mean `", "perhaps `"],
    };
    let rest = starts.iter().find_map(|start| help.strip_prefix(start))?;
    let (code, _) = rest.split_once('`')?;
    // Some helps show a form with a gap.
    (!code.contains('…')).then_some(code)
}

/// Returns the corrections of a name that nothing uses: another name, or no binding.
fn unused(world: &World, analysis: &Analysis, place: Span) -> Vec<Fix> {
    let edit = |span: Span, new_text: &str| TextEdit {
        range: analysis.range(span, world.encoding),
        new_text: new_text.to_string(),
    };
    let inside = |o: &&Occurrence| {
        o.is_declaration
            && o.span.file == place.file
            && place.start <= o.span.start
            && o.span.end <= place.end
    };
    let occurrence = analysis.occurrences().iter().find(inside);
    let Some(name) = occurrence.map(|occurrence| occurrence.span) else {
        return Vec::new();
    };
    let text = analysis.written(name);
    let start = Span::new(name.file, name.start, name.start);
    let mut found = vec![Fix {
        title: format!("Call it `_{text}`"),
        edits: vec![edit(start, "_")],
        is_preferred: false,
    }];
    if let Some((span, new_text)) = without_binding(analysis, place) {
        found.push(Fix {
            title: format!("Leave `{text}` out"),
            edits: vec![edit(span, &new_text)],
            is_preferred: true,
        });
    }
    found
}

/// Returns the place of a binding of a `let`, and what stands there without it. A `let` without bindings is its
/// body.
fn without_binding(analysis: &Analysis, pattern: Span) -> Option<(Span, String)> {
    let tree = analysis.tree();
    tree.arena.iter().find_map(|expression| {
        let ExpressionKind::Let { bindings, body } = &expression.kind else {
            return None;
        };
        let (own, value) = bindings.iter().find(|(own, _)| own.span == pattern)?;
        if !matches!(own.kind, PatternKind::Name(_)) {
            return None;
        }
        let body = tree.expression(*body).span;
        if bindings.len() == 1 {
            return Some((expression.span, analysis.written(body).to_string()));
        }
        let value = tree.expression(*value).span;
        let text = &analysis.text(pattern.file).text;
        let both = pattern.start as usize..value.end as usize;
        let mut binding = sequence_around(text, &both)?;
        // The blanks behind it belong to it.
        let rest = &text[binding.end..];
        binding.end += rest.len() - rest.trim_start().len();
        let is_inside =
            binding.start > expression.span.start as usize && binding.end <= body.start as usize;
        let span = Span::new(pattern.file, binding.start as u32, binding.end as u32);
        is_inside.then_some((span, String::new()))
    })
}
