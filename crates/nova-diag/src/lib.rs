//! Sources, spans and diagnostics.
//!
//! Every later crate reports through the types here. A [`Span`] names bytes of a source held by the
//! [`SourceMap`]. A [`Place`] is its resolved file, line and column, which run-time errors and the
//! intermediate representations carry. A [`Diagnostic`] is one message for the user with a stable
//! code from [`codes`]. Nothing here decides when to stop; callers collect diagnostics.

pub mod codes;
mod deep;
mod diagnostic;
mod excerpt;
mod ids;
pub mod json;
pub mod pages;
mod place;
mod render;
mod source;

pub use codes::Code;
pub use deep::deep;
pub use diagnostic::{Diagnostic, Label, Severity};
pub use place::Place;
pub use render::{render_json, render_text};
pub use source::{FileId, Position, Source, SourceMap, Span};
