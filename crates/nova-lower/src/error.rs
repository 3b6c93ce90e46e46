//! The one way in which lowering itself can fail.

use nova_diag::Place;
use std::fmt;

/// An error of the compiler, not of the user's program: Core broke one of its guarantees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowerError {
    /// What was found.
    pub message: String,
    /// Where in the source.
    pub place: Option<Place>,
}

impl LowerError {
    /// An error with this message.
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
