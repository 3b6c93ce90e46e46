//! Type expressions (language §3).

use super::{Parser, is_reserved};
use crate::ast::{LANES, Name, TypeId, TypeKind};
use crate::datum::{DatumId, Kind};
use nova_diag::{Diagnostic, Span, codes, deep};
use std::sync::Arc;

const TYPE: &str = "a type is `int`, `float`, …, `vector T`, `vector#2 T`, `(T, T)`, `T -> T`, `'a`, \
                    `Name`, `(Name T …)` or `(+ (A : T) …)`";

/// A word that makes a type of the type after it.
#[derive(Clone, Copy)]
enum Prefix {
    /// `vector#n`, `vector`.
    Vector(u32),
    /// `vec#n`.
    Lanes(u32),
}

impl<'a> Parser<'a> {
    /// Parses a type whose parts are juxtaposed, as after a colon: `vector int -> int`. `before` is
    /// the place before it.
    pub(super) fn type_sequence(&mut self, items: &'a [DatumId], before: Span) -> TypeId {
        if items.is_empty() {
            let message = "the type after this is missing";
            self.bad_form(before, message, TYPE);
            return self.type_placeholder(before);
        }
        let data = self.data;
        let pieces = items.split(|&item| data.is_symbol(item, "->"));
        let mut parts: Vec<(TypeId, Span)> = Vec::new();
        let mut end = 0;
        for piece in pieces {
            let arrow = items.get(end).map_or(before, |&item| self.span(item));
            let near = self.span_of(piece, arrow);
            parts.push((self.type_piece(piece, near), near));
            end += piece.len() + 1;
        }
        let mut parts = parts.into_iter().rev();
        let Some((mut ty, mut span)) = parts.next() else {
            return self.type_placeholder(before);
        };
        for (argument, argument_span) in parts {
            span = argument_span.to(span);
            ty = self
                .program
                .add_type(TypeKind::Function(argument, ty), span);
        }
        ty
    }

    /// Adds a type in place of one with an error.
    pub(super) fn type_placeholder(&mut self, span: Span) -> TypeId {
        self.program.add_type(TypeKind::Wrong, span)
    }

    /// Parses the items between two arrows: `vector vector#2 int`, `List int`, `int`.
    fn type_piece(&mut self, items: &'a [DatumId], near: Span) -> TypeId {
        match items {
            [] => {
                self.bad_form(near, "a type beside this `->` is missing", TYPE);
                self.type_placeholder(near)
            }
            [first, rest @ ..] if self.data.is_symbol(*first, "+") => {
                let constructors = self.constructors(rest, near);
                self.program.add_type(TypeKind::Sum(constructors), near)
            }
            [only] => self.type_single(*only),
            [first, rest @ ..] => match self.prefix(*first) {
                Some(prefix) => {
                    let mut prefixes = vec![(prefix, self.span(*first))];
                    let rest = self.prefixes(rest, &mut prefixes);
                    let element = match rest {
                        [] => return self.missing_element_type(near),
                        [_, ..] => deep(|| self.type_piece(rest, near)),
                    };
                    self.vectors(prefixes, element)
                }
                None => self.type_application(*first, rest, near),
            },
        }
    }

