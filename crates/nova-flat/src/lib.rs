//! Flat: the first-order array IR, its printer, parser, verifier and interpreter.
