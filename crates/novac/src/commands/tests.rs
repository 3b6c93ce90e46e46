//! Not there yet.

use crate::cli::{Common, TestArguments};
use crate::terminal::{End, Outcome};

/// Refuses.
pub fn test(_common: &Common, _arguments: &TestArguments) -> Outcome {
    Err(End::failed("error: this command is not available yet"))
}
