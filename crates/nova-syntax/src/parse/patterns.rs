//! Patterns of parameters, bindings and arms.

use super::parser::Parser;
use super::questions::{describe, position, span_of, split_at_commas};
use super::types::{type_placeholder, type_sequence};
use crate::ast::{Name, Pattern, PatternKind, TypeId};
use crate::datum::{DatumId, Kind};
use crate::names::repeated;
use nova_diag::{Span, codes, deep};
use std::collections::HashSet;
use std::sync::Arc;

/// Maximum nesting of tuple patterns. Patterns own their parts, so walking and dropping them is
/// recursive.
const PATTERN_DEPTH: u32 = 256;

const PATTERN: &str = "a pattern is a name, `_`, a tuple of patterns `(a, b)`, or one of these with its type `(x : T)`";

/// Parses a pattern whose names must differ.
pub(super) fn pattern(parser: &mut Parser, id: DatumId) -> Pattern {
    patterns(parser, &[id]).pop().unwrap_or(Pattern {
        kind: PatternKind::Wildcard,
        annotation: None,
        span: parser.data.span(id),
    })
}

/// Parses patterns that are bound together, whose names must differ. One with an error matches
/// any value, and its names are lost.
pub(super) fn patterns(parser: &mut Parser, ids: &[DatumId]) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    let mut names = Vec::new();
    for &id in ids {
        let pattern = match part(parser, id) {
            Some(pattern) => pattern,
            None => wrong_pattern(parser, id),
        };
        collect_names(&pattern, &mut names);
        patterns.push(pattern);
    }
    parser.diagnostics.extend(repeated(&names, "name"));
    patterns
}

/// Reports the names that several of these groups of patterns bind. The patterns of each group have
/// been compared already.
pub(super) fn distinct<'p>(parser: &mut Parser, groups: impl IntoIterator<Item = &'p [Pattern]>) {
    let mut all: Vec<Name> = Vec::new();
    for group in groups {
        let mut names = Vec::new();
        for pattern in group {
            collect_names(pattern, &mut names);
        }
        let mut known = HashSet::new();
        names.retain(|name| known.insert(Arc::clone(&name.text)));
        all.extend(names);
    }
    parser.diagnostics.extend(repeated(&all, "name"));
}

/// Returns a pattern in place of one with an error.
fn wrong_pattern(parser: &mut Parser, id: DatumId) -> Pattern {
    parser.lose(&[id]);
    let span = parser.data.span(id);
    Pattern {
        kind: PatternKind::Wildcard,
        annotation: Some(type_placeholder(parser, span)),
        span,
    }
}

fn part(parser: &mut Parser, mut id: DatumId) -> Option<Pattern> {
    while let Kind::List(&[inner]) = parser.data.kind(id) {
        id = inner;
    }
    let span = parser.data.span(id);
    match parser.data.kind(id) {
        Kind::Symbol(name) => name_pattern(parser, name, span),
        Kind::List([]) => {
            parser.bad_form(span, "`()` is no pattern", PATTERN);
            None
        }
        Kind::List(items) => deep(|| part_list(parser, items, span)),
        Kind::TypeVariable(_)
        | Kind::Number(_)
        | Kind::Text(_)
        | Kind::Colon
        | Kind::Comma
        | Kind::Vector(_)
        | Kind::Project(..) => {
            let message = format!("expected a pattern, found {}", describe(parser.data, id));
            parser.bad_form(span, message, PATTERN);
            None
        }
    }
}

fn name_pattern(parser: &mut Parser, name: &Arc<str>, span: Span) -> Option<Pattern> {
    let kind = match &**name {
        "_" => PatternKind::Wildcard,
        text if parser.check_binder(text, span, "a variable") => {
            PatternKind::Name(Arc::clone(name))
        }
        _ => return None,
    };
    Some(Pattern {
        kind,
        annotation: None,
        span,
    })
}

/// Parses `(p, p, …)` or `(p : T)`.
fn part_list<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) -> Option<Pattern> {
    if position(parser.data, items, Kind::Comma).is_some() {
        return tuple_pattern(parser, items, span);
    }
    if let Some(colon) = position(parser.data, items, Kind::Colon) {
        return annotated(parser, items, colon, span);
    }
    let message = "these items are no pattern";
    parser.bad_form(span, message, PATTERN);
    None
}

fn tuple_pattern<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) -> Option<Pattern> {
    if parser.pattern_depth == PATTERN_DEPTH {
        let message = format!("tuple patterns nest at most {PATTERN_DEPTH} deep");
        parser.error(codes::NOT_SUPPORTED, span, message);
        return None;
    }
    parser.pattern_depth += 1;
    let mut parts = Vec::new();
    let mut complete = true;
    for segment in split_at_commas(parser.data, items) {
        let part = match segment {
            [only] => part(parser, *only),
            [_, colon, ..] if parser.data.kind(*colon) == Kind::Colon => {
                let at = span_of(parser.data, segment, span);
                annotated(parser, segment, 1, at)
            }
            _ => {
                let at = span_of(parser.data, segment, span);
                let message = match segment {
                    [] => "a part of this tuple pattern is missing",
                    [_, ..] => "expected one pattern between the commas",
                };
                parser.bad_form(at, message, PATTERN);
                None
            }
        };
        complete &= part.is_some();
        parts.extend(part);
    }
    parser.pattern_depth -= 1;
    complete.then_some(Pattern {
        kind: PatternKind::Tuple(parts),
        annotation: None,
        span,
    })
}

/// Parses `p : T`.
fn annotated<'a>(
    parser: &mut Parser<'a>,
    items: &'a [DatumId],
    colon: usize,
    span: Span,
) -> Option<Pattern> {
    let ty = type_sequence(parser, &items[colon + 1..], parser.data.span(items[colon]));
    let &[pattern] = &items[..colon] else {
        let at = span_of(parser.data, &items[..colon], span);
        parser.bad_form(at, "expected one pattern before `:`", PATTERN);
        return None;
    };
    let mut pattern = part(parser, pattern)?;
    annotate(parser, &mut pattern, ty);
    pattern.span = span;
    Some(pattern)
}

/// Gives a pattern its type.
pub(super) fn annotate(parser: &mut Parser, pattern: &mut Pattern, ty: TypeId) {
    if pattern.annotation.is_some() {
        let message = "this pattern has a type already";
        parser.bad_form(pattern.span, message, "leave one of the two types out");
    }
    pattern.annotation = Some(ty);
}

/// Adds the names that a pattern binds, in order.
fn collect_names(pattern: &Pattern, names: &mut Vec<Name>) {
    match &pattern.kind {
        PatternKind::Name(text) => names.push(Name {
            text: Arc::clone(text),
            span: pattern.span,
        }),
        PatternKind::Wildcard => {}
        PatternKind::Tuple(parts) => {
            for part in parts {
                collect_names(part, names);
            }
        }
    }
}
