//! Inference and what Core it gives, from sources.

mod check;
mod common;
mod growth;
mod language;
mod paper;
mod recovery;
