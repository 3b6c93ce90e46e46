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
//! - In `(foreach h (f d) e …)` the first list `h` names the types of a group if its first item is
//!   `(p e)`, and not a pattern such as `(a, b)` or `(x : T)`. In a group of several bodies
//!   `(x : T e)` is an item of `h`, too.
//! - The last item of `(lambda … : T … e)` is the body, and the items between the colon and it are
//!   the result type. Types juxtapose in parentheses and after a colon: `vector int -> int` is
//!   `(vector int) -> int`, `vector List int` is `vector (List int)`. In the arguments of a type
//!   `vector` takes one item: `(Pair vector int float)`.

mod bindings;
mod expressions;
mod forms;
mod parser;
mod patterns;
mod questions;
mod recursion;
mod sections;
mod types;

use crate::ast::Program;
use crate::datum::Data;
use crate::positions::resolve_positions;
use crate::reader;
use nova_diag::{Diagnostic, FileId, Severity, SourceMap, Span, codes};
use parser::Parser;

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
    sections::program(&mut parser, end, default_name);
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

#[cfg(test)]
mod tests;
