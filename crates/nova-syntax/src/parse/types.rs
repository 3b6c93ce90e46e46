//! Type expressions (language §3), and declarations of names with their types.

use super::is_reserved;
use super::parser::Parser;
use super::questions::{describe, position, span_of, split_at_commas};
use crate::ast::{LANES, Name, TypeId, TypeKind};
use crate::datum::{Data, DatumId, Kind};
use crate::names::node_name;
use nova_diag::{Diagnostic, Span, codes, deep};
use std::sync::Arc;

const TYPE: &str = "a type is `int`, `float`, …, `vector T`, `vector#2 T`, `(T, T)`, `T -> T`, `'a`, \
                    `Name`, `(Name T …)` or `(+ (A : T) …)`";

const SUM: &str = "a sum is `(+ (Some : int) (None : unit))`: constructors with the types of their \
                   payloads, `unit` where there is none";

/// A word that makes a type of the type after it.
#[derive(Clone, Copy)]
enum Prefix {
    /// `vector#n`, `vector`.
    Vector(u32),
    /// `vec#n`.
    Lanes(u32),
}

/// Parses `(name : T)`.
pub(super) fn declaration(
    parser: &mut Parser,
    id: DatumId,
    what: &str,
    help: &str,
) -> Option<(Name, TypeId)> {
    let declaration = read_declaration(parser, id, what, help);
    if declaration.is_none() {
        parser.lose(&[id]);
    }
    declaration
}

fn read_declaration(
    parser: &mut Parser,
    id: DatumId,
    what: &str,
    help: &str,
) -> Option<(Name, TypeId)> {
    match parser.data.kind(id) {
        Kind::List(items @ [_, colon, ..]) if parser.data.kind(*colon) == Kind::Colon => {
            declared(parser, items, what)
        }
        _ => {
            let message = match parser.data.head(id) {
                Some(name) if !is_reserved(name) => {
                    format!("expected `:` and a type after `{name}`")
                }
                _ => format!(
                    "expected {what} `(name : type)`, found {}",
                    describe(parser.data, id)
                ),
            };
            parser.bad_form(parser.data.span(id), message, help);
            None
        }
    }
}

/// Parses `(Constructor : T) …`, the items after the `+` of a sum.
pub(super) fn sum_constructors<'a>(
    parser: &mut Parser<'a>,
    items: &'a [DatumId],
    at: Span,
) -> Vec<(Name, TypeId)> {
    if items.is_empty() {
        parser.bad_form(at, "this sum has no constructors", SUM);
    }
    let mut constructors = Vec::new();
    for &item in items {
        if let Some((name, payload)) = declaration(parser, item, "a constructor", SUM) {
            match node_name(&name, "a node constructor") {
                None => constructors.push((name, payload)),
                Some(error) => {
                    parser.report(error);
                    parser.lose(&[item]);
                }
            }
        }
    }
    constructors
}

/// Parses `name : T`, once the colon is known to be there.
pub(super) fn declared<'a>(
    parser: &mut Parser<'a>,
    items: &'a [DatumId],
    what: &str,
) -> Option<(Name, TypeId)> {
    let [name, colon, ty @ ..] = items else {
        return None;
    };
    let ty = type_sequence(parser, ty, parser.data.span(*colon));
    Some((parser.name(*name, what)?, ty))
}

/// Parses a type whose parts are juxtaposed, as after a colon: `vector int -> int`. `before` is
/// the place before it.
pub(super) fn type_sequence<'a>(
    parser: &mut Parser<'a>,
    items: &'a [DatumId],
    before: Span,
) -> TypeId {
    if items.is_empty() {
        let message = "the type after this is missing";
        parser.bad_form(before, message, TYPE);
        return type_placeholder(parser, before);
    }
    let data = parser.data;
    let pieces = items.split(|&item| data.is_symbol(item, "->"));
    let mut parts: Vec<(TypeId, Span)> = Vec::new();
    let mut end = 0;
    for piece in pieces {
        let arrow = items
            .get(end)
            .map_or(before, |&item| parser.data.span(item));
        let near = span_of(parser.data, piece, arrow);
        parts.push((type_piece(parser, piece, near), near));
        end += piece.len() + 1;
    }
    let mut parts = parts.into_iter().rev();
    let Some((mut ty, mut span)) = parts.next() else {
        return type_placeholder(parser, before);
    };
    for (argument, argument_span) in parts {
        span = argument_span.to(span);
        ty = parser
            .program
            .add_type(TypeKind::Function(argument, ty), span);
    }
    ty
}

