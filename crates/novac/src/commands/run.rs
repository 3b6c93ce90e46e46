//! Not there yet.

use crate::cli::{Common, RunArguments};
use crate::terminal::{End, Outcome};

/// Refuses.
pub fn run(_common: &Common, _arguments: &RunArguments) -> Outcome {
    Err(End::failed("error: this command is not available yet"))
}
