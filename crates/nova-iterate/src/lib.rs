//! Passes from Flat to Flat on loops over arrays, which stand before parallelisation. They find what the
//! iterations of a loop share, or what several of them can do in one pass over memory.
//!
//! - [`addends`] makes running results of states that conditionals add to.
//! - [`agreeing_extents`] copies loops for arrays of equal or constant extents.
//! - [`delinearise`] gives rows and columns to maps that compute them from their index.
//! - [`gather_tables`] makes gathers once that every iteration would make anew.
//! - [`padding`] reads a vector itself where its padded copy would be read.
//! - [`prefixes`] makes only those elements at the start of an array that are used.
//! - [`rfactor`] lets threads share the rows of reductions of columns.
//! - [`temporal_blocking`] takes several steps of a loop in one pass over its array, in place.
//! - [`unroll`] makes straight-line code of short loops inside of others.
//!
//! Statements are written by the writer of `nova-schedule`.

pub mod addends;
pub mod agreeing_extents;
mod copies;
pub mod delinearise;
pub mod gather_tables;
mod limits;
pub mod padding;
pub mod prefixes;
pub mod rfactor;
pub mod temporal_blocking;
pub mod unroll;