/// Adds a type in place of one with an error.
pub(super) fn type_placeholder(parser: &mut Parser, span: Span) -> TypeId {
    parser.program.add_type(TypeKind::Wrong, span)
}

/// Parses the items between two arrows: `vector vector#2 int`, `List int`, `int`.
fn type_piece<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], near: Span) -> TypeId {
    match items {
        [] => {
            parser.bad_form(near, "a type beside this `->` is missing", TYPE);
            type_placeholder(parser, near)
        }
        [first, rest @ ..] if parser.data.is_symbol(*first, "+") => {
            let constructors = sum_constructors(parser, rest, near);
            parser.program.add_type(TypeKind::Sum(constructors), near)
        }
        [only] => type_single(parser, *only),
        [first, rest @ ..] => match prefix(parser, *first) {
            Some(prefix) => {
                let mut prefixes = vec![(prefix, parser.data.span(*first))];
                let rest = split_prefixes(parser, rest, &mut prefixes);
                let element = match rest {
                    [] => return missing_element_type(parser, near),
                    [_, ..] => deep(|| type_piece(parser, rest, near)),
                };
                vectors(parser, prefixes, element)
            }
            None => type_application(parser, *first, rest, near),
        },
    }
}

/// Splits the leading `vector`s and `vec#n`s off `items`.
fn split_prefixes<'a>(
    parser: &mut Parser<'a>,
    items: &'a [DatumId],
    prefixes: &mut Vec<(Prefix, Span)>,
) -> &'a [DatumId] {
    let mut items = items;
    while let [first, rest @ ..] = items
        && let Some(prefix) = prefix(parser, *first)
    {
        prefixes.push((prefix, parser.data.span(*first)));
        items = rest;
    }
    items
}

/// Puts vectors around an element type, the last of them innermost.
fn vectors(parser: &mut Parser, prefixes: Vec<(Prefix, Span)>, element: TypeId) -> TypeId {
    let end = parser.program.ty(element).span;
    let around = prefixes.into_iter().rev();
    around.fold(element, |ty, (prefix, span)| {
        let kind = match prefix {
            Prefix::Vector(rank) => TypeKind::Vector(rank, ty),
            Prefix::Lanes(lanes) => TypeKind::Lanes(lanes, ty),
        };
        parser.program.add_type(kind, span.to(end))
    })
}

fn missing_element_type(parser: &mut Parser, span: Span) -> TypeId {
    let help = "the type of the elements follows: `vector float`";
    parser.bad_form(span, "`vector` of what?", help);
    type_placeholder(parser, span)
}

/// Parses `Name T …`.
fn type_application<'a>(
    parser: &mut Parser<'a>,
    head: DatumId,
    rest: &'a [DatumId],
    span: Span,
) -> TypeId {
    let mut arguments = Vec::new();
    let mut items = rest;
    while let [first, ..] = items {
        let mut prefixes = Vec::new();
        let after = split_prefixes(parser, items, &mut prefixes);
        match after {
            [] => {
                let at = parser.data.span(*first);
                return missing_element_type(parser, at);
            }
            [element, after @ ..] => {
                let element = type_single(parser, *element);
                arguments.push(vectors(parser, prefixes, element));
                items = after;
            }
        }
    }
    let Some(text) = parser.data.as_name(head) else {
        let message = format!(
            "expected the name of a type, found {}",
            describe(parser.data, head)
        );
        parser.bad_form(parser.data.span(head), message, TYPE);
        return type_placeholder(parser, span);
    };
    if parser.data.is_wrong(head) || !check_type_name(parser, text, parser.data.span(head)) {
        return type_placeholder(parser, span);
    }
    let name = Name {
        text: Arc::clone(text),
        span: parser.data.span(head),
    };
    parser
        .program
        .add_type(TypeKind::Apply(name, arguments), span)
}

/// Returns the `vector`, `vector#n` or `vec#n` that a datum is.
fn prefix(parser: &mut Parser, id: DatumId) -> Option<Prefix> {
    let name = parser.data.as_symbol(id)?;
    match name.strip_prefix("vec#") {
        Some(n) => Some(Prefix::Lanes(lanes(parser, n, parser.data.span(id)))),
        None => vector_rank(parser, id).map(Prefix::Vector),
    }
}

