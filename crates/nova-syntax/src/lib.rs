//! Text to syntax tree.
//!
//! [`reader`] turns text into [`datum`] trees (tokens and nested lists, iteratively, with spans);
//! [`parse`] turns those into the [`ast`]; [`format`] writes the canonical layout. The texts of the
//! intermediate representations are read through the same data.

pub mod ast;
pub mod datum;
pub mod format;
mod number;
pub mod parse;
mod positions;
pub mod reader;
mod recovery;
mod token;

pub use datum::{Data, DatumId, Kind};
pub use format::format;
pub use parse::{has_errors, missing_expression, parse, parse_data};
pub use positions::resolve_positions;
