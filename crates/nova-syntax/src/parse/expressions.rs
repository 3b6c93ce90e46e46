//! Expressions without a keyword: names, constants, tuples, application, projection, reading an
//! element, annotation.

use super::is_reserved;
use super::parser::Parser;
use super::questions::{describe, position, span_of, split_at_commas};
use super::types::type_sequence;
use crate::ast::{ExpressionId, ExpressionKind};
use crate::datum::{Data, DatumId, Kind};
use nova_diag::{Diagnostic, Span, codes, deep};
use std::sync::Arc;

impl<'a> Parser<'a> {
    /// Parses the items of a form with an error, to find the errors in them.
    pub(super) fn recover(&mut self, items: &[DatumId], span: Span) -> ExpressionId {
        let mut parts = Vec::new();
        for &item in items {
            match self.data.kind(item) {
                Kind::List(_) | Kind::Vector(_) | Kind::Project(..) => {
                    parts.push(self.expression(item));
                }
                Kind::Symbol(_)
                | Kind::TypeVariable(_)
                | Kind::Number(_)
                | Kind::Text(_)
                | Kind::Colon
                | Kind::Comma => {}
            }
        }
        self.wrong(parts, span)
    }

    /// Parses an expression.
    pub(super) fn expression(&mut self, id: DatumId) -> ExpressionId {
        let id = ungroup(self.data, id);
        let span = self.data.span(id);
        let kind = match self.data.kind(id) {
            Kind::Symbol(_) | Kind::Number(_) if self.data.is_wrong(id) => {
                ExpressionKind::Wrong(Vec::new())
            }
            Kind::Symbol(name) => return self.symbol(name, span),
            Kind::Number(number) => ExpressionKind::Number(number.clone()),
            Kind::Text(bytes) => ExpressionKind::Text(Arc::clone(bytes)),
            Kind::Vector(items) => ExpressionKind::Vector(self.elements(items)),
            Kind::List(items) => return deep(|| self.list(items, span)),
            Kind::Project(of, index, index_span) => {
                let of = deep(|| self.expression(of));
                ExpressionKind::Project(of, index, index_span)
            }
            Kind::TypeVariable(_) | Kind::Colon | Kind::Comma => {
                let message = format!("expected an expression, found {}", describe(self.data, id));
                self.error(codes::UNEXPECTED_TOKEN, span, message);
                ExpressionKind::Wrong(Vec::new())
            }
        };
        self.program.add(kind, span)
    }

    fn symbol(&mut self, name: &Arc<str>, span: Span) -> ExpressionId {
        let kind = match &**name {
            "true" => ExpressionKind::Bool(true),
            "false" => ExpressionKind::Bool(false),
            "nil" => ExpressionKind::Nil,
            "_" | "." | "'" => {
                let message = format!("`{name}` is no expression");
                self.error(codes::UNEXPECTED_TOKEN, span, message);
                ExpressionKind::Wrong(Vec::new())
            }
            word if is_reserved(word) => {
                self.misplaced_word(word, span);
                ExpressionKind::Wrong(Vec::new())
            }
            _ => ExpressionKind::Name(Arc::clone(name)),
        };
        self.program.add(kind, span)
    }

    fn misplaced_word(&mut self, word: &str, span: Span) {
        let message = format!("the reserved word `{word}` cannot stand here");
        let help = match word {
            "in" => "`in` belongs into `let`: `(let (x 1) in (+ x x))`",
            "then" | "else" => "`then` and `else` belong into `if`: `(if c then a else b)`",
            "dn" => "`dn` is no function; one is `(lambda (x) (dn x))`",
            _ => "a form begins with its word: `(let …)`, `(lambda …)`, `(define …)`",
        };
        self.report(Diagnostic::error(codes::UNEXPECTED_TOKEN, span, message).help(help));
    }

    /// Parses the elements of `[ … ]`.
    fn elements(&mut self, items: &'a [DatumId]) -> Vec<ExpressionId> {
        if let Some(comma) = position(self.data, items, Kind::Comma) {
            let help = "only blanks stand between the elements of a vector: `[1 2 3]`";
            self.report(
                Diagnostic::error(
                    codes::UNEXPECTED_TOKEN,
                    self.data.span(items[comma]),
                    "unexpected `,` in a vector",
                )
                .help(help),
            );
        }
        let is_element = |&&item: &&DatumId| self.data.kind(item) != Kind::Comma;
        let elements: Vec<DatumId> = items.iter().filter(is_element).copied().collect();
        deep(|| self.expressions(&elements))
    }

    pub(super) fn expressions(&mut self, items: &[DatumId]) -> Vec<ExpressionId> {
        self.warn_of_subscripts(items);
        items.iter().map(|&item| self.expression(item)).collect()
    }

    /// Warns where a vector of one element stands right behind an expression: `X[0]` are two expressions.
    pub(super) fn warn_of_subscripts(&mut self, items: &[DatumId]) {
        for pair in items.windows(2) {
            if let [of, index] = pair
                && let Some(element) = self.subscript(*of, *index)
            {
                let span = self.data.span(*of).to(self.data.span(*index));
                let message = "these are two expressions, the second a vector of one element";
                let warning = Diagnostic::warning(codes::SUBSCRIPT, span, message)
                    .help(format!("an element is read with `{element}`"));
                self.report(warning);
            }
        }
    }

