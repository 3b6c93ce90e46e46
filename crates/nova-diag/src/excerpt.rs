//! The few lines of a source that a diagnostic shows.

use crate::source::Source;
use crate::{Diagnostic, SourceMap, Span};
use std::ops::Range;

/// Lines that one excerpt may span, so that labels near each other are drawn together.
const LINES: u32 = 40;
/// Lines of a marked region. Of longer ones only the first line is marked.
const REGION_LINES: u32 = 6;
/// Bytes of a line that is shown in full.
const LINE_BYTES: usize = 240;
/// Bytes shown before a mark in a longer line. An excerpt that begins with such a line shows as
/// many bytes of it.
const BEFORE: usize = 60;
const AFTER: usize = 120;

/// A part of a source with places marked in it.
#[derive(Debug)]
pub(crate) struct Excerpt {
    /// The place in the heading.
    pub place: Span,
    /// The line, from 1, that `text` starts with.
    pub first_line: u32,
    pub text: String,
    pub marks: Vec<Mark>,
}

/// A marked part of an excerpt's text.
#[derive(Debug)]
pub(crate) struct Mark {
    pub range: Range<usize>,
    pub primary: bool,
    pub text: String,
}

/// A label resolved to bytes of its source.
struct Resolved<'a> {
    span: Span,
    range: Range<usize>,
    lines: Range<u32>,
    primary: bool,
    text: &'a str,
}

/// Returns the excerpts of a diagnostic, the one with the primary label first. Labels whose text is
/// not known are in none.
pub(crate) fn excerpts(sources: &SourceMap, diagnostic: &Diagnostic) -> Vec<Excerpt> {
    let primary = (&diagnostic.primary, true);
    let labels = std::iter::once(primary).chain(diagnostic.secondary.iter().map(|l| (l, false)));
    let mut groups: Vec<Vec<Resolved<'_>>> = Vec::new();
    for (label, primary) in labels {
        if !has_text(sources, label.span) {
            continue;
        }
        let source = sources.source(label.span.file);
        let range = clip(source, sources.byte_range(label.span));
        let resolved = Resolved {
            span: label.span,
            lines: source.line_of(range.start)..source.line_of(range.end) + 1,
            range,
            primary,
            text: &label.text,
        };
        match groups
            .iter_mut()
            .find(|group| joins(source, group, &resolved))
        {
            Some(group) => group.push(resolved),
            None => groups.push(vec![resolved]),
        }
    }
    let groups = groups.iter();
    groups.map(|group| excerpt(sources, group)).collect()
}

/// Clips a region of many lines, or of very long ones, to its first line. No region starts after
/// the end of its line.
fn clip(source: &Source, range: Range<usize>) -> Range<usize> {
    let boundary = |byte: usize| boundary_before(&source.text, byte);
    let range = boundary(range.start)..boundary(range.end);
    let first = source.line_of(range.start);
    let last = source.line_of(range.end);
    let line = source.line_range(first);
    let start = range.start.min(line.end);
    if last - first >= REGION_LINES {
        return start..line.end;
    }
    let lines = first..=last;
    let long = |line: u32| source.line_range(line).len() > LINE_BYTES;
    if last > first && lines.into_iter().any(long) {
        return start..line.end;
    }
    start..range.end.max(start)
}

/// True if a label can be drawn into the excerpt of a group.
fn joins(source: &Source, group: &[Resolved<'_>], new: &Resolved<'_>) -> bool {
    let first = group
        .iter()
        .map(|r| r.lines.start)
        .fold(new.lines.start, u32::min);
    let last = group
        .iter()
        .map(|r| r.lines.end)
        .fold(new.lines.end, u32::max);
    group.iter().all(|r| r.span.file == new.span.file)
        && last - first <= LINES
        && (first..last).all(|line| source.line_range(line).len() <= LINE_BYTES)
}

fn excerpt(sources: &SourceMap, group: &[Resolved<'_>]) -> Excerpt {
    let place = group[0].span;
    let source = sources.source(place.file);
    if source.line_range(group[0].lines.start).len() > LINE_BYTES {
        return piece_of_line(source, &group[0]);
    }
    let first_line = group.iter().map(|r| r.lines.start).min().unwrap_or(1);
    let end_line = group.iter().map(|r| r.lines.end).max().unwrap_or(1);
    let mut text = String::new();
    // The start of each line in the source and in the excerpt.
    let mut starts = Vec::new();
    for line in first_line..end_line {
        let range = source.line_range(line);
        starts.push((range.clone(), text.len()));
        text.push_str(&source.text[range]);
        text.push('\n');
    }
    let offset = |byte: usize| {
        let line = (source.line_of(byte) - first_line) as usize;
        let (range, start) = &starts[line.min(starts.len() - 1)];
        start + byte.clamp(range.start, range.end) - range.start
    };
    let marks = group.iter().map(|resolved| Mark {
        range: offset(resolved.range.start)..offset(resolved.range.end),
        primary: resolved.primary,
        text: resolved.text.to_string(),
    });
    Excerpt {
        place,
        first_line,
        marks: marks.collect(),
        text,
    }
}

/// Returns an excerpt of a long line around a mark.
fn piece_of_line(source: &Source, resolved: &Resolved<'_>) -> Excerpt {
    let line = source.line_range(resolved.lines.start);
    let start = resolved.range.start;
    let floor = |byte: usize| boundary_before(&source.text, byte);
    let from = floor(start.saturating_sub(BEFORE).max(line.start));
    let upto = floor((start + AFTER).min(line.end));
    let mut text = String::new();
    if from > line.start {
        text.push('…');
    }
    let shift = text.len();
    text.push_str(&source.text[from..upto]);
    if upto < line.end {
        text.push('…');
    }
    let mark = Mark {
        range: shift + start - from..shift + resolved.range.end.min(upto) - from,
        primary: resolved.primary,
        text: resolved.text.to_string(),
    };
    Excerpt {
        place: resolved.span,
        first_line: resolved.lines.start,
        text,
        marks: vec![mark],
    }
}

/// Returns the last character boundary at or before a byte.
fn boundary_before(text: &str, byte: usize) -> usize {
    let mut candidates = (0..=byte.min(text.len())).rev();
    candidates.find(|&b| text.is_char_boundary(b)).unwrap_or(0)
}

/// True if the source line of a span can be shown.
pub(crate) fn has_text(sources: &SourceMap, span: Span) -> bool {
    let source = sources.source(span.file);
    !source.text.is_empty()
        && (!source.is_positions() || sources.byte_range(span).start < source.text.len())
}
