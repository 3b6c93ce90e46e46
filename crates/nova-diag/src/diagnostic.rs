//! Messages to the user.

use crate::{Code, Span};

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program has no meaning.
    Error,
    /// The program has a meaning, perhaps not the one intended.
    Warning,
}

/// A second place that a diagnostic points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The text shown there.
    pub text: String,
}

/// One message: the mistake, its place, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The stable code, listed in [`crate::codes`].
    pub code: Code,
    /// One sentence that states the mistake.
    pub message: String,
    /// The place the message is about, with a short text beside the marker (may be empty).
    pub primary: Label,
    /// Further places that explain it.
    pub secondary: Vec<Label>,
    /// The remedy, where it is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Returns an error at `span`.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, span, message)
    }

    /// Returns a warning at `span`.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message)
    }

    fn new(severity: Severity, code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity,
            code,
            message: message.into(),
            primary: Label {
                span,
                text: String::new(),
            },
            secondary: Vec::new(),
            help: None,
        }
    }

    /// Adds the text beside the primary marker.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds a further place.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Adds the remedy.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}
