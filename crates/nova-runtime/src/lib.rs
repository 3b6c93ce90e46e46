//! The files of runtime-c, embedded.
