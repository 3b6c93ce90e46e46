//! The forms of data-parallel recursion: `foreach up dn` (language §6).

use super::bindings::{Binder, Parts, binding};
use super::parser::Parser;
use super::patterns;
use super::questions::{describe, position, span_of};
use crate::ast::{ExpressionId, ExpressionKind, Name, NodeBody, Pattern};
use crate::datum::{Data, DatumId, Kind};
use nova_diag::Span;

const FOREACH: &str = "write `(foreach (x M) (f d) body)`: a node `x` of the datum `M`, a function `f` \
                       that renames links and `d` that follows them, and the new node";
const GROUP: &str = "for types that contain each other write `(foreach ((x M) (y Forest)) (f d) \
                     body body)`: the datum, the names of the other types, and a body for each";
const LINKS: &str = "`f` and `d` are two names without types: `(foreach (x M) (f d) body)`; `_` is \
                     the name of one that is not used";
const UP: &str =
    "write `(up body (x M) (y N))`: a node, then a name for each datum that it links to";
const DN: &str = "write `(dn M)` for the root node of the datum `M`";

const UP_BINDER: Binder = Binder {
    word: "up",
    help: UP,
    one: "a link is `(name datum)`; an application stands in parentheses of its own: \
          `(up body (x (g L)))`",
};

/// The datum and types of a `foreach`: `(x M)`, or `((x M) (y T) …)` for a group.
#[derive(Default)]
struct Head {
    /// The datum, if it could be read.
    datum: Option<ExpressionId>,
    /// The pattern of a node, and the type's name in a group. The first is the datum's.
    nodes: Vec<(Pattern, Option<Name>)>,
    /// The patterns as data.
    patterns: Vec<DatumId>,
    /// True if there was an error.
    wrong: bool,
}

/// Parses a `foreach`.
pub(super) fn foreach<'a>(
    parser: &mut Parser<'a>,
    items: &'a [DatumId],
    span: Span,
) -> ExpressionId {
    let [first, second, bodies @ ..] = items else {
        return without_bodies(parser, items, span);
    };
    if bodies.is_empty() {
        return without_bodies(parser, items, span);
    }
    let head = head(parser, *first, bodies.len());
    let links = links(parser, *second);
    let complete = head.nodes.len() == bodies.len();
    if !complete && !head.wrong && links.is_some() {
        wrong_count(parser, head.nodes.len(), bodies, span);
    }
    let bodies = parser.expressions(bodies);
    let (Some(datum), Some(links), true) = (head.datum, links, complete && !head.wrong) else {
        parser.lose(&head.patterns);
        parser.lose(&[*second]);
        return parser.wrong(head.datum.into_iter().chain(bodies).collect(), span);
    };
    for (pattern, _) in &head.nodes {
        patterns::distinct(parser, [std::slice::from_ref(pattern), &links[..]]);
    }
    let nodes = head.nodes.into_iter().zip(bodies);
    let nodes = nodes.map(|((pattern, ty), body)| NodeBody { pattern, ty, body });
    let kind = ExpressionKind::Foreach {
        datum,
        links,
        nodes: nodes.collect(),
    };
    parser.program.add(kind, span)
}

/// Reports a `foreach` of fewer than three items.
fn without_bodies<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) -> ExpressionId {
    let are_links = |&id: &DatumId| match parser.data.kind(id) {
        Kind::List(&[f, d]) => [f, d].iter().all(|&id| parser.data.as_symbol(id).is_some()),
        _others => false,
    };
    let (message, rest) = match items {
        [] => ("this `foreach` is empty", &[][..]),
        [_] => (
            "the functions `(f d)` and the body of this `foreach` are missing",
            &[][..],
        ),
        [_, second] if are_links(second) => ("the body of this `foreach` is missing", &[][..]),
        [_, rest @ ..] => ("the functions `(f d)` of this `foreach` are missing", rest),
    };
    parser.bad_form(span, message, FOREACH);
    parser.lose(&items[..items.len() - rest.len()]);
    parser.recover(rest, span)
}

/// Reports that there are not as many bodies as types.
fn wrong_count(parser: &mut Parser, types: usize, bodies: &[DatumId], span: Span) {
    let count = bodies.len();
    if types == 1 {
        let at = span_of(parser.data, &bodies[1..], span);
        let message = format!("expected one body, found {count}");
        let help = format!("put an application into parentheses; {GROUP}");
        parser.bad_form(at, message, help);
        return;
    }
    let of_bodies = match count {
        1 => "one body".to_string(),
        _ => format!("{count} bodies"),
    };
    let message = format!("this `foreach` goes over {types} types and has {of_bodies}");
    parser.bad_form(span, message, GROUP);
}

/// Parses the first item of a `foreach` that has a number of bodies.
fn head(parser: &mut Parser, id: DatumId, bodies: usize) -> Head {
    let items = match parser.data.kind(id) {
        Kind::List(items) if !items.is_empty() => items,
        _others => {
            let found = describe(parser.data, id);
            let message = format!("expected a node and its datum `(x M)`, found {found}");
            return wrong_head(parser, id, message, FOREACH);
        }
    };
    if is_group(parser.data, items, bodies) {
        return group(parser, items);
    }
    let Some(parts) = Parts::of(parser.data, items) else {
        if items.len() == 1 {
            let message = "the datum that this `foreach` goes over is missing";
            return wrong_head(parser, id, message, FOREACH);
        }
        let message = "expected a name and one datum, found more items";
        let help = "an application stands in parentheses: `(foreach (x (g L)) (f d) body)`";
        return wrong_head(parser, id, message, help);
    };
    let pattern = parts.pattern(parser);
    Head {
        datum: Some(parser.expression(parts.value)),
        nodes: vec![(pattern, None)],
        patterns: vec![parts.name],
        wrong: false,
    }
}

