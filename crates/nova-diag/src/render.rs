//! Diagnostics as text and as JSON.
//!
//! The text is drawn by annotate-snippets. It gets only the lines that a diagnostic points at, and
//! only a section of very long lines, so that the size of a source does not matter.

use crate::excerpt::{Excerpt, Mark, excerpts, has_text};
use crate::{Diagnostic, Label, Severity, SourceMap, Span};
use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};
use serde_json::{Map, Value};
use std::fmt::Write;

/// Renders a diagnostic as a person reads it: code, message, the source line with the place
/// marked, help.
///
/// Plain text without escape sequences, ending with a line end.
pub fn render_text(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level
        .primary_title(message(sources, diagnostic))
        .id(diagnostic.code.to_string());
    let mut elements: Vec<Element<'_>> = Vec::new();
    let excerpts = excerpts(sources, diagnostic);
    let shown = excerpts.iter().any(|e| e.marks.iter().any(|m| m.primary));
    if !shown {
        elements.push(origin(sources, diagnostic.primary.span).into());
        note(&mut elements, sources, &diagnostic.primary, false);
    }
    let mut places = Vec::new();
    for (index, excerpt) in excerpts.into_iter().enumerate() {
        places.push(excerpt.place);
        elements.push(snippet(excerpt, stand_in(index)).into());
    }
    for label in &diagnostic.secondary {
        if !has_text(sources, label.span) {
            note(&mut elements, sources, label, true);
        }
    }
    if let Some(help) = &diagnostic.help {
        elements.push(Level::HELP.message(help.as_str()).into());
    }
    let drawn = Renderer::plain().render(&[title.elements(elements)]);
    let mut text = with_places(sources, &drawn, &places);
    text.push('\n');
    text
}

/// Returns the message of a diagnostic. It starts with the front end's name for what stands at its place, or
/// else at its next one: a wrong argument may have no name where the function has one.
fn message(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let mut labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary);
    match labels.find_map(|label| sources.construct(label.span)) {
        Some(construct) => format!("in `{construct}`: {}", diagnostic.message),
        None => diagnostic.message.clone(),
    }
}

/// Returns the path drawn for an excerpt until [`with_places`].
fn stand_in(index: usize) -> String {
    format!("@excerpt-{index}@")
}

/// Puts the places of the compiler into the headings of the excerpts. The drawn places account
/// neither for text clipped off a long line nor for a front end's positions.
fn with_places(sources: &SourceMap, drawn: &str, places: &[Span]) -> String {
    let mut text = String::new();
    let mut rest = drawn;
    for (index, &place) in places.iter().enumerate() {
        let Some((before, after)) = rest.split_once(&stand_in(index)) else {
            continue;
        };
        let (line, column) = sources.start(place);
        let name = &sources.source(place.file).name;
        text.push_str(before);
        // Writing to a String cannot fail.
        let _ = write!(text, "{name}:{line}:{column}");
        rest = &after[after.find('\n').unwrap_or(after.len())..];
    }
    text + rest
}

fn origin(sources: &SourceMap, span: Span) -> Origin<'static> {
    let (line, column) = sources.start(span);
    Origin::path(sources.source(span.file).name.to_string())
        .line(line as usize)
        .char_column(column as usize)
}

fn snippet(
    excerpt: Excerpt,
    path: String,
) -> Snippet<'static, annotate_snippets::Annotation<'static>> {
    let annotations = excerpt.marks.into_iter().map(|mark: Mark| {
        let kind = match mark.primary {
            true => AnnotationKind::Primary,
            false => AnnotationKind::Context,
        };
        let annotation = kind.span(mark.range);
        match mark.text.is_empty() {
            true => annotation,
            false => annotation.label(mark.text),
        }
    });
    Snippet::source(excerpt.text)
        .path(path)
        .line_start(excerpt.first_line as usize)
        .annotations(annotations.collect::<Vec<_>>())
}

/// Adds a label whose source line is not known, as a note.
fn note(elements: &mut Vec<Element<'_>>, sources: &SourceMap, label: &Label, with_place: bool) {
    if label.text.is_empty() {
        return;
    }
    let (line, column) = sources.start(label.span);
    let text = match with_place {
        true => {
            let name = &sources.source(label.span.file).name;
            format!("{} ({name}:{line}:{column})", label.text)
        }
        false => label.text.clone(),
    };
    elements.push(Level::NOTE.message(text).into());
}

/// Renders a diagnostic as one line of JSON for editors and front ends, without a line end.
///
/// Lines and columns count from 1, columns in characters, the end is after the last character:
/// `{"severity":"error","code":"N0203","message":…,"file":…,"line":…,"column":…,"endLine":…,
/// "endColumn":…,"label":…,"secondary":[{"file":…, … ,"label":…}],"help":…}`; `help` is null where
/// there is none. The message names the front end's construct, if it is known.
pub fn render_json(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let secondary = diagnostic.secondary.iter();
    let secondary: Vec<Value> = secondary
        .map(|label| members(sources, label).into())
        .collect();
    let mut object = Map::new();
    object.insert("severity".into(), severity.into());
    object.insert("code".into(), diagnostic.code.to_string().into());
    object.insert("message".into(), message(sources, diagnostic).into());
    object.extend(members(sources, &diagnostic.primary));
    object.insert("secondary".into(), secondary.into());
    object.insert("help".into(), diagnostic.help.as_deref().into());
    Value::Object(object).to_string()
}

/// Returns the members that give the place and the text of a label.
fn members(sources: &SourceMap, label: &Label) -> Map<String, Value> {
    let (line, column) = sources.start(label.span);
    let (end_line, end_column) = sources.end(label.span);
    let members: [(&str, Value); 6] = [
        ("file", (&*sources.source(label.span.file).name).into()),
        ("line", line.into()),
        ("column", column.into()),
        ("endLine", end_line.into()),
        ("endColumn", end_column.into()),
        ("label", label.text.as_str().into()),
    ];
    members
        .into_iter()
        .map(|(name, value)| (name.to_string(), value))
        .collect()
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
