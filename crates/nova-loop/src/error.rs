//! Internal errors: programs of Mem or Loop that violate the rules of their representation.

pub use nova_core::error::{Failure, InternalError};

/// An internal error without function or place.
pub fn internal(message: impl Into<String>) -> InternalError {
    InternalError {
        message: message.into(),
        function: None,
        place: None,
    }
}
