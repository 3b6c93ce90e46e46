//! Tests of inference and of the Core it produces, from sources.

mod check;
mod common;
mod growth;
mod language;
mod paper;
mod recovery;
mod recursive;
