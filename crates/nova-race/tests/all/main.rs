//! Tests of the checker of races.

mod races;
