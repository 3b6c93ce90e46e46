//! Passes from Flat to Flat.
//!
//! Each pass is one module with one public function `run`, which keeps the meaning of every
//! program, errors included. The passes know nothing of threads and devices. The crate `nova-schedule`
//! decides after them how each operation will run.
//!
//! Some modules are analyses that several passes use, also those of later crates: [`cheap`],
//! [`effects`], [`reachable`].

pub mod blocks;
pub mod bounds;
pub mod cheap;
pub mod cse;
pub mod effects;
pub mod flatten_regular;
pub mod fuse;
pub mod induction;
pub mod inline;
pub mod interleave;
mod last_uses;
pub mod licm;
mod limits;
pub mod loop_versioning;
pub mod measure;
pub mod neutral_starts;
pub mod outline;
pub mod profile;
pub mod reachable;
pub mod shapes;
pub mod simplify;
pub mod tables;
pub mod tail_calls;
pub mod tail_loops;
mod total;
pub mod vectors;
pub mod writer;
pub mod zeros;
