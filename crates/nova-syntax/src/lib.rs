//! Reading of texts: from text to syntax tree.
//!
//! [`reader`] turns text into [`datum`] trees (tokens and nested lists, iteratively, with spans).
//! [`parse()`] turns those into the [`ast`]. [`format()`] writes the canonical layout.
//! [`interchange`] takes programs as `lexpr::Value`. The texts of the intermediate representations
//! are read through the same data, with a table of forms over [`Data`] as parser.
//!
//! No function stops at the first error. Every function returns the part of the text that it could
//! read together with all diagnostics. [`has_errors`] tells whether that has a meaning. The
//! documentation of [`mod@parse`] describes how ambiguities of the notation are resolved.

pub mod ast;
pub mod datum;
pub mod format;
pub mod interchange;
pub mod names;
mod number;
pub mod parse;
mod positions;
pub mod reader;
mod recovery;
pub mod token;

pub use datum::{Data, DatumId, Kind};
pub use format::format;
pub use interchange::parse_lexpr;
pub use parse::{has_errors, missing_expression, parse, parse_data};
pub use positions::resolve_positions;
