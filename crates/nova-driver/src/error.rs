//! The failures of the compiler's library.

use nova_core::RuntimeError;
use nova_diag::{Diagnostic, Severity, SourceMap, render_json, render_text};
use nova_exec::{CallError, CompileError, InputError};
use std::fmt;

/// Diagnostics with the sources they point into.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The sources.
    pub sources: SourceMap,
    /// The messages, in order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// True if there is an error among them.
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }

    /// Returns all messages as text for people.
    pub fn to_text(&self) -> String {
        let each = self.diagnostics.iter();
        each.map(|d| render_text(&self.sources, d))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Returns all messages as lines of JSON.
    pub fn to_json(&self) -> String {
        let each = self.diagnostics.iter();
        each.map(|d| render_json(&self.sources, d) + "\n").collect()
    }
}

/// An error of the compiler itself, not of the program it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalError {
    /// The pass that failed, or after which the verifier failed.
    pub pass: String,
    /// The error.
    pub message: String,
}

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "internal error of the compiler in pass `{}`: {}\n  This is a mistake in NOVA, not in \
             your program. Please report it with the program and the command line.",
            self.pass, self.message
        )
    }
}

impl std::error::Error for InternalError {}

/// The reason why a call of the library failed.
#[derive(Debug)]
pub enum Failure {
    /// The program has errors.
    Program(Box<Report>),
    /// The program failed while it ran.
    Run(RuntimeError),
    /// The compiler has an internal error.
    Internal(InternalError),
    /// A file cannot be read or written, or a value does not have the form that is needed.
    Input(InputError),
    /// The generated C could not be compiled to a library.
    Compile(CompileError),
    /// The compiled function failed.
    Call(CallError),
    /// The request is not supported.
    Unsupported(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Program(report) => f.write_str(report.to_text().trim_end()),
            Failure::Run(error) => error.fmt(f),
            Failure::Internal(error) => error.fmt(f),
            Failure::Input(error) => error.fmt(f),
            Failure::Compile(error) => error.fmt(f),
            Failure::Call(error) => error.fmt(f),
            Failure::Unsupported(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Failure {}

impl From<InternalError> for Failure {
    fn from(error: InternalError) -> Self {
        Failure::Internal(error)
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Failure::Input(error)
    }
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Self {
        Failure::Compile(error)
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Failure::Call(error)
    }
}
