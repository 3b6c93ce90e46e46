//! Passes from Flat to Flat.
