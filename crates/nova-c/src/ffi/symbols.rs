//! The external names of an entry.

use crate::names::external;

/// The C names of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbols {
    /// The function.
    pub function: String,
    /// The function that returns the message of its last failure.
    pub error: String,
    /// The function for arrays on a device, if there is one.
    pub device: String,
    /// The function that frees a result, if there is one.
    pub free: String,
}

/// Returns the C names of an entry with a prefix.
pub fn symbols(prefix: &str, name: &str) -> Symbols {
    let function = external(prefix, name);
    Symbols {
        error: format!("{function}_error"),
        device: format!("{function}_device"),
        free: format!("{function}_free_result"),
        function,
    }
}
