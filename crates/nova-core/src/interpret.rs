//! The reference interpreter (nova.txt fig. 5).

/// A function with the variables it captured.
#[derive(Debug)]
pub struct Closure;
