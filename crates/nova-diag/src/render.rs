//! Diagnostics as text and as JSON.

use crate::{Diagnostic, SourceMap};

/// Renders a diagnostic as a person reads it: code, message, the source line with the place
/// marked, help.
pub fn render_text(_sources: &SourceMap, _diagnostic: &Diagnostic) -> String {
    String::new()
}

/// Renders a diagnostic as one line of JSON for editors and front ends.
pub fn render_json(_sources: &SourceMap, _diagnostic: &Diagnostic) -> String {
    String::new()
}
