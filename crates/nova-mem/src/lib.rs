//! Mem: Flat with memory blocks; introduction of memory, verifier, heap interpreter.
