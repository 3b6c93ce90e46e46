//! The only error of lowering.

use nova_diag::Place;
use std::fmt;

/// An error of the compiler, not of the user's program: Core violated one of its guarantees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowerError {
    /// The violation that was found.
    pub message: String,
    /// The place in the source.
    pub place: Option<Place>,
}

impl LowerError {
    /// Creates an error with this message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        LowerError {
            message: message.into(),
            place: None,
        }
    }
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "internal error while lowering Core")?;
        if let Some(place) = &self.place {
            write!(f, " at {place}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for LowerError {}

/// The result of a step of lowering.
pub(crate) type Result<T> = std::result::Result<T, LowerError>;
