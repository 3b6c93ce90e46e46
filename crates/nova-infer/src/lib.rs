//! From the syntax tree to Core: scopes, type inference, monomorphisation.
