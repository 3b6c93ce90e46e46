//! Patterns of parameters, bindings and arms.

use super::Parser;
use crate::ast::{Name, Pattern, PatternKind, TypeId};
use crate::datum::{DatumId, Kind};
use crate::names::repeated;
use nova_diag::{Span, codes, deep};
use std::sync::Arc;

/// Maximum nesting of tuple patterns. Patterns own their parts, so walking and dropping them is
/// recursive.
const PATTERN_DEPTH: u32 = 256;

const PATTERN: &str = "a pattern is a name, `_`, a tuple of patterns `(a, b)`, or one of these with its type `(x : T)`";

impl<'a> Parser<'a> {
    /// Parses a pattern whose names must differ.
    pub(super) fn pattern(&mut self, id: DatumId) -> Pattern {
        self.patterns(&[id]).pop().unwrap_or(Pattern {
            kind: PatternKind::Wildcard,
            annotation: None,
            span: self.span(id),
        })
    }

    /// Parses patterns that are bound together, whose names must differ. One with an error matches
    /// any value, and its names are lost.
    pub(super) fn patterns(&mut self, ids: &[DatumId]) -> Vec<Pattern> {
        let mut patterns = Vec::new();
        let mut names = Vec::new();
        for &id in ids {
            let pattern = match self.part(id) {
                Some(pattern) => pattern,
                None => self.wrong_pattern(id),
            };
            collect_names(&pattern, &mut names);
            patterns.push(pattern);
        }
        self.diagnostics.extend(repeated(&names, "name"));
        patterns
    }

    /// Returns a pattern in place of one with an error.
    fn wrong_pattern(&mut self, id: DatumId) -> Pattern {
        self.lose(&[id]);
        let span = self.span(id);
        Pattern {
            kind: PatternKind::Wildcard,
            annotation: Some(self.type_placeholder(span)),
            span,
        }
    }

    fn part(&mut self, mut id: DatumId) -> Option<Pattern> {
        while let Kind::List(&[inner]) = self.kind(id) {
            id = inner;
        }
        let span = self.span(id);
        match self.kind(id) {
            Kind::Symbol(name) => self.name_pattern(name, span),
            Kind::List([]) => {
                self.bad_form(span, "`()` is no pattern", PATTERN);
                None
            }
            Kind::List(items) => deep(|| self.part_list(items, span)),
            Kind::TypeVariable(_)
            | Kind::Number(_)
            | Kind::Text(_)
            | Kind::Colon
            | Kind::Comma
            | Kind::Vector(_)
            | Kind::Project(..) => {
                let message = format!("expected a pattern, found {}", self.describe(id));
                self.bad_form(span, message, PATTERN);
                None
            }
        }
    }

    fn name_pattern(&mut self, name: &Arc<str>, span: Span) -> Option<Pattern> {
        let kind = match &**name {
            "_" => PatternKind::Wildcard,
            text if self.check_binder(text, span, "a variable") => {
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
    fn part_list(&mut self, items: &'a [DatumId], span: Span) -> Option<Pattern> {
        if self.position(items, Kind::Comma).is_some() {
            return self.tuple_pattern(items, span);
        }
        if let Some(colon) = self.position(items, Kind::Colon) {
            return self.annotated(items, colon, span);
        }
        let message = "these items are no pattern";
        self.bad_form(span, message, PATTERN);
        None
    }

    fn tuple_pattern(&mut self, items: &'a [DatumId], span: Span) -> Option<Pattern> {
        if self.pattern_depth == PATTERN_DEPTH {
            let message = format!("tuple patterns nest at most {PATTERN_DEPTH} deep");
            self.error(codes::NOT_SUPPORTED, span, message);
            return None;
        }
        self.pattern_depth += 1;
        let mut parts = Vec::new();
        let mut complete = true;
        for segment in self.split_at_commas(items) {
            let part = match segment {
                [only] => self.part(*only),
                [_, colon, ..] if self.kind(*colon) == Kind::Colon => {
                    let at = self.span_of(segment, span);
                    self.annotated(segment, 1, at)
                }
                _ => {
                    let at = self.span_of(segment, span);
                    let message = match segment {
                        [] => "a part of this tuple pattern is missing",
                        [_, ..] => "expected one pattern between the commas",
                    };
                    self.bad_form(at, message, PATTERN);
                    None
                }
            };
            complete &= part.is_some();
            parts.extend(part);
        }
        self.pattern_depth -= 1;
        complete.then_some(Pattern {
            kind: PatternKind::Tuple(parts),
            annotation: None,
            span,
        })
    }

    /// Parses `p : T`.
    fn annotated(&mut self, items: &'a [DatumId], colon: usize, span: Span) -> Option<Pattern> {
        let ty = self.type_sequence(&items[colon + 1..], self.span(items[colon]));
        let &[pattern] = &items[..colon] else {
            let at = self.span_of(&items[..colon], span);
            self.bad_form(at, "expected one pattern before `:`", PATTERN);
            return None;
        };
        let mut pattern = self.part(pattern)?;
        self.annotate(&mut pattern, ty);
        pattern.span = span;
        Some(pattern)
    }

    /// Gives a pattern its type.
    pub(super) fn annotate(&mut self, pattern: &mut Pattern, ty: TypeId) {
        if pattern.annotation.is_some() {
            let message = "this pattern has a type already";
            self.bad_form(pattern.span, message, "leave one of the two types out");
        }
        pattern.annotation = Some(ty);
    }
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
