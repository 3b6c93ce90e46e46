//! The rules that fusion follows.

/// The rules that fusion follows.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// True if floats are combined in the order of docs/order.md.
    pub strict: bool,
    /// The workers that run the operations.
    pub workers: Workers,
}

/// The workers that run operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// One thread.
    One,
    /// The threads of a processor.
    Threads,
    /// The threads of a device.
    Device,
}
