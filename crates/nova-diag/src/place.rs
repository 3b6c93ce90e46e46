//! Resolved source places.

use std::fmt;
use std::sync::Arc;

/// A place in a source as users read it: `dot.nova:3:12`.
///
/// Lines and columns count from 1, columns in characters (language §1).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file's name as it was given, without its folders.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Place {
    /// Creates a place from its file, line and column.
    pub fn new(file: impl Into<Arc<str>>, line: u32, column: u32) -> Self {
        Place {
            file: file.into(),
            line,
            column,
        }
    }

    /// Parses the output of [`fmt::Display`].
    pub fn parse(text: &str) -> Option<Self> {
        let (rest, column) = text.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        Some(Place::new(file, line.parse().ok()?, column.parse().ok()?))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
