//! The top level of a file: inputs, sections, entries, the expression (language §2).

use super::is_reserved;
use super::parser::Parser;
use super::questions::{describe, position, span_of};
use super::types::{declaration, declared, sum_constructors, type_sequence};
use crate::ast::{
    Definition, Entry, ExpressionId, ExpressionKind, Foreign, ForeignKind, Import, Name,
    TypeDefinition, TypeDefinitionKind, TypeId,
};
use crate::datum::{Data, DatumId, Kind};
use crate::names::{check_names, node_name, repeated};
use nova_diag::{Diagnostic, Span, codes};

/// Parses the items after a section's word. The span is that of the whole section.
type Section = for<'a> fn(&mut Parser<'a>, &'a [DatumId], Span);

/// The sections by their words.
const SECTIONS: [(&str, Section); 5] = [
    ("types", types),
    ("foreign", foreign),
    ("import", import),
    ("define", define),
    ("entry", entry),
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
const DEFINE: &str = "write `(define (name value) …)`, functions with `lambda`: \
                      `(define (twice (lambda (x) (+ x x))))`";
const FOREIGN: &str = "write `(foreign (name : int -> int) …)`, with `effect` or `device` before the \
                       name of a function that has effects or is code of the device";
const IMPORT: &str = "write `(import \"file.nova\")`";
const ENTRY: &str = "write `(entry name ((X : vector int)) (reduce + 0 X))`";

/// Parses a whole file.
pub(super) fn program(parser: &mut Parser, end: Span, default_name: &str) {
    let mut plain = Vec::new();
    for &root in parser.data.roots() {
        match section_of(parser.data, root) {
            _ if parser.data.is_broken(root) => parser.lose(&[root]),
            Some((section, items)) => section(parser, items, parser.data.span(root)),
            None => plain.push(root),
        }
    }
    let broken = parser.data.has_broken();
    parser.program.lost.any |= parser.data.end_lost;
    if !broken || !plain.is_empty() {
        value(parser, &plain, broken, end, default_name);
    }
    parser.diagnostics.extend(check_names(&parser.program, &[]));
}

fn section_of(data: &Data, root: DatumId) -> Option<(Section, &[DatumId])> {
    let (word, items) = data.form(root)?;
    let (_, section) = SECTIONS.iter().find(|(name, _)| *name == word)?;
    Some((*section, items))
}

/// Parses the inputs and the expression, which are the forms that are no sections.
fn value(parser: &mut Parser, plain: &[DatumId], broken: bool, end: Span, default_name: &str) {
    if !parser.program.entries.is_empty() {
        forms_beside_entries(parser, plain);
        return;
    }
    let (inputs, rest) = find_inputs(parser.data, plain);
    let inputs_span = inputs.first().map(|&form| parser.data.span(form));
    let inputs = match inputs {
        [] => Vec::new(),
        [form] if !is_declaration(parser.data, *form) => declared_inputs(parser, *form),
        [..] => {
            let span = span_of(parser.data, inputs, end);
            let message = "the inputs stand in parentheses of their own";
            parser.bad_form(span, message, INPUTS);
            inputs
                .iter()
                .filter_map(|&form| input(parser, form))
                .collect()
        }
    };
    let Some((&expression, more)) = rest.split_first() else {
        if let (Some(at), false) = (inputs_span, broken) {
            let message = "the program has no expression";
            parser.report(Diagnostic::error(codes::BAD_PROGRAM, at, message).help(PROGRAM_EXAMPLE));
        }
        return;
    };
    let span = parser.data.span(expression);
    if !broken {
        report_more_expressions(parser, expression, more);
    }
    let mut values = Vec::new();
    for &form in &rest {
        if more.is_empty() || !is_mistaken_section(parser.data, form) {
            values.push(parser.expression(form));
        } else {
            parser.lose(&[form]);
        }
    }
    let body = match (values.first().copied(), more) {
        (Some(only), []) => only,
        (Some(_) | None, [..]) => parser.wrong(values, span),
    };
    parser.program.entries.push(Entry {
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
fn find_inputs<'p>(data: &Data, plain: &'p [DatumId]) -> (&'p [DatumId], Vec<DatumId>) {
    let mut at = plain.iter().position(|&form| is_inputs(data, form));
    let mut count = 1;
    if at.is_none() && plain.len() > 1 {
        // Inputs with an error in them, or without their own parentheses.
        let declarations = plain.iter().take_while(|&&form| is_declaration(data, form));
        count = declarations.count().min(plain.len() - 1);
        if count > 0 {
            at = Some(0);
        } else if looks_like_inputs(data, plain[0]) {
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
fn is_inputs(data: &Data, form: DatumId) -> bool {
    let items = data.as_list(form);
    items.is_some_and(|items| items.iter().all(|&item| is_declaration(data, item)))
}

/// True for `(name : …)`.
fn is_declaration(data: &Data, form: DatumId) -> bool {
    match data.as_list(form) {
        Some([name, colon, ..]) => {
            data.as_symbol(*name).is_some() && data.kind(*colon) == Kind::Colon
        }
        _ => false,
    }
}

/// True for a form that may be intended as the inputs form but is not one. It begins with an
/// input, or all its items are lists without an operation among them.
fn looks_like_inputs(data: &Data, form: DatumId) -> bool {
    let plausible = |&item: &DatumId| match data.form(item) {
        Some((word, rest)) => !is_reserved(word) && !rest.is_empty(),
        None => false,
    };
    let items = data.as_list(form);
    items.is_some_and(|items| {
        let declares = items
            .first()
            .is_some_and(|&first| is_declaration(data, first));
        declares || items.iter().all(plausible)
    })
}

fn forms_beside_entries(parser: &mut Parser, plain: &[DatumId]) {
    for &form in plain {
        let message = "this stands beside `entry` forms";
        let help = "a file has either inputs and one expression, or `entry` forms, each with \
                    its own inputs; put this into an `entry` or a `define`";
        parser.report(
            Diagnostic::error(codes::BAD_PROGRAM, parser.data.span(form), message).help(help),
        );
        if !is_inputs(parser.data, form) {
            parser.expression(form);
        }
    }
}

fn report_more_expressions(parser: &mut Parser, first: DatumId, more: &[DatumId]) {
    if let Some(&second) = more.first() {
        parser.warn_of_subscripts(&[first, second]);
    }
    for &extra in more {
        let message = "a program has one expression, here is another one";
        let mut diagnostic =
            Diagnostic::error(codes::BAD_PROGRAM, parser.data.span(extra), message)
                .also(parser.data.span(first), "the first one")
                .help(
                    "bind values with `let` or `define`, or write several `(entry name (inputs) \
                 expression)`",
                );
        for form in [first, extra] {
            if let Some(word) = mistaken_word(parser.data, form) {
                diagnostic = diagnostic.help(format!("perhaps `{word}` is meant"));
                diagnostic.primary.span = parser.data.span(form);
                diagnostic.secondary.clear();
                diagnostic.message = "this is neither a section nor the expression".into();
            }
        }
        parser.report(diagnostic);
    }
}

/// Returns the word of a section that a form was probably meant to have.
fn mistaken_word(data: &Data, form: DatumId) -> Option<&'static str> {
    let head = data.head(form)?;
    let found = MISTAKEN_WORDS.iter().find(|(word, _)| *word == head);
    found.map(|(_, word)| *word)
}

fn is_mistaken_section(data: &Data, form: DatumId) -> bool {
    mistaken_word(data, form).is_some()
}

fn declared_inputs(parser: &mut Parser, form: DatumId) -> Vec<(Name, TypeId)> {
    let span = parser.data.span(form);
    let Kind::List(items) = parser.data.kind(form) else {
        let message = format!("expected the inputs, found {}", describe(parser.data, form));
        parser.bad_form(span, message, INPUTS);
        parser.lose(&[form]);
        return Vec::new();
    };
    if is_declaration(parser.data, form) {
        parser.bad_form(span, "the inputs stand in parentheses of their own", INPUTS);
        return input(parser, form).into_iter().collect();
    }
    let is_comma = |item: &&DatumId| matches!(parser.data.kind(**item), Kind::Comma);
    if let Some(&comma) = items.iter().find(is_comma) {
        let message = "inputs stand side by side, without commas";
        parser.bad_form(parser.data.span(comma), message, INPUTS);
    }
    let inputs: Vec<DatumId> = items
        .iter()
        .filter(|item| !is_comma(item))
        .copied()
        .collect();
    inputs
        .into_iter()
        .filter_map(|item| input(parser, item))
        .collect()
}

fn input(parser: &mut Parser, id: DatumId) -> Option<(Name, TypeId)> {
    declaration(parser, id, "an input", INPUTS)
}

fn types<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], _: Span) {
    for &item in items {
        match type_definition(parser, item) {
            Some(definition) => parser.program.types.push(definition),
            None => parser.lose(&[item]),
        }
    }
}

fn type_definition(parser: &mut Parser, id: DatumId) -> Option<TypeDefinition> {
    let span = parser.data.span(id);
    let items = parser.data.as_list(id).unwrap_or_default();
    let colon = position(parser.data, items, Kind::Colon);
    let (Some(colon), [name, ..]) = (colon, items) else {
        let message = format!(
            "expected `(Name : type)`, found {}",
            describe(parser.data, id)
        );
        parser.bad_form(span, message, TYPES);
        return None;
    };
    let name = parser.name(*name, "a type");
    let mut parameters = Vec::new();
    for &parameter in items.get(1..colon).unwrap_or_default() {
        match parser.data.kind(parameter) {
            Kind::TypeVariable(text) => parameters.push(Name {
                text: text.clone(),
                span: parser.data.span(parameter),
            }),
            _ => {
                let found = describe(parser.data, parameter);
                let message = format!("expected a type variable such as `'a`, found {found}");
                parser.bad_form(parser.data.span(parameter), message, TYPES);
            }
        }
    }
    parser
        .diagnostics
        .extend(repeated(&parameters, "type variable"));
    let kind = match items[colon + 1..] {
        [body] if parser.data.head(body) == Some("+") => {
            let constructors = parser.data.form(body).map_or(&[][..], |(_, items)| items);
            TypeDefinitionKind::Sum(sum_constructors(
                parser,
                constructors,
                parser.data.span(body),
            ))
        }
        [plus, ref constructors @ ..] if parser.data.is_symbol(plus, "+") => {
            TypeDefinitionKind::Sum(sum_constructors(parser, constructors, span))
        }
        _ => {
            let ty = type_sequence(parser, &items[colon + 1..], parser.data.span(items[colon]));
            TypeDefinitionKind::Synonym(ty)
        }
    };
    let name = name?;
    if matches!(&*name.text, "vector") || name.text.starts_with("vector#") {
        let message = format!("`{}` is built in", name.text);
        parser.error(codes::RESERVED_WORD, name.span, message);
        return None;
    }
    if name.text.starts_with('+') {
        let message = format!("a type cannot be called `{}`", name.text);
        let help = "begin it with a letter; `+` begins a sum";
        parser.report(Diagnostic::error(codes::RESERVED_WORD, name.span, message).help(help));
        return None;
    }
    if let Some(error) = node_name(&name, "a node type") {
        parser.report(error);
        return None;
    }
    Some(TypeDefinition {
        name,
        parameters,
        kind,
        span,
    })
}

fn foreign<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], _: Span) {
    for &item in items {
        let (kind, rest) = foreign_kind(parser.data, item);
        let declared = match kind {
            ForeignKind::Plain => declaration(parser, item, "a foreign function", FOREIGN),
            ForeignKind::Effect | ForeignKind::Device => {
                declared(parser, rest, "a foreign function")
            }
        };
        if let Some((name, ty)) = declared {
            let span = parser.data.span(item);
            parser.program.foreigns.push(Foreign {
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
fn foreign_kind(data: &Data, item: DatumId) -> (ForeignKind, &[DatumId]) {
    let items = data.as_list(item).unwrap_or_default();
    let word = match items {
        [word, _, colon, ..] if data.kind(*colon) == Kind::Colon => data.as_symbol(*word),
        _others => None,
    };
    match (word.and_then(ForeignKind::by_word), items) {
        (Some(kind), [_, rest @ ..]) => (kind, rest),
        (_, _) => (ForeignKind::Plain, items),
    }
}

fn import<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) {
    if items.is_empty() {
        parser.bad_form(span, "the file to import is missing", IMPORT);
        parser.program.lost.any = true;
    }
    for &item in items {
        let span = parser.data.span(item);
        match parser.data.as_string(item) {
            Some(path) if !path.is_empty() => parser.program.imports.push(Import {
                path: path.into(),
                span,
            }),
            _ => {
                let found = describe(parser.data, item);
                let message = format!("expected the name of a file as a text, found {found}");
                parser.bad_form(span, message, IMPORT);
                parser.program.lost.any = true;
            }
        }
    }
}

fn define<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) {
    if let [name, _, ..] = items
        && parser.data.as_symbol(*name).is_some()
    {
        let message = "a definition stands in parentheses of its own";
        parser.bad_form(span, message, DEFINE);
        parser.lose(items);
        return;
    }
    for &item in items {
        match definition(parser, item) {
            Some(definition) => parser.program.definitions.push(definition),
            None => parser.lose(&[item]),
        }
    }
}

/// Parses `(name e)` and `(name : T e)`.
fn definition(parser: &mut Parser, id: DatumId) -> Option<Definition> {
    let span = parser.data.span(id);
    let (name, value) = match parser.data.kind(id) {
        Kind::List(&[name, value]) => {
            let name = parser.name(name, "a definition");
            (name, parser.expression(value))
        }
        Kind::List([name, colon, ty @ .., value]) if parser.data.kind(*colon) == Kind::Colon => {
            let name = parser.name(*name, "a definition");
            (name, annotated_value(parser, ty, *colon, *value))
        }
        Kind::List([name, _, .., value]) if parser.data.as_symbol(*name).is_some() => {
            let name = parser.data.write(*name);
            let message = format!("expected one value for `{name}`, found several items");
            parser.bad_form(span, message, DEFINE);
            parser.recover(&[*value], span);
            return None;
        }
        _ => {
            let found = describe(parser.data, id);
            let message = format!("expected a definition `(name value)`, found {found}");
            parser.bad_form(span, message, DEFINE);
            return None;
        }
    };
    Some(Definition {
        library: false,
        name: name?,
        value,
        span,
    })
}

fn annotated_value<'a>(
    parser: &mut Parser<'a>,
    ty: &'a [DatumId],
    colon: DatumId,
    value: DatumId,
) -> ExpressionId {
    let ty = type_sequence(parser, ty, parser.data.span(colon));
    let span = parser.data.span(colon).to(parser.data.span(value));
    let value = parser.expression(value);
    parser
        .program
        .add(ExpressionKind::Annotate(value, ty), span)
}

fn entry<'a>(parser: &mut Parser<'a>, items: &'a [DatumId], span: Span) {
    let &[name, inputs, body] = items else {
        let message = "`entry` takes a name, the inputs and one expression";
        parser.warn_of_subscripts(items);
        parser.bad_form(span, message, ENTRY);
        parser.lose(items);
        return;
    };
    let name = parser.name(name, "an entry");
    let inputs = declared_inputs(parser, inputs);
    let body = parser.expression(body);
    if let Some(name) = name {
        parser.program.entries.push(Entry {
            name,
            inputs,
            body,
            explicit: true,
            span,
        });
    }
}
