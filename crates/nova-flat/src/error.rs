//! Errors of the compiler itself, kept apart from those of users and of running programs.

use nova_core::RuntimeError;
use nova_diag::Place;
use std::fmt;
use std::sync::Arc;

/// A program in the compiler that violates the rules of its representation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalError {
    /// The message.
    pub message: String,
    /// The function in which it was found.
    pub function: Option<Arc<str>>,
    /// The place in the source that the code comes from.
    pub place: Option<Place>,
}

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "internal error of the compiler")?;
        if let Some(function) = &self.function {
            write!(f, " in function {function}")?;
        }
        // Programs written by hand may omit places.
        if let Some(place) = self.place.as_ref().filter(|p| p.line > 0) {
            write!(f, " at {place}")?;
        }
        write!(f, ": {}; please report it", self.message)
    }
}

impl std::error::Error for InternalError {}

/// The reason why an interpreter gives no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The program stopped with a run-time error that its semantics require.
    Runtime(RuntimeError),
    /// The program violates the rules of its representation.
    Internal(InternalError),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Runtime(error) => error.fmt(f),
            Failure::Internal(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}
