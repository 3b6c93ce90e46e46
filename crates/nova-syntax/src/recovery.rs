//! Errors about parentheses, brackets and comments that do not match, and recovery from them.

use crate::datum::Shape;
use crate::reader::{Imbalance, Open, Reader, Suspect};
use crate::token::{Token, TokenKind};
use nova_diag::{Diagnostic, codes};

impl Shape {
    fn opening(self) -> char {
        match self {
            Shape::Round => '(',
            Shape::Square => '[',
        }
    }

    fn closing(self) -> char {
        match self {
            Shape::Round => ')',
            Shape::Square => ']',
        }
    }
}

impl Reader<'_> {
    /// Checks the first token of a line. If it is indented no deeper than the innermost open
    /// sequence, it is probably no item of that sequence.
    pub fn check_indentation(&mut self, token: Token) {
        let column = self.column(token);
        if column == 0 && self.cut_at_first_column && matches!(token.kind, TokenKind::Open(_)) {
            self.close_all();
        }
        if self.suspect.is_none()
            && let Some(open) = self.open.last()
            && column <= open.column
        {
            self.suspect = Some(Suspect {
                start: open.start,
                end: self.last_end,
            });
        }
    }

    /// Ends all open sequences, with a message.
    pub fn close_all(&mut self) {
        let missing = self.open.len();
        let Some(innermost) = self.open.last() else {
            return;
        };
        self.imbalance = Imbalance::Unclosed;
        let (start, shape) = match self.suspect {
            Some(suspect) => (suspect.start, self.shape_at(suspect.start)),
            None => (innermost.start, innermost.shape),
        };
        if !self.form_reported {
            self.report_unclosed(start, shape, missing);
        }
        self.form_reported = true;
        let end = self.last_end;
        while let Some(open) = self.open.pop() {
            self.finish_sequence(&open, end);
        }
    }

    fn shape_at(&self, start: usize) -> Shape {
        match self.text.as_bytes().get(start) {
            Some(b'[') => Shape::Square,
            _ => Shape::Round,
        }
    }

    fn report_unclosed(&mut self, start: usize, shape: Shape, missing: usize) {
        let (opening, closing) = (shape.opening(), shape.closing());
        let span = self.span(start, start + 1);
        let message = format!("this `{opening}` is not closed");
        let mut diagnostic = Diagnostic::error(codes::UNCLOSED, span, message)
            .label(format!("`{closing}` for it is missing"));
        if let Some(suspect) = self.suspect {
            let at = self.span(suspect.end.saturating_sub(1), suspect.end);
            let text = format!("by the indentation, `{closing}` belongs after this");
            diagnostic = diagnostic.also(at, text);
        }
        let what = match missing {
            1 => format!("one `{closing}` is missing"),
            _ => format!("{missing} closing parentheses are missing"),
        };
        self.error(diagnostic.help(format!("{what} in this form")));
    }

    /// Handles a closing parenthesis of another kind than the opening one.
    pub fn mismatch(&mut self, open: &Open, token: Token) {
        if self.form_reported {
            return;
        }
        self.form_reported = true;
        let found = &self.text[token.start..token.end];
        let (opening, closing) = (open.shape.opening(), open.shape.closing());
        let span = self.span(token.start, token.end);
        let message = format!("`{found}` cannot close `{opening}`");
        let opened = self.span(open.start, open.start + 1);
        let diagnostic = Diagnostic::error(codes::UNEXPECTED_CLOSE, span, message)
            .label(format!("expected `{closing}`"))
            .also(opened, format!("`{opening}` is opened here"));
        self.error(diagnostic);
    }

    /// Handles a closing parenthesis outside any form.
    pub fn surplus(&mut self, token: Token) {
        self.imbalance = Imbalance::Surplus;
        let directly_after = self.last_was_surplus(token);
        let first = self.mark_broken();
        if directly_after || self.form_reported {
            return;
        }
        self.form_reported = true;
        let found = &self.text[token.start..token.end];
        let span = self.span(token.start, token.end);
        let message = format!("`{found}` closes nothing");
        let mut diagnostic = Diagnostic::error(codes::UNEXPECTED_CLOSE, span, message).help(
            format!("remove this `{found}`, or one further up in this form"),
        );
        if let Some(first) = first {
            let end = self.data.span(first).end as usize;
            let at = self.span(end - 1, end);
            diagnostic = diagnostic.also(at, "the form before it is already closed here");
        }
        self.error(diagnostic);
    }

    /// True if there is nothing between `token` and another surplus parenthesis.
    fn last_was_surplus(&self, token: Token) -> bool {
        let end_of_last_root = self
            .data
            .roots
            .last()
            .map_or(0, |&root| self.data.span(root).end as usize);
        self.imbalance == Imbalance::Surplus
            && self.last_end > end_of_last_root
            && self.text[self.last_end..token.start].trim().is_empty()
    }

    /// Marks the roots that probably belong to the form that was closed too early, back to one that
    /// starts in the first column. Returns the first of them.
    fn mark_broken(&mut self) -> Option<crate::datum::DatumId> {
        let bytes = self.text.as_bytes();
        let starts_line = |root: &crate::datum::DatumId| {
            let start = self.data.span(*root).start as usize;
            start == 0 || bytes[start - 1] == b'\n'
        };
        let roots = &self.data.roots;
        let known = self.data.broken.last().copied();
        let unknown = roots.partition_point(|&root| known.is_some_and(|known| root <= known));
        let found = roots[unknown..].iter().rposition(starts_line);
        let from = unknown + found.unwrap_or(0);
        let first = roots.get(from).copied()?;
        self.data.broken.extend_from_slice(&roots[from..]);
        Some(first)
    }

    pub fn unclosed_comment(&mut self, token: Token) {
        let span = self.span(token.start, token.start + 2);
        let diagnostic = Diagnostic::error(codes::UNCLOSED, span, "this comment is not closed")
            .label("`|#` for it is missing")
            .help("comments nest: every `#|` inside needs its own `|#`");
        self.error(diagnostic);
        self.data.end_lost = true;
        // The comment may contain the end of the form around it.
        self.form_reported = self.form_reported || !self.open.is_empty();
    }

    /// Handles the end of the text.
    pub fn finish(&mut self) {
        self.close_all();
    }
}
