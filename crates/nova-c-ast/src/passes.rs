//! Passes from C to C. Each makes functions shorter, or easier to read for people and compilers.
//!
//! [`signature`] and [`prune`] remove parameters and variables that are not read. [`forward`] orders
//! functions. [`finish`] runs the other passes.

pub mod accumulators;
pub mod copies;
pub mod declare;
pub mod forward;
pub mod nesting;
pub mod prune;
pub mod signature;

use crate::ast::Function;

/// Runs the passes that make a function, of the host or of a device, readable for people and compilers.
pub fn finish(function: &mut Function) {
    declare::sink(function);
    copies::propagate(function);
    declare::sink(function);
    nesting::bound(function);
    accumulators::declare_unsigned(function);
}
