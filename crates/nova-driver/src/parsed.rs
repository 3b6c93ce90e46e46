//! A program that was read, or built.

use crate::error::Report;
use nova_syntax::ast::Program;

/// A program with all its imports, as one syntax tree.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The tree. It has no meaning when the report has errors.
    pub program: Program,
    /// The messages and the sources.
    pub report: Report,
}
