//! A program that was read, or built.

use crate::error::Report;
use nova_diag::{FileId, Span};
use nova_syntax::ast::Program;
use std::collections::HashMap;
use std::path::PathBuf;

/// The origin of the text of a source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// The file at a path, which is canonical if the file exists.
    File(PathBuf),
    /// A file of the standard library, by its name in imports: `std/vectors`.
    Library(String),
}

/// An import that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The place of the path.
    pub span: Span,
    /// The file that it names; `None` if it could not be found.
    pub origin: Option<Origin>,
}

/// A program with all its imports, as one syntax tree.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The tree. It has no meaning when the report has errors.
    pub program: Program,
    /// The messages and the sources.
    pub report: Report,
    /// The program's own file, if it could be read.
    pub root: Option<FileId>,
    /// The origins of the sources. A text without a file has no row.
    pub origins: HashMap<FileId, Origin>,
    /// The imports of all files.
    pub imports: Vec<Imported>,
}

impl Parsed {
    /// Returns the files that were read, as they are named from the working directory: the program's own and
    /// those that it imports, also by way of others.
    pub fn files(&self) -> Vec<PathBuf> {
        let sources = &self.report.sources;
        let of_files = sources
            .ids()
            .filter(|id| matches!(self.origins.get(id), Some(Origin::File(_))));
        of_files
            .map(|id| PathBuf::from(&*sources.source(id).name))
            .collect()
    }
}
