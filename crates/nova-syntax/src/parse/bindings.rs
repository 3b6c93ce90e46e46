//! Bindings of names to values, in the forms that have them: `(p e)`, `(p : T e)`.

use super::parser::Parser;
use super::patterns;
use super::questions::describe;
use super::types::type_sequence;
use crate::ast::{ExpressionId, Pattern, PatternKind};
use crate::datum::{Data, DatumId, Kind};
use nova_diag::Span;

/// A form that has bindings.
pub(super) struct Binder {
    /// Its word.
    pub word: &'static str,
    /// The help that shows how it is written.
    pub help: &'static str,
    /// The help that shows how one of its bindings is written.
    pub one: &'static str,
}

/// The parts of a binding as data.
pub(super) struct Parts<'a> {
    /// The pattern without its type.
    pub name: DatumId,
    /// The colon after the pattern, and the type after that.
    annotation: Option<(DatumId, &'a [DatumId])>,
    /// The datum after the pattern.
    pub value: DatumId,
}

impl<'a> Parts<'a> {
    /// Returns the parts of `p e` and `p : T e`.
    pub fn of(data: &Data, items: &'a [DatumId]) -> Option<Parts<'a>> {
        match items {
            [pattern, value] => Some(Parts {
                name: *pattern,
                annotation: None,
                value: *value,
            }),
            [pattern, colon, ty @ .., value] if data.kind(*colon) == Kind::Colon => Some(Parts {
                name: *pattern,
                annotation: Some((*colon, ty)),
                value: *value,
            }),
            [..] => None,
        }
    }

    /// Parses the pattern with its type.
    pub fn pattern(&self, parser: &mut Parser<'a>) -> Pattern {
        let Some((colon, ty)) = self.annotation else {
            return patterns::pattern(parser, self.name);
        };
        let ty = type_sequence(parser, ty, parser.data.span(colon));
        let mut pattern = patterns::pattern(parser, self.name);
        patterns::annotate(parser, &mut pattern, ty);
        pattern
    }
}

/// Parses `(p e)` and `(p : T e)`.
pub(super) fn binding(
    parser: &mut Parser,
    id: DatumId,
    binder: &Binder,
) -> Option<(Pattern, ExpressionId)> {
    let span = parser.data.span(id);
    let Kind::List(items) = parser.data.kind(id) else {
        let message = format!(
            "expected a binding `(name value)`, found {}",
            describe(parser.data, id)
        );
        parser.bad_form(span, message, binder.help);
        parser.lose(&[id]);
        return None;
    };
    let parts = Parts::of(parser.data, items);
    let is_pair = items.len() == 2;
    if let Some(parts) = parts.filter(|_| !is_pair || !is_list_of_bindings(parser.data, items)) {
        let pattern = parts.pattern(parser);
        let value = parser.expression(parts.value);
        return Some((pattern, value));
    }
    let value = bad_binding(parser, items, span, binder);
    let pattern = Pattern {
        kind: PatternKind::Wildcard,
        annotation: None,
        span,
    };
    Some((pattern, value))
}

/// True for `((x 1) (y 2))`, the notation of Scheme.
fn is_list_of_bindings(data: &Data, items: &[DatumId]) -> bool {
    let is_binding = |&item: &DatumId| match data.kind(item) {
        Kind::List(&[name, second]) => {
            data.as_symbol(name).is_some() && data.kind(second) != Kind::Comma
        }
        _ => false,
    };
    items.first().is_some_and(is_binding)
}

/// Reports a binding that is none. Returns an expression for its value.
fn bad_binding<'a>(
    parser: &mut Parser<'a>,
    items: &'a [DatumId],
    span: Span,
    binder: &Binder,
) -> ExpressionId {
    if is_list_of_bindings(parser.data, items) {
        let message = format!(
            "the bindings of `{}` stand without parentheses around them all",
            binder.word
        );
        parser.bad_form(span, message, binder.help);
        parser.lose(items);
        return parser.placeholder(span);
    }
    let message = match items {
        [] => "this binding is empty".to_string(),
        [only] => match parser.data.as_symbol(*only) {
            Some(name) => format!("the value of `{name}` is missing"),
            None => "this binding has no value".into(),
        },
        [first, ..] => match parser.data.as_symbol(*first) {
            Some(name) => format!("expected one value for `{name}`, found several items"),
            None => "expected a name and one value, found more items".into(),
        },
    };
    parser.bad_form(span, message, binder.one);
    // The value remains in the tree, if it could be read.
    let (value, lost) = match items.split_last() {
        Some((value, lost)) if !lost.is_empty() => (std::slice::from_ref(value), lost),
        Some(_) | None => (&[][..], items),
    };
    parser.lose(lost);
    parser.recover(value, span)
}
