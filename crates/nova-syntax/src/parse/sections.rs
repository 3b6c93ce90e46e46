//! The top level of a file: inputs, sections, entries, the expression (language §2).

use super::{Parser, is_reserved};
use crate::ast::{
    Definition, Entry, ExpressionId, ExpressionKind, Foreign, ForeignKind, Import, Name,
    TypeDefinition, TypeDefinitionKind, TypeId,
};
use crate::datum::{DatumId, Kind};
use crate::names::{check_names, repeated};
use nova_diag::{Diagnostic, Span, codes};

/// Parses the items after a section's word. The span is that of the whole section.
type Section = for<'a> fn(&mut Parser<'a>, &'a [DatumId], Span);

/// The sections by their words.
const SECTIONS: [(&str, Section); 5] = [
    ("types", |parser, items, span| parser.types(items, span)),
    ("foreign", |parser, items, span| parser.foreign(items, span)),
    ("import", |parser, items, span| parser.import(items, span)),
    ("define", |parser, items, span| parser.define(items, span)),
    ("entry", |parser, items, span| parser.entry(items, span)),
];

/// Mistaken words, with the words of the sections that they stand for.
const MISTAKEN_WORDS: [(&str, &str); 12] = [
    ("type", "types"),
    ("typedef", "types"),
    ("data", "types"),
    ("datatype", "types"),
    ("def", "define"),
    ("defun", "define"),
    ("defines", "define"),
    ("imports", "import"),
    ("include", "import"),
    ("extern", "foreign"),
    ("external", "foreign"),
    ("entries", "entry"),
];

pub(super) const PROGRAM_EXAMPLE: &str = "a program is its inputs and an expression: `((X : vector float)) (reduce + 0.0 X)`; \
     the inputs are `()` when there are none";
const INPUTS: &str = "the inputs are `((X : vector float) (n : int))`, each with its type";
const TYPES: &str =
    "write `(types (Point : (float, float)) (Maybe 'a : (+ (Some : 'a) (None : unit))))`";
const SUM: &str = "a sum is `(+ (Some : int) (None : unit))`: constructors with the types of their \
                   payloads, `unit` where there is none";
const DEFINE: &str = "write `(define (name value) …)`, functions with `lambda`: \
                      `(define (twice (lambda (x) (+ x x))))`";
const FOREIGN: &str = "write `(foreign (name : int -> int) …)`, with `effect` or `device` before the \
                       name of a function that has effects or is code of the device";
const IMPORT: &str = "write `(import \"file.nova\")`";
const ENTRY: &str = "write `(entry name ((X : vector int)) (reduce + 0 X))`";

impl<'a> Parser<'a> {
    /// Parses a whole file.
    pub(super) fn program(&mut self, end: Span, default_name: &str) {
        let mut plain = Vec::new();
        for &root in self.data.roots() {
            match self.section_of(root) {
                _ if self.data.is_broken(root) => self.lose(&[root]),
                Some((section, items)) => section(self, items, self.span(root)),
                None => plain.push(root),
            }
        }
        let broken = self.data.has_broken();
        self.program.lost.any |= self.data.end_lost;
        if !broken || !plain.is_empty() {
            self.value(&plain, broken, end, default_name);
        }
        self.diagnostics.extend(check_names(&self.program, &[]));
    }

    fn section_of(&self, root: DatumId) -> Option<(Section, &'a [DatumId])> {
        let (word, items) = self.data.form(root)?;
        let (_, section) = SECTIONS.iter().find(|(name, _)| *name == word)?;
        Some((*section, items))
    }

    /// Parses the inputs and the expression, which are the forms that are no sections.
    fn value(&mut self, plain: &[DatumId], broken: bool, end: Span, default_name: &str) {
        if !self.program.entries.is_empty() {
            self.forms_beside_entries(plain);
            return;
        }
        let (inputs, rest) = self.find_inputs(plain);
        let inputs_span = inputs.first().map(|&form| self.span(form));
        let inputs = match inputs {
            [] => Vec::new(),
            [form] if !self.is_declaration(*form) => self.inputs(*form),
            [..] => {
                let span = self.span_of(inputs, end);
                let message = "the inputs stand in parentheses of their own";
                self.bad_form(span, message, INPUTS);
                inputs.iter().filter_map(|&form| self.input(form)).collect()
            }
        };
        let Some((&expression, more)) = rest.split_first() else {
            if let (Some(at), false) = (inputs_span, broken) {
                let message = "the program has no expression";
                self.report(
                    Diagnostic::error(codes::BAD_PROGRAM, at, message).help(PROGRAM_EXAMPLE),
                );
            }
            return;
        };
        let span = self.span(expression);
        if !broken {
            self.report_more_expressions(expression, more);
        }
        let mut values = Vec::new();
        for &form in &rest {
            if more.is_empty() || !self.is_mistaken_section(form) {
                values.push(self.expression(form));
            } else {
                self.lose(&[form]);
            }
        }
        let body = match (values.first().copied(), more) {
            (Some(only), []) => only,
            (Some(_) | None, [..]) => self.wrong(values, span),
        };
        self.program.entries.push(Entry {
            name: Name {
                text: default_name.into(),
                span,
            },
            inputs,
            body,
            explicit: false,
            span: inputs_span.map_or(span, |inputs| inputs.to(span)),
        });
    }

