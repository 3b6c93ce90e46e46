//! The parser: from data to the syntax tree (language §1–§4).
//!
//! The parser is a table of forms over the reader's data. It never stops at an error. Each error is
//! reported, and its place in the tree is taken by [`ExpressionKind::Wrong`] or a type of that name
//! (or left out). The rest is parsed, so that all independent errors of a file are found at once,
//! including those of later stages. The names in code that is left out are in [`Program::lost`].
//! [`has_errors`] tells whether the tree has a meaning.
//!
//! Ambiguities of the notation are resolved like this:
//!
//! - A top-level list that is empty or whose items all are `(name : …)` is the inputs form, if it
//!   is the first such form. Any other top-level form that starts with no section word is the
//!   program's expression. Inputs and expression may stand in any order among the sections, and a
//!   file without inputs form has no inputs. A file may also consist of sections alone (to be
//!   imported). Its [`Program::entries`] are then empty, which [`missing_expression`] reports for
//!   the file that is compiled.
//! - In parentheses a comma binds weakest, a colon next: `(a : int, b)` is a tuple of an annotated
//!   element and another, in expressions and in patterns.
//! - `(e ! i)` with exactly three items reads an element, and `(e . k)` is a projection. Elsewhere
//!   `!` is a name like others.
//! - In `(lambda (x y) e)` the list holds two parameters; `(x : T)` is one, `(a, b)` is one (a
//!   tuple), `((a, b) c)` holds two. Parameters may also stand without parentheses: `(lambda x e)`.
//! - In `(let … e)` without `in` the last item is the body. A binding, like a definition, may carry
//!   a type: `(x : vector int e)`; its last item is the value.
//! - The last item of `(lambda … : T … e)` is the body, and the items between the colon and it are
//!   the result type. Types juxtapose in parentheses and after a colon: `vector int -> int` is
//!   `(vector int) -> int`, `vector List int` is `vector (List int)`. In the arguments of a type
//!   `vector` takes one item: `(Pair vector int float)`.

mod expressions;
mod forms;
mod patterns;
mod sections;
mod types;

use crate::ast::{ExpressionId, ExpressionKind, Name, Program};
use crate::datum::{Data, DatumId, Kind};
use crate::positions::resolve_positions;
use crate::reader;
use nova_diag::{Code, Diagnostic, FileId, Severity, SourceMap, Span, codes};
use std::sync::Arc;

/// The words that no binding may take (language §1).
pub const RESERVED: [&str; 18] = [
    "lambda", "let", "in", "mu", "if", "then", "else", "case", "types", "foreign", "define",
    "entry", "import", "foreach", "up", "dn", "true", "false",
];

/// True if `word` is reserved; `nil` is, too.
pub fn is_reserved(word: &str) -> bool {
    word == "nil" || RESERVED.contains(&word)
}

/// Parses a source file.
///
/// `default_name` names the function of a program without `entry` forms: the file's name without
/// its extension. `sources` holds the text under `file` and takes the positions of `(at …)` forms.
pub fn parse(
    text: &str,
    file: FileId,
    sources: &mut SourceMap,
    default_name: &str,
) -> (Program, Vec<Diagnostic>) {
    let (mut data, mut diagnostics) = reader::read(text, file);
    resolve_positions(&mut data, sources);
    let end = Span::new(file, text.len() as u32, text.len() as u32);
    let (program, more) = parse_data(&data, end, default_name);
    diagnostics.extend(more);
    sort(&mut diagnostics);
    (program, diagnostics)
}

/// Parses a program that is already data, with its `(at …)` forms resolved ([`resolve_positions`]).
/// A missing expression is reported at `end`.
pub fn parse_data(data: &Data, end: Span, default_name: &str) -> (Program, Vec<Diagnostic>) {
    let mut parser = Parser {
        data,
        program: Program::default(),
        diagnostics: Vec::new(),
        pattern_depth: 0,
    };
    parser.program(end, default_name);
    sort(&mut parser.diagnostics);
    (parser.program, parser.diagnostics)
}

/// Puts diagnostics in the order of their places.
pub(crate) fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|diagnostic| {
        let span = diagnostic.primary.span;
        (span.file, span.start)
    });
}

/// True if there is an error among the diagnostics.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// Returns the error for a file that is to be compiled and has neither an expression nor an
/// `entry`. `end` is the end of its text.
pub fn missing_expression(program: &Program, end: Span) -> Option<Diagnostic> {
    program.entries.is_empty().then(|| {
        let message = "the program has no expression";
        Diagnostic::error(codes::BAD_PROGRAM, end, message).help(sections::PROGRAM_EXAMPLE)
    })
}

