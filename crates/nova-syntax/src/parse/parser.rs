//! The parser's own state: the data that it reads, and the tree and messages that it has made.

use super::is_reserved;
use super::questions::describe;
use crate::ast::{ExpressionId, ExpressionKind, Name, Program};
use crate::datum::{Data, DatumId};
use nova_diag::{Code, Diagnostic, Span, codes};
use std::sync::Arc;

/// Adds to the tree and the messages of a program.
pub(super) struct Parser<'a> {
    pub(super) data: &'a Data,
    pub(super) program: Program,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The number of tuple patterns that are open.
    pub(super) pattern_depth: u32,
}

impl Parser<'_> {
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    /// Reports a form that does not follow the language, with the correct form.
    pub(super) fn bad_form(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(Diagnostic::error(codes::BAD_FORM, span, message).help(help));
    }

    /// Adds an expression in place of one with an error.
    pub(super) fn placeholder(&mut self, span: Span) -> ExpressionId {
        self.wrong(Vec::new(), span)
    }

    /// Adds an expression in place of one with an error that contains these parts.
    pub(super) fn wrong(&mut self, parts: Vec<ExpressionId>, span: Span) -> ExpressionId {
        self.program.add(ExpressionKind::Wrong(parts), span)
    }

    /// Records the names in data that are left out of the tree.
    pub(super) fn lose(&mut self, data: &[DatumId]) {
        let names = self.data.names_in(data);
        self.program.lost.names.extend(names);
    }

    /// Parses a name that is bound or declared. `what` is the kind of thing it names: "an input".
    pub(super) fn name(&mut self, id: DatumId, what: &str) -> Option<Name> {
        let span = self.data.span(id);
        let Some(text) = self.data.as_name(id) else {
            let message = format!(
                "expected the name of {what}, found {}",
                describe(self.data, id)
            );
            self.error(codes::UNEXPECTED_TOKEN, span, message);
            return None;
        };
        self.check_binder(text, span, what).then(|| Name {
            text: Arc::clone(text),
            span,
        })
    }

    /// True if `text` may name something. Reports it otherwise.
    pub(super) fn check_binder(&mut self, text: &str, span: Span, what: &str) -> bool {
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
}
