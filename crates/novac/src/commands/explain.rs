//! Not there yet.

use crate::cli::{Common, FileArguments};
use crate::terminal::{End, Outcome};

/// Refuses.
pub fn explain(_common: &Common, _arguments: &FileArguments) -> Outcome {
    Err(End::failed("error: this command is not available yet"))
}