/// Parses the n of `vec#n`.
fn lanes(parser: &mut Parser, n: &str, span: Span) -> u32 {
    if let Ok(lanes) = n.parse()
        && LANES.contains(&lanes)
    {
        return lanes;
    }
    let help = "a `vec#n` has 2, 4, 8 or 16 elements: `vec#4 float`";
    parser.bad_form(span, format!("`vec#{n}` is no type"), help);
    LANES[0]
}

/// Returns the n of `vector#n`, or 1 for `vector`.
fn vector_rank(parser: &mut Parser, id: DatumId) -> Option<u32> {
    let name = parser.data.as_symbol(id)?;
    if name == "vector" {
        return Some(1);
    }
    let rank = name.strip_prefix("vector#")?;
    match rank.parse() {
        Ok(rank) if rank >= 1 => Some(rank),
        _ => {
            let message = format!("`{name}` is no type");
            let help = "the number of dimensions is at least 1: `vector#2 float`";
            parser.bad_form(parser.data.span(id), message, help);
            Some(1)
        }
    }
}

/// Parses a type that is one datum.
fn type_single(parser: &mut Parser, id: DatumId) -> TypeId {
    let span = parser.data.span(id);
    let kind = match parser.data.kind(id) {
        Kind::Symbol(_) if parser.data.is_wrong(id) => return type_placeholder(parser, span),
        Kind::Symbol(_) if is_vector(parser.data, id) => return missing_element_type(parser, span),
        Kind::Symbol(name) => match check_type_name(parser, name, span) {
            true => TypeKind::Name(Arc::clone(name)),
            false => return type_placeholder(parser, span),
        },
        Kind::TypeVariable(name) => TypeKind::Variable(Arc::clone(name)),
        Kind::List(items) => return deep(|| type_list(parser, items, span)),
        Kind::Number(_)
        | Kind::Text(_)
        | Kind::Colon
        | Kind::Comma
        | Kind::Vector(_)
        | Kind::Project(..) => {
            let message = format!("expected a type, found {}", describe(parser.data, id));
            parser.bad_form(span, message, TYPE);
            return type_placeholder(parser, span);
        }
    };
    parser.program.add_type(kind, span)
}

fn is_vector(data: &Data, id: DatumId) -> bool {
    let name = data.as_symbol(id);
    name.is_some_and(|name| {
        name == "vector" || name.starts_with("vector#") || name.starts_with("vec#")
    })
}

fn check_type_name(parser: &mut Parser, name: &str, span: Span) -> bool {
    if is_reserved(name) {
        let message = format!("expected a type, found the reserved word `{name}`");
        parser.bad_form(span, message, TYPE);
        return false;
    }
    if name == "_" || name == "." {
        let message = format!("expected a type, found `{name}`");
        parser.bad_form(span, message, TYPE);
        return false;
    }
    if name.contains("->") && name != "->" {
        let message = format!("`{name}` is one name");
        let help = "put blanks around the arrow: `int -> int`";
        parser.bad_form(span, message, help);
        return false;
    }
    true
}

/// Parses `( … )` in a type.
fn type_list<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) -> TypeId {
    if items.is_empty() {
        let message = "`()` is no type";
        parser.bad_form(span, message, "the type of `nil` is `unit`");
        return type_placeholder(parser, span);
    }
    if let Some(colon) = position(parser.data, items, Kind::Colon) {
        let at = parser.data.span(items[colon]);
        parser.report(
            Diagnostic::error(codes::UNEXPECTED_TOKEN, at, "unexpected `:` in a type").help(TYPE),
        );
        return type_placeholder(parser, span);
    }
    if position(parser.data, items, Kind::Comma).is_none() {
        return type_sequence(parser, items, span);
    }
    let mut parts = Vec::new();
    for segment in split_at_commas(parser.data, items) {
        if segment.is_empty() {
            let help = "a tuple type is `(T, T)`, with a type on both sides of each comma";
            parser.bad_form(span, "an element of this tuple type is missing", help);
            return type_placeholder(parser, span);
        }
        parts.push(type_sequence(parser, segment, span));
    }
    parser.program.add_type(TypeKind::Tuple(parts), span)
}
