//! How commands use elements that others use too: other iterations at the same time, or a device.

use super::Expression;

/// Which value stays in an element that several iterations write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stays {
    /// Any one of theirs.
    Any,
    /// The greatest of theirs and of what was there, of `i32`.
    Greatest,
}

impl Stays {
    /// Its word in the text of Loop.
    pub fn word(self) -> &'static str {
        match self {
            Stays::Any => "any",
            Stays::Greatest => "greatest",
        }
    }
}

/// What the host is going to do with an array.
#[derive(Clone, Debug, PartialEq)]
pub enum HostAccess {
    /// It reads any elements.
    Reads,
    /// It reads and writes any elements; the device's copy no longer holds them.
    Writes,
    /// It reads the element at this index; none if that is `i64::MIN`.
    ReadsElement(Expression),
    /// It has written the element at this index, and no others, before this command.
    WroteElement(Expression),
}
