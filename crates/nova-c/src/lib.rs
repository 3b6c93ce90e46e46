//! From Loop to C: the C syntax tree, its printer, and the dialects.