/// Reports the first item of a `foreach` that cannot be read.
fn wrong_head(parser: &mut Parser, id: DatumId, message: impl Into<String>, help: &str) -> Head {
    parser.bad_form(parser.data.span(id), message, help);
    parser.lose(&[id]);
    Head {
        wrong: true,
        ..Head::default()
    }
}

/// True if the first item of a `foreach` names the types of a group.
fn is_group(data: &Data, items: &[DatumId], bodies: usize) -> bool {
    let first = items.first().and_then(|&first| data.as_list(first));
    match first {
        Some([_, second]) => !matches!(data.kind(*second), Kind::Comma | Kind::Colon),
        // `((x : vector T) M)` has this form, too.
        Some([_, colon, _, _, ..]) if data.kind(*colon) == Kind::Colon => {
            items.len() != 2 || bodies != 1
        }
        Some(_) | None => false,
    }
}

/// Parses `(x M) (y T) …`.
fn group<'a>(parser: &mut Parser<'a>, items: &'a [DatumId]) -> Head {
    let mut head = Head::default();
    for (index, &item) in items.iter().enumerate() {
        let list = parser.data.as_list(item);
        let Some(parts) = list.and_then(|list| Parts::of(parser.data, list)) else {
            let found = describe(parser.data, item);
            let message = format!("expected a node and its type `(y T)`, found {found}");
            parser.bad_form(parser.data.span(item), message, GROUP);
            parser.lose(&[item]);
            head.wrong = true;
            continue;
        };
        let pattern = parts.pattern(parser);
        head.patterns.push(parts.name);
        if index == 0 {
            head.datum = Some(parser.expression(parts.value));
            head.nodes.push((pattern, None));
            continue;
        }
        match type_name(parser, parts.value) {
            None => head.wrong = true,
            name => head.nodes.push((pattern, name)),
        }
    }
    head
}

/// Parses the name of a type of a group.
fn type_name(parser: &mut Parser, id: DatumId) -> Option<Name> {
    if parser.data.as_name(id).is_some() {
        return parser.name(id, "a type");
    }
    let found = describe(parser.data, id);
    let message = format!("expected the name of a type of the group, found {found}");
    let help = "only the first node has a datum; for the others their type is named, without \
                arguments: `(foreach ((x M) (y Forest)) (f d) body body)`";
    parser.bad_form(parser.data.span(id), message, help);
    None
}

/// Parses `(f d)`.
fn links(parser: &mut Parser, id: DatumId) -> Option<Box<[Pattern; 2]>> {
    let span = parser.data.span(id);
    let &[f, d] = parser.data.as_list(id).unwrap_or_default() else {
        let items = parser.data.as_list(id).unwrap_or_default();
        let message = match position(parser.data, items, Kind::Comma) {
            Some(_) => "no comma stands between the two functions of `foreach`".to_string(),
            None => {
                let found = describe(parser.data, id);
                format!("expected the two functions `(f d)`, found {found}")
            }
        };
        parser.bad_form(span, message, LINKS);
        return None;
    };
    let roles = [(f, "renames"), (d, "follows")];
    let mut named = true;
    for (function, role) in roles {
        if parser.data.as_symbol(function).is_none() {
            let found = describe(parser.data, function);
            let message =
                format!("expected a name for the function that {role} links, found {found}");
            parser.bad_form(parser.data.span(function), message, LINKS);
            named = false;
        }
    }
    let patterns = named.then(|| patterns::patterns(parser, &[f, d]))?;
    <[Pattern; 2]>::try_from(patterns).ok().map(Box::new)
}

/// Parses an `up`.
pub(super) fn up<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) -> ExpressionId {
    let Some((&body, links)) = items.split_first() else {
        parser.bad_form(span, "this `up` is empty", UP);
        return parser.placeholder(span);
    };
    let links: Vec<_> = links
        .iter()
        .filter_map(|&link| binding(parser, link, &UP_BINDER))
        .collect();
    let patterns = links
        .iter()
        .map(|(pattern, _)| std::slice::from_ref(pattern));
    patterns::distinct(parser, patterns);
    let body = parser.expression(body);
    parser.program.add(ExpressionKind::Up { body, links }, span)
}

/// Parses a `dn`.
pub(super) fn down<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) -> ExpressionId {
    let &[datum] = items else {
        let (message, help) = match items.len() {
            0 => (
                "the datum of this `dn` is missing".to_string(),
                DN.to_string(),
            ),
            count => {
                let help = "an application stands in parentheses: `(dn (g L))`".to_string();
                (format!("expected one datum, found {count} items"), help)
            }
        };
        parser.bad_form(span, message, help);
        return parser.recover(items, span);
    };
    let datum = parser.expression(datum);
    parser.program.add(ExpressionKind::Down(datum), span)
}