    /// Returns the forms that declare the inputs, and the rest in order.
    fn find_inputs<'p>(&self, plain: &'p [DatumId]) -> (&'p [DatumId], Vec<DatumId>) {
        let mut at = plain.iter().position(|&form| self.is_inputs(form));
        let mut count = 1;
        if at.is_none() && plain.len() > 1 {
            // Inputs with an error in them, or without their own parentheses.
            let declarations = plain.iter().take_while(|&&form| self.is_declaration(form));
            count = declarations.count().min(plain.len() - 1);
            if count > 0 {
                at = Some(0);
            } else if self.looks_like_inputs(plain[0]) {
                (at, count) = (Some(0), 1);
            }
        }
        match at {
            None => (&[], plain.to_vec()),
            Some(at) => {
                let rest = [&plain[..at], &plain[at + count..]].concat();
                (&plain[at..at + count], rest)
            }
        }
    }

    /// True for `()` or `((name : …) …)`.
    fn is_inputs(&self, form: DatumId) -> bool {
        let items = self.data.as_list(form);
        items.is_some_and(|items| items.iter().all(|&item| self.is_declaration(item)))
    }

    /// True for `(name : …)`.
    fn is_declaration(&self, form: DatumId) -> bool {
        match self.data.as_list(form) {
            Some([name, colon, ..]) => {
                self.data.as_symbol(*name).is_some() && self.kind(*colon) == Kind::Colon
            }
            _ => false,
        }
    }

    /// True for a form that may be intended as the inputs form but is not one. It begins with an
    /// input, or all its items are lists without an operation among them.
    fn looks_like_inputs(&self, form: DatumId) -> bool {
        let plausible = |&item: &DatumId| match self.data.form(item) {
            Some((word, rest)) => !is_reserved(word) && !rest.is_empty(),
            None => false,
        };
        let items = self.data.as_list(form);
        items.is_some_and(|items| {
            let declares = items
                .first()
                .is_some_and(|&first| self.is_declaration(first));
            declares || items.iter().all(plausible)
        })
    }

    fn forms_beside_entries(&mut self, plain: &[DatumId]) {
        for &form in plain {
            let message = "this stands beside `entry` forms";
            let help = "a file has either inputs and one expression, or `entry` forms, each with \
                        its own inputs; put this into an `entry` or a `define`";
            self.report(Diagnostic::error(codes::BAD_PROGRAM, self.span(form), message).help(help));
            if !self.is_inputs(form) {
                self.expression(form);
            }
        }
    }

    fn report_more_expressions(&mut self, first: DatumId, more: &[DatumId]) {
        for &extra in more {
            let message = "a program has one expression, here is another one";
            let mut diagnostic = Diagnostic::error(codes::BAD_PROGRAM, self.span(extra), message)
                .also(self.span(first), "the first one")
                .help(
                    "bind values with `let` or `define`, or write several `(entry name (inputs) \
                     expression)`",
                );
            for form in [first, extra] {
                if let Some(word) = self.mistaken_word(form) {
                    diagnostic = diagnostic.help(format!("perhaps `{word}` is meant"));
                    diagnostic.primary.span = self.span(form);
                    diagnostic.secondary.clear();
                    diagnostic.message = "this is neither a section nor the expression".into();
                }
            }
            self.report(diagnostic);
        }
    }

    /// Returns the word of a section that a form was probably meant to have.
    fn mistaken_word(&self, form: DatumId) -> Option<&'static str> {
        let head = self.data.head(form)?;
        let found = MISTAKEN_WORDS.iter().find(|(word, _)| *word == head);
        found.map(|(_, word)| *word)
    }

    fn is_mistaken_section(&self, form: DatumId) -> bool {
        self.mistaken_word(form).is_some()
    }

    fn inputs(&mut self, form: DatumId) -> Vec<(Name, TypeId)> {
        let span = self.span(form);
        let Kind::List(items) = self.kind(form) else {
            let message = format!("expected the inputs, found {}", self.describe(form));
            self.bad_form(span, message, INPUTS);
            self.lose(&[form]);
            return Vec::new();
        };
        if self.is_declaration(form) {
            self.bad_form(span, "the inputs stand in parentheses of their own", INPUTS);
            return self.input(form).into_iter().collect();
        }
        items.iter().filter_map(|&item| self.input(item)).collect()
    }

    fn input(&mut self, id: DatumId) -> Option<(Name, TypeId)> {
        self.declaration(id, "an input", INPUTS)
    }

    /// Parses `(name : T)`.
    fn declaration(&mut self, id: DatumId, what: &str, help: &str) -> Option<(Name, TypeId)> {
        let declaration = self.read_declaration(id, what, help);
        if declaration.is_none() {
            self.lose(&[id]);
        }
        declaration
    }

    fn read_declaration(&mut self, id: DatumId, what: &str, help: &str) -> Option<(Name, TypeId)> {
        match self.kind(id) {
            Kind::List(items @ [_, colon, ..]) if self.kind(*colon) == Kind::Colon => {
                self.declared(items, what)
            }
            _ => {
                let message = match self.data.head(id) {
                    Some(name) if !is_reserved(name) => {
                        format!("expected `:` and a type after `{name}`")
                    }
                    _ => format!(
                        "expected {what} `(name : type)`, found {}",
                        self.describe(id)
                    ),
                };
                self.bad_form(self.span(id), message, help);
                None
            }
        }
    }

    fn types(&mut self, items: &'a [DatumId], _: Span) {
        for &item in items {
            match self.type_definition(item) {
                Some(definition) => self.program.types.push(definition),
                None => self.lose(&[item]),
            }
        }
    }

    fn type_definition(&mut self, id: DatumId) -> Option<TypeDefinition> {
        let span = self.span(id);
        let items = self.data.as_list(id).unwrap_or_default();
        let colon = self.position(items, Kind::Colon);
        let (Some(colon), [name, ..]) = (colon, items) else {
            let message = format!("expected `(Name : type)`, found {}", self.describe(id));
            self.bad_form(span, message, TYPES);
            return None;
        };
        let name = self.name(*name, "a type");
        let mut parameters = Vec::new();
        for &parameter in items.get(1..colon).unwrap_or_default() {
            match self.kind(parameter) {
                Kind::TypeVariable(text) => parameters.push(Name {
                    text: text.clone(),
                    span: self.span(parameter),
                }),
                _ => {
                    let found = self.describe(parameter);
                    let message = format!("expected a type variable such as `'a`, found {found}");
                    self.bad_form(self.span(parameter), message, TYPES);
                }
            }
        }
        self.diagnostics
            .extend(repeated(&parameters, "type variable"));
        let kind = match items[colon + 1..] {
            [body] if self.data.head(body) == Some("+") => {
                let constructors = self.data.form(body).map_or(&[][..], |(_, items)| items);
                TypeDefinitionKind::Sum(self.constructors(constructors, self.span(body)))
            }
            [plus, ref constructors @ ..] if self.data.is_symbol(plus, "+") => {
                TypeDefinitionKind::Sum(self.constructors(constructors, span))
            }
            _ => {
                let ty = self.type_sequence(&items[colon + 1..], self.span(items[colon]));
                TypeDefinitionKind::Synonym(ty)
            }
        };
        let name = name?;
        if matches!(&*name.text, "vector") || name.text.starts_with("vector#") {
            let message = format!("`{}` is built in", name.text);
            self.error(codes::RESERVED_WORD, name.span, message);
            return None;
        }
        if name.text.starts_with('+') {
            let message = format!("a type cannot be called `{}`", name.text);
            let help = "begin it with a letter; `+` begins a sum";
            self.report(Diagnostic::error(codes::RESERVED_WORD, name.span, message).help(help));
            return None;
        }
        Some(TypeDefinition {
            name,
            parameters,
            kind,
            span,
        })
    }

    /// Parses `(Constructor : T) …`, the items after the `+` of a sum.
    pub(super) fn constructors(&mut self, items: &'a [DatumId], at: Span) -> Vec<(Name, TypeId)> {
        if items.is_empty() {
            self.bad_form(at, "this sum has no constructors", SUM);
        }
        let constructors = items
            .iter()
            .filter_map(|&item| self.declaration(item, "a constructor", SUM));
        constructors.collect()
    }

    fn foreign(&mut self, items: &'a [DatumId], _: Span) {
        for &item in items {
            let (kind, rest) = self.foreign_kind(item);
            let declared = match kind {
                ForeignKind::Plain => self.declaration(item, "a foreign function", FOREIGN),
                ForeignKind::Effect | ForeignKind::Device => {
                    self.declared(rest, "a foreign function")
                }
            };
            if let Some((name, ty)) = declared {
                let span = self.span(item);
                self.program.foreigns.push(Foreign {
                    kind,
                    name,
                    ty,
                    span,
                });
            }
        }
    }

    /// Returns the kind of a foreign function by its first word, and the items after that word. In
    /// `(effect : T)` it is the name.
    fn foreign_kind(&self, item: DatumId) -> (ForeignKind, &'a [DatumId]) {
        let items = self.data.as_list(item).unwrap_or_default();
        let word = match items {
            [word, _, colon, ..] if self.kind(*colon) == Kind::Colon => self.data.as_symbol(*word),
            _others => None,
        };
        match (word.and_then(ForeignKind::by_word), items) {
            (Some(kind), [_, rest @ ..]) => (kind, rest),
            (_, _) => (ForeignKind::Plain, items),
        }
    }

    /// Parses `name : T`, once the colon is known to be there.
    fn declared(&mut self, items: &'a [DatumId], what: &str) -> Option<(Name, TypeId)> {
        let [name, colon, ty @ ..] = items else {
            return None;
        };
        let ty = self.type_sequence(ty, self.span(*colon));
        Some((self.name(*name, what)?, ty))
    }

    fn import(&mut self, items: &'a [DatumId], span: Span) {
        if items.is_empty() {
            self.bad_form(span, "the file to import is missing", IMPORT);
            self.program.lost.any = true;
        }
        for &item in items {
            let span = self.span(item);
            match self.data.as_string(item) {
                Some(path) if !path.is_empty() => self.program.imports.push(Import {
                    path: path.into(),
                    span,
                }),
                _ => {
                    let found = self.describe(item);
                    let message = format!("expected the name of a file as a text, found {found}");
                    self.bad_form(span, message, IMPORT);
                    self.program.lost.any = true;
                }
            }
        }
    }

    fn define(&mut self, items: &'a [DatumId], span: Span) {
        if let [name, _, ..] = items
            && self.data.as_symbol(*name).is_some()
        {
            let message = "a definition stands in parentheses of its own";
            self.bad_form(span, message, DEFINE);
            self.lose(items);
            return;
        }
        for &item in items {
            match self.definition(item) {
                Some(definition) => self.program.definitions.push(definition),
                None => self.lose(&[item]),
            }
        }
    }

    /// Parses `(name e)` and `(name : T e)`.
    fn definition(&mut self, id: DatumId) -> Option<Definition> {
        let span = self.span(id);
        let (name, value) = match self.kind(id) {
            Kind::List(&[name, value]) => {
                let name = self.name(name, "a definition");
                (name, self.expression(value))
            }
            Kind::List([name, colon, ty @ .., value]) if self.kind(*colon) == Kind::Colon => {
                let name = self.name(*name, "a definition");
                (name, self.annotated_value(ty, *colon, *value))
            }
            Kind::List([name, _, .., value]) if self.data.as_symbol(*name).is_some() => {
                let name = self.data.write(*name);
                let message = format!("expected one value for `{name}`, found several items");
                self.bad_form(span, message, DEFINE);
                self.recover(&[*value], span);
                return None;
            }
            _ => {
                let found = self.describe(id);
                let message = format!("expected a definition `(name value)`, found {found}");
                self.bad_form(span, message, DEFINE);
                return None;
            }
        };
        Some(Definition {
            name: name?,
            value,
            span,
        })
    }

    fn annotated_value(
        &mut self,
        ty: &'a [DatumId],
        colon: DatumId,
        value: DatumId,
    ) -> ExpressionId {
        let ty = self.type_sequence(ty, self.span(colon));
        let span = self.span(colon).to(self.span(value));
        let value = self.expression(value);
        self.program.add(ExpressionKind::Annotate(value, ty), span)
    }

    fn entry(&mut self, items: &'a [DatumId], span: Span) {
        let &[name, inputs, body] = items else {
            let message = "`entry` takes a name, the inputs and one expression";
            self.bad_form(span, message, ENTRY);
            self.lose(items);
            return;
        };
        let name = self.name(name, "an entry");
        let inputs = self.inputs(inputs);
        let body = self.expression(body);
        if let Some(name) = name {
            self.program.entries.push(Entry {
                name,
                inputs,
                body,
                explicit: true,
                span,
            });
        }
    }
}
