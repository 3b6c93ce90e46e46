//! The pass list, the options, and the library interface of the compiler.