    /// Splits the leading `vector`s and `vec#n`s off `items`.
    fn prefixes(
        &mut self,
        items: &'a [DatumId],
        prefixes: &mut Vec<(Prefix, Span)>,
    ) -> &'a [DatumId] {
        let mut items = items;
        while let [first, rest @ ..] = items
            && let Some(prefix) = self.prefix(*first)
        {
            prefixes.push((prefix, self.span(*first)));
            items = rest;
        }
        items
    }

    /// Puts vectors around an element type, the last of them innermost.
    fn vectors(&mut self, prefixes: Vec<(Prefix, Span)>, element: TypeId) -> TypeId {
        let end = self.program.ty(element).span;
        let around = prefixes.into_iter().rev();
        around.fold(element, |ty, (prefix, span)| {
            let kind = match prefix {
                Prefix::Vector(rank) => TypeKind::Vector(rank, ty),
                Prefix::Lanes(lanes) => TypeKind::Lanes(lanes, ty),
            };
            self.program.add_type(kind, span.to(end))
        })
    }

    fn missing_element_type(&mut self, span: Span) -> TypeId {
        let help = "the type of the elements follows: `vector float`";
        self.bad_form(span, "`vector` of what?", help);
        self.type_placeholder(span)
    }

    /// Parses `Name T …`.
    fn type_application(&mut self, head: DatumId, rest: &'a [DatumId], span: Span) -> TypeId {
        let mut arguments = Vec::new();
        let mut items = rest;
        while let [first, ..] = items {
            let mut prefixes = Vec::new();
            let after = self.prefixes(items, &mut prefixes);
            match after {
                [] => {
                    let at = self.span(*first);
                    return self.missing_element_type(at);
                }
                [element, after @ ..] => {
                    let element = self.type_single(*element);
                    arguments.push(self.vectors(prefixes, element));
                    items = after;
                }
            }
        }
        let Some(text) = self.data.as_name(head) else {
            let message = format!("expected the name of a type, found {}", self.describe(head));
            self.bad_form(self.span(head), message, TYPE);
            return self.type_placeholder(span);
        };
        if self.data.is_wrong(head) || !self.check_type_name(text, self.span(head)) {
            return self.type_placeholder(span);
        }
        let name = Name {
            text: Arc::clone(text),
            span: self.span(head),
        };
        self.program
            .add_type(TypeKind::Apply(name, arguments), span)
    }

    /// Returns the `vector`, `vector#n` or `vec#n` that a datum is.
    fn prefix(&mut self, id: DatumId) -> Option<Prefix> {
        let name = self.data.as_symbol(id)?;
        match name.strip_prefix("vec#") {
            Some(lanes) => Some(Prefix::Lanes(self.lanes(lanes, self.span(id)))),
            None => self.vector_rank(id).map(Prefix::Vector),
        }
    }

    /// Parses the n of `vec#n`.
    fn lanes(&mut self, n: &str, span: Span) -> u32 {
        if let Ok(lanes) = n.parse()
            && LANES.contains(&lanes)
        {
            return lanes;
        }
        let help = "a `vec#n` has 2, 4, 8 or 16 elements: `vec#4 float`";
        self.bad_form(span, format!("`vec#{n}` is no type"), help);
        LANES[0]
    }

    /// Returns the n of `vector#n`, or 1 for `vector`.
    fn vector_rank(&mut self, id: DatumId) -> Option<u32> {
        let name = self.data.as_symbol(id)?;
        if name == "vector" {
            return Some(1);
        }
        let rank = name.strip_prefix("vector#")?;
        match rank.parse() {
            Ok(rank) if rank >= 1 => Some(rank),
            _ => {
                let message = format!("`{name}` is no type");
                let help = "the number of dimensions is at least 1: `vector#2 float`";
                self.bad_form(self.span(id), message, help);
                Some(1)
            }
        }
    }

    /// Parses a type that is one datum.
    fn type_single(&mut self, id: DatumId) -> TypeId {
        let span = self.span(id);
        let kind = match self.kind(id) {
            Kind::Symbol(_) if self.data.is_wrong(id) => return self.type_placeholder(span),
            Kind::Symbol(_) if self.is_vector(id) => return self.missing_element_type(span),
            Kind::Symbol(name) => match self.check_type_name(name, span) {
                true => TypeKind::Name(Arc::clone(name)),
                false => return self.type_placeholder(span),
            },
            Kind::TypeVariable(name) => TypeKind::Variable(Arc::clone(name)),
            Kind::List(items) => return deep(|| self.type_list(items, span)),
            Kind::Number(_)
            | Kind::Text(_)
            | Kind::Colon
            | Kind::Comma
            | Kind::Vector(_)
            | Kind::Project(..) => {
                let message = format!("expected a type, found {}", self.describe(id));
                self.bad_form(span, message, TYPE);
                return self.type_placeholder(span);
            }
        };
        self.program.add_type(kind, span)
    }

    fn is_vector(&self, id: DatumId) -> bool {
        let name = self.data.as_symbol(id);
        name.is_some_and(|name| {
            name == "vector" || name.starts_with("vector#") || name.starts_with("vec#")
        })
    }

    fn check_type_name(&mut self, name: &str, span: Span) -> bool {
        if is_reserved(name) {
            let message = format!("expected a type, found the reserved word `{name}`");
            self.bad_form(span, message, TYPE);
            return false;
        }
        if name == "_" || name == "." {
            let message = format!("expected a type, found `{name}`");
            self.bad_form(span, message, TYPE);
            return false;
        }
        if name.contains("->") && name != "->" {
            let message = format!("`{name}` is one name");
            let help = "put blanks around the arrow: `int -> int`";
            self.bad_form(span, message, help);
            return false;
        }
        let later = name != "*" && name.ends_with('*');
        if later {
            let message = format!("the type `{name}` is not supported yet");
            self.error(codes::NOT_SUPPORTED, span, message);
        }
        !later
    }

    /// Parses `( … )` in a type.
    fn type_list(&mut self, items: &'a [DatumId], span: Span) -> TypeId {
        if items.is_empty() {
            let message = "`()` is no type";
            self.bad_form(span, message, "the type of `nil` is `unit`");
            return self.type_placeholder(span);
        }
        if let Some(colon) = self.position(items, Kind::Colon) {
            let at = self.span(items[colon]);
            self.report(
                Diagnostic::error(codes::UNEXPECTED_TOKEN, at, "unexpected `:` in a type")
                    .help(TYPE),
            );
            return self.type_placeholder(span);
        }
        if self.position(items, Kind::Comma).is_none() {
            return self.type_sequence(items, span);
        }
        let mut parts = Vec::new();
        for segment in self.split_at_commas(items) {
            if segment.is_empty() {
                let help = "a tuple type is `(T, T)`, with a type on both sides of each comma";
                self.bad_form(span, "an element of this tuple type is missing", help);
                return self.type_placeholder(span);
            }
            parts.push(self.type_sequence(segment, span));
        }
        self.program.add_type(TypeKind::Tuple(parts), span)
    }
}
