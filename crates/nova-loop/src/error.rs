//! Errors of the compiler itself.

use std::fmt;

/// Something that cannot happen in a correct compiler: a Mem program that breaks its contract, or a
/// Loop program that the verifier would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalError {
    /// What was found.
    pub message: String,
}

impl InternalError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        InternalError {
            message: message.into(),
        }
    }
}

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "internal error: {} (please report this program)",
            self.message
        )
    }
}

impl std::error::Error for InternalError {}
