//! Passes from Flat to Flat.
//!
//! Each pass is one module with one public function `run`, which keeps the meaning of every
//! program, errors included.

pub mod addends;
pub mod blocks;
pub mod bounds;
mod cheap;
pub mod cse;
mod effects;
pub mod flatten_regular;
pub mod fuse;
pub mod induction;
pub mod inline;
pub mod interleave;
mod last_uses;
pub mod licm;
pub mod measure;
pub mod outline;
pub mod parallelise;
mod reachable;
pub mod shapes;
pub mod simplify;
pub mod tail_calls;
pub mod tail_loops;
pub mod together;
mod total;
mod writer;
pub mod zeros;