/// The state of the parser.
struct Parser<'a> {
    data: &'a Data,
    program: Program,
    diagnostics: Vec<Diagnostic>,
    /// The number of tuple patterns that are open.
    pattern_depth: u32,
}

impl<'a> Parser<'a> {
    fn kind(&self, id: DatumId) -> Kind<'a> {
        self.data.kind(id)
    }

    fn span(&self, id: DatumId) -> Span {
        self.data.span(id)
    }

    /// Returns the span from the first to the last of some data, or `otherwise` when there are
    /// none.
    fn span_of(&self, items: &[DatumId], otherwise: Span) -> Span {
        match items {
            [] => otherwise,
            [first, .., last] => self.span(*first).to(self.span(*last)),
            [only] => self.span(*only),
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    /// Reports a form that does not follow the language, with the correct form.
    fn bad_form(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.report(Diagnostic::error(codes::BAD_FORM, span, message).help(help));
    }

    /// Adds an expression in place of one with an error.
    fn placeholder(&mut self, span: Span) -> ExpressionId {
        self.wrong(Vec::new(), span)
    }

    /// Adds an expression in place of one with an error that contains these parts.
    fn wrong(&mut self, parts: Vec<ExpressionId>, span: Span) -> ExpressionId {
        self.program.add(ExpressionKind::Wrong(parts), span)
    }

    /// Parses the items of a form with an error, to find the errors in them.
    fn recover(&mut self, items: &[DatumId], span: Span) -> ExpressionId {
        let mut parts = Vec::new();
        for &item in items {
            match self.kind(item) {
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

    /// Records the names in data that are left out of the tree.
    fn lose(&mut self, data: &[DatumId]) {
        let names = self.data.names_in(data);
        self.program.lost.names.extend(names);
    }

    /// Returns the position of a datum of this kind among `items`.
    fn position(&self, items: &[DatumId], kind: Kind<'_>) -> Option<usize> {
        items.iter().position(|&item| self.kind(item) == kind)
    }

    /// Returns the position of a symbol among `items`.
    fn position_of(&self, items: &[DatumId], symbol: &str) -> Option<usize> {
        let found = |&item: &DatumId| self.data.is_symbol(item, symbol);
        items.iter().position(found)
    }

    /// Returns the items between the commas.
    fn split_at_commas(
        &self,
        items: &'a [DatumId],
    ) -> impl Iterator<Item = &'a [DatumId]> + use<'a> {
        let data = self.data;
        items.split(move |&item| data.kind(item) == Kind::Comma)
    }

    /// Parses a name that is bound or declared. `what` is the kind of thing it names: "an input".
    fn name(&mut self, id: DatumId, what: &str) -> Option<Name> {
        let span = self.span(id);
        let Some(text) = self.data.as_name(id) else {
            let message = format!("expected the name of {what}, found {}", self.describe(id));
            self.error(codes::UNEXPECTED_TOKEN, span, message);
            return None;
        };
        self.check_binder(text, span, what).then(|| Name {
            text: Arc::clone(text),
            span,
        })
    }

    /// True if `text` may name something. Reports it otherwise.
    fn check_binder(&mut self, text: &str, span: Span, what: &str) -> bool {
        if is_reserved(text) {
            let message = format!("`{text}` is a reserved word and cannot name {what}");
            let help = format!("choose another name, such as `{text}_1`");
            self.report(Diagnostic::error(codes::RESERVED_WORD, span, message).help(help));
            return false;
        }
        if matches!(text, "_" | "." | "->" | "'") {
            let message = format!("`{text}` cannot name {what}");
            self.error(codes::UNEXPECTED_TOKEN, span, message);
            return false;
        }
        true
    }

    /// Describes a datum in a few words, for "found …".
    fn describe(&self, id: DatumId) -> String {
        match self.kind(id) {
            Kind::Symbol(name) if is_reserved(name) => format!("the reserved word `{name}`"),
            Kind::Symbol(name) => format!("`{name}`"),
            Kind::TypeVariable(name) => format!("the type variable `'{name}`"),
            Kind::Number(number) => {
                format!("the number `{}`", crate::datum::write_number(number))
            }
            Kind::Text(_) => "a text".into(),
            Kind::Colon => "`:`".into(),
            Kind::Comma => "`,`".into(),
            Kind::List([]) => "`()`".into(),
            Kind::List(_) => "a form in parentheses".into(),
            Kind::Vector(_) => "a vector".into(),
            Kind::Project(_, index, _) => format!("an element `.{index}`"),
        }
    }
}

#[cfg(test)]
mod tests;