    /// Returns `(X ! 0)` where the second datum stands right behind the first as in `X[0]`.
    fn subscript(&self, of: DatumId, index: DatumId) -> Option<String> {
        let Kind::Vector(elements) = self.data.kind(index) else {
            return None;
        };
        let [element] = elements else {
            return None;
        };
        let (before, behind) = (self.data.span(of), self.data.span(index));
        let is_glued = before.file == behind.file && before.end == behind.start;
        let (of, element) = (self.data.write(of), self.data.write(*element));
        is_glued.then(|| format!("({of} ! {element})"))
    }

    /// Parses `( … )` of any length but one.
    fn list(&mut self, items: &'a [DatumId], span: Span) -> ExpressionId {
        let Some((&head, rest)) = items.split_first() else {
            return self.program.add(ExpressionKind::Nil, span);
        };
        if let Some(word) = self.data.as_symbol(head)
            && let Some(form) = super::forms::find(word)
        {
            return form(self, rest, span);
        }
        if position(self.data, items, Kind::Comma).is_some() {
            return self.tuple(items, span);
        }
        if let Some(colon) = position(self.data, items, Kind::Colon) {
            return self.annotation(items, colon, span);
        }
        if let [of, operator, argument] = items {
            if self.data.is_symbol(*operator, "!") {
                return self.index(*of, *argument, span);
            }
            if self.data.is_symbol(*operator, ".") {
                return self.projection(*of, *argument, span);
            }
        }
        self.application(head, rest, span)
    }

    fn index(&mut self, of: DatumId, index: DatumId, span: Span) -> ExpressionId {
        let of = self.expression(of);
        let index = self.expression(index);
        self.program.add(ExpressionKind::Index(of, index), span)
    }

    /// Parses `(e . k)`.
    fn projection(&mut self, of: DatumId, index: DatumId, span: Span) -> ExpressionId {
        let of = self.expression(of);
        match self.data.as_index::<u32>(index) {
            Some(number) => {
                let kind = ExpressionKind::Project(of, number, self.data.span(index));
                self.program.add(kind, span)
            }
            None => {
                let found = describe(self.data, index);
                let message = format!("expected the number of a tuple's element, found {found}");
                let help = "elements count from 0: `(e . 0)` or `e.0` is the first";
                self.bad_form(self.data.span(index), message, help);
                self.wrong(vec![of], span)
            }
        }
    }

    fn application(&mut self, head: DatumId, rest: &'a [DatumId], span: Span) -> ExpressionId {
        if let Some(&operator) = rest.first() {
            let help = match self.data.as_symbol(operator) {
                Some("!") => "one index follows `!`: `(v ! i)`, or `(m ! (i, j))`",
                Some(".") => "one number follows the point: `(e . 0)`",
                _ => "",
            };
            if !help.is_empty() {
                let message = format!(
                    "`{}` takes one item on each side",
                    self.data.write(operator)
                );
                self.bad_form(self.data.span(operator), message, help);
                let parts = vec![self.recover(&[head], span), self.recover(rest, span)];
                return self.wrong(parts, span);
            }
        }
        if let Some(&first) = rest.first() {
            self.warn_of_subscripts(&[head, first]);
        }
        let function = self.expression(head);
        let arguments = self.expressions(rest);
        self.program
            .add(ExpressionKind::Apply(function, arguments), span)
    }

    fn tuple(&mut self, items: &'a [DatumId], span: Span) -> ExpressionId {
        let mut elements = Vec::new();
        let mut missing = false;
        let mut at = self.data.span(items[0]);
        for segment in split_at_commas(self.data, items) {
            at = span_of(self.data, segment, at);
            match segment {
                [] => missing = true,
                [only] => elements.push(self.expression(*only)),
                [..] => elements.push(self.tuple_element(segment, at)),
            }
        }
        if missing {
            let help = "a tuple is `(a, b)`, with an expression on both sides of each comma";
            self.bad_form(span, "an element of this tuple is missing", help);
            return self.wrong(elements, span);
        }
        self.program.add(ExpressionKind::Tuple(elements), span)
    }

    /// Parses several items between two commas.
    fn tuple_element(&mut self, segment: &'a [DatumId], span: Span) -> ExpressionId {
        if let Some(colon) = position(self.data, segment, Kind::Colon) {
            return self.annotation(segment, colon, span);
        }
        let help = "an element of a tuple is one expression; put an application into parentheses \
                    of its own: `((f x), y)`, and a tuple that is an argument too: `(f (x, y))`";
        self.bad_form(span, "these items stand between two commas", help);
        self.recover(segment, span)
    }

    /// Parses `(e : T)`, and the same between commas.
    fn annotation(&mut self, items: &'a [DatumId], colon: usize, span: Span) -> ExpressionId {
        let colon_span = self.data.span(items[colon]);
        let ty = type_sequence(self, &items[colon + 1..], colon_span);
        match items[..colon] {
            [value] => {
                let value = self.expression(value);
                self.program.add(ExpressionKind::Annotate(value, ty), span)
            }
            _ => {
                let at = span_of(self.data, &items[..colon], colon_span);
                let help = "an annotation is `(e : T)` with one expression; put an application \
                            into parentheses of its own: `((f x) : T)`";
                self.bad_form(at, "expected one expression before `:`", help);
                self.recover(&items[..colon], span)
            }
        }
    }
}

/// Removes redundant parentheses.
fn ungroup(data: &Data, mut id: DatumId) -> DatumId {
    while let Kind::List(&[inner]) = data.kind(id)
        && !data.as_symbol(inner).is_some_and(is_reserved)
    {
        id = inner;
    }
    id
}
