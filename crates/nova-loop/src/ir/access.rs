//! The ways in which commands access elements that other iterations or a device access, too.

use super::Expression;

/// The value that stays in an element that several iterations write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stays {
    /// Any one of the written values.
    Any,
    /// The greatest of the written values and the old one, of type `i32`.
    Greatest,
}

impl Stays {
    /// Returns its keyword in the text of Loop.
    pub fn word(self) -> &'static str {
        match self {
            Stays::Any => "any",
            Stays::Greatest => "greatest",
        }
    }
}

/// The next access of the host to an array.
#[derive(Clone, Debug, PartialEq)]
pub enum HostAccess {
    /// The host reads any elements.
    Reads,
    /// The host reads and writes any elements. The device's copy becomes invalid.
    Writes,
    /// The host reads the element at this index, or none if the index is `i64::MIN`.
    ReadsElement(Expression),
    /// The host has written the element at this index, and no other, before this command.
    WroteElement(Expression),
}
