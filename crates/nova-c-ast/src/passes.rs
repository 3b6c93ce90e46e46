//! Passes from C to C. Each makes functions shorter, or easier to read for people and compilers.
//!
//! [`signature`] removes parameters and variables that are not read. [`declare`] moves declarations to
//! their values, [`copies`] propagates copies, [`nesting`] bounds the depth of statements, [`accumulators`]
//! gives sums types that wrap, [`choices`] marks states that are chosen among constants, [`profile`] takes
//! times of calls and regions, and [`lines`] names lines of the source for debuggers.

pub mod accumulators;
pub mod choices;
pub mod copies;
pub mod declare;
pub mod lines;
pub mod nesting;
pub mod profile;
mod prune;
pub mod signature;
