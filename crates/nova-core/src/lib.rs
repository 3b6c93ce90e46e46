//! Core: the typed lambda calculus, its built-ins, values and reference interpreter.
