//! Recursion over user input without a fixed bound.

/// Bytes that must be left on the stack for a call to proceed on it.
const RED_ZONE: usize = 256 * 1024;
/// Bytes of every further segment of stack.
const SEGMENT: usize = 8 * 1024 * 1024;

/// Calls `body`, first moving to a fresh segment of stack when the current one is nearly used up.
///
/// Every function of the compiler that recurses over a program or a value goes through this, so
/// that nesting is limited by memory alone (language §1: "nesting has no fixed depth").
pub fn deep<R>(body: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, SEGMENT, body)
}
