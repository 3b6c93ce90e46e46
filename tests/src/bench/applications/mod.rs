//! The applications of `nova-examples/applications` against C written by hand, with one thread or against its
//! OpenMP form with several. Both sides are libraries with the same function type, on the same data. Each
//! allocates its result. Before they are timed, the result of NOVA is compared with that of the C.
//!
//! [`table`] has the applications with their sizes. [`data`] draws their inputs. [`compare`] compares values.
//! [`run`] builds and times both sides. [`report`] writes the results. [`inputs`] writes the data as files.

pub mod compare;
pub mod data;
pub mod inputs;
pub mod report;
pub mod run;
pub mod table;

pub use run::{Found, Plan};
pub use table::{APPLICATIONS, Application};
